//! Applies the preferences to the window, at startup and each time the file changes.

use std::{sync::Arc, time::Instant};

use unterm_renderer::{FontOptions, Renderer};
use unterm_term::{CursorShape as TermShape, Palette};
use winit::window::Theme as SystemTheme;

use super::{App, errand::Done, toast::first_of, view::View, wayland, x_server};
use crate::{
    args::Args,
    config::{
        BarPosition, Change, Config, Cursor, CursorShape, ShowTabBar, keys, keys::Keymap, theme,
    },
    copy_command::CopyKeys,
    environment,
    suggestion::did_you_mean,
};

/// The `about` key of messages about the file.
const ABOUT: &str = "config";
/// The `about` key of messages about a configured shell that can't be started.
pub(super) const SHELL: &str = "configured shell";
/// The `about` key of messages about fonts.
const FONTS: &str = "fonts";

impl App {
    /// Applies a changed file, or reports its errors.
    pub(super) fn settings_changed(&mut self, change: Change) {
        match change {
            Ok(config) => {
                let was_wrong = self.settle(ABOUT);
                let changed = *config != *self.config;
                self.prefer(config);
                if changed || was_wrong {
                    self.notify(ABOUT, "Configuration applied.".to_owned());
                }
            }
            Err(complaints) => {
                self.complain_of_settings(&complaints, "keeping the previous settings");
            }
        }
    }

    /// A line with the keys of an action, such as `Ctrl+, opens it.`; empty if no key is bound.
    pub(super) fn press(&self, action: &str, does: &str) -> String {
        match keys::find(action).map(|entry| self.keymap.keys_of(entry)) {
            Ok(keys) if !keys.is_empty() => format!("\n{keys} {does}."),
            _ => String::new(),
        }
    }

    /// Shows the errors in the file, and which settings apply instead.
    pub(super) fn complain_of_settings(&mut self, complaints: &[String], instead: &str) {
        for complaint in complaints {
            tracing::warn!("{complaint}");
        }
        let shown = first_of(complaints, 2).join("\n");
        let press = self.press("open_config", "opens it");
        self.complain(ABOUT, format!("Configuration error – {instead}\n{shown}{press}"));
    }

    /// Applies a configuration.
    fn prefer(&mut self, config: Arc<Config>) {
        let before = std::mem::replace(&mut self.config, config);
        self.keymap = Keymap::new(&self.config.keys);
        self.copy_keys = CopyKeys::new(&self.config.copy_mode_keys);
        if let Some(server) = &self.server {
            server.set_approval(self.args.approval(&self.config));
        }
        self.apply_theme();
        if before.cursor != self.config.cursor {
            self.views.values_mut().for_each(View::copy_anew);
        }
        self.renderer.set_text(self.config.text.options());
        if before.font != self.config.font {
            let mut fonts = fonts(&self.config, &self.args);
            fonts.scale = self.fonts.scale;
            if before.font.size == self.config.font.size {
                fonts.size = self.fonts.size;
            }
            self.fonts = fonts;
            self.apply_fonts();
            self.tell_missing_fonts();
        }
        if let Some(screen) = &mut self.screen {
            screen.geometry.padding = self.config.window.padding;
            screen.geometry.tab_bar_at_foot = self.config.tab_bar.position == BarPosition::Bottom;
        }
        if before.window.blur != self.config.window.blur
            && let Some(screen) = &self.screen
        {
            self.apply_blur(&screen.window);
        }
        if before.window.opacity != self.config.window.opacity && !self.is_transparent {
            self.tell_why_opaque();
        }
        self.hear_desktop();
        self.arrange();
        self.redraw_whole();
    }

    /// Shows why the window stays opaque.
    fn tell_why_opaque(&mut self) {
        let Some(screen) = &self.screen else { return };
        if wayland::is_opaque(&screen.window, screen.painter.kind()) {
            return self.notify("opacity", wayland::OPAQUE.to_owned());
        }
        let is_x11 = x_server::id(&screen.window).is_some();
        self.errand("opacity", move || {
            let why = match is_x11 && !x_server::has_compositor() {
                true => x_server::NO_COMPOSITOR,
                false => "Opacity applies to new windows.",
            };
            Done::Said("opacity", why.to_owned())
        });
    }

    /// Shows which configured fonts are not installed.
    pub(super) fn tell_missing_fonts(&mut self) {
        let missing = self.renderer.missing_families();
        if missing.is_empty() {
            self.settle(FONTS);
            return;
        }
        let families = self.renderer.families();
        let names: Vec<&str> = families.iter().map(String::as_str).collect();
        let lines: Vec<String> = missing
            .iter()
            .map(|family| {
                let near = did_you_mean(family, names.iter().copied());
                let end = if near.is_empty() { "." } else { &*near };
                format!("The font {family:?} is not installed; a fallback is used{end}")
            })
            .collect();
        self.complain(FONTS, lines.join("\n"));
    }

    /// Applies a palette to every pane; returns the error of the configured shell, if there is one.
    pub(super) fn apply_palette(&mut self, palette: Arc<Palette>) -> Option<String> {
        self.palette = palette;
        let home = self.settings.home();
        let complaint = environment::apply(&self.mux, &self.config, home, &self.palette);
        // A repaint for new colours does not count as unseen output.
        let now = Instant::now();
        self.views.values_mut().for_each(|view| view.repainted = Some(now));
        complaint
    }

    /// Applies the theme's colours to every pane.
    pub(super) fn apply_theme(&mut self) {
        let palette = environment::palette(&self.config, self.settings.home(), self.is_light());
        match self.apply_palette(palette) {
            Some(complaint) => self.complain(SHELL, complaint),
            None => {
                self.settle(SHELL);
            }
        }
        if let Some(screen) = self.screen.as_ref().filter(|screen| wayland::shows(&screen.window)) {
            screen.window.set_theme(Some(self.frame_theme()));
            screen.window.request_redraw();
        }
        self.pacing.ask();
    }

    /// The theme of the frame that Unterm draws around the window on Wayland if the compositor draws none.
    pub(super) fn frame_theme(&self) -> SystemTheme {
        if theme::is_light(&self.palette) { SystemTheme::Light } else { SystemTheme::Dark }
    }

    /// The preferred font size: of the command line, else of the file.
    pub(super) fn configured_font_size(&self) -> f32 {
        self.args.font_size.unwrap_or(self.config.font.size)
    }

    /// Whether a window with this many tabs shows the tab bar.
    pub(super) fn wants_tab_bar(&self, tabs: usize) -> bool {
        match self.config.tab_bar.show {
            ShowTabBar::Always => true,
            ShowTabBar::Several => tabs > 1,
            ShowTabBar::Never => false,
        }
    }
}

/// The cells' fonts; the command line overrides the file.
pub(super) fn fonts(config: &Config, args: &Args) -> FontOptions {
    let mut fonts = config.font.options();
    if !args.font.is_empty() {
        fonts.families.clone_from(&args.font);
    }
    fonts.size = args.font_size.unwrap_or(fonts.size);
    fonts
}

/// A renderer with these fonts.
pub(super) fn renderer(config: &Config, fonts: &FontOptions) -> Renderer {
    let mut renderer = Renderer::new(fonts.clone());
    renderer.set_text(config.text.options());
    renderer
}

/// The cursor's shape for programs that set none, and whether it blinks.
pub(super) fn default_cursor(cursor: &Cursor) -> (TermShape, bool) {
    let shape = match cursor.shape {
        CursorShape::Block => TermShape::Block,
        CursorShape::Bar => TermShape::Bar,
        CursorShape::Underline => TermShape::Underline,
    };
    (shape, cursor.blink)
}
