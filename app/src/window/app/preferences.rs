//! Applies changed preferences to the window.

use std::{collections::HashMap, ops::Bound, sync::Arc};

use unterm_term::Palette;

use crate::window::{
    app::App,
    effect::Effect,
    errand::ErrandResult,
    prefs::{SHELL, fonts},
    surface::{screen::Screen, wayland, x_server},
    system::appearance::reported::{ReportedSettings, Source},
    ui::wrap::first_of,
    workspace::view::View,
};
use crate::{
    config::{
        Change, Config, ThemeChoice, edit,
        keys::{Keymap, MouseMap},
        missing_messages, theme,
    },
    copy_command::CopyKeys,
    environment, proxy,
};

/// The `about` key of messages about the configuration file.
const ABOUT: &str = "config";
/// The `about` key of messages about fonts.
const FONTS: &str = "fonts";

impl App {
    /// Applies a changed configuration file, or shows its errors.
    pub(crate) fn settings_changed(&mut self, change: Change) {
        match change {
            Ok(config) => {
                let was_wrong = self.overlays.toasts.settle(ABOUT);
                let changed = *config != *self.prefs.config;
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

    /// Shows the errors in the configuration file. `instead` describes the settings that apply instead.
    pub(crate) fn complain_of_settings(&mut self, complaints: &[String], instead: &str) {
        for complaint in complaints {
            tracing::warn!("{complaint}");
        }
        let shown = first_of(complaints, 2).join("\n");
        let press = self.prefs.press("open_config", "opens it");
        self.complain(ABOUT, format!("Configuration error – {instead}\n{shown}{press}"));
    }

    /// Applies a configuration.
    fn prefer(&mut self, config: Arc<Config>) {
        let before = std::mem::replace(&mut self.prefs.config, config);
        self.prefs.keymap = Keymap::new(&self.prefs.config.keys);
        self.prefs.mouse_map = MouseMap::new(&self.prefs.config.mouse_bindings);
        self.prefs.copy_keys = CopyKeys::new(&self.prefs.config.copy_mode_keys);
        if let Some(server) = &self.server {
            server.set_approval(self.prefs.args.approval(&self.prefs.config));
        }
        self.apply_theme();
        if before.cursor != self.prefs.config.cursor {
            self.workspace.views.values_mut().for_each(View::copy_anew);
        }
        self.surface.renderer.set_text(self.prefs.config.text.options());
        if before.font != self.prefs.config.font {
            let mut fonts = fonts(&self.prefs.config, &self.prefs.args);
            fonts.scale = self.prefs.fonts.scale;
            if before.font.size == self.prefs.config.font.size {
                fonts.size = self.prefs.fonts.size;
            }
            self.prefs.fonts = fonts;
            self.apply_fonts();
            self.warn_of_missing_fonts();
        }
        if let Some(geometry) = &mut self.surface.geometry {
            geometry.padding = self.prefs.config.window.padding;
            geometry.tabs_at = self.prefs.tabs_at();
        }
        let blurs = self.prefs.config.window.blur;
        if before.window.blur != blurs && self.surface.is_transparent {
            self.effect(Effect::Blur(blurs));
        }
        if before.window.opacity != self.prefs.config.window.opacity && !self.surface.is_transparent
        {
            self.explain_opacity();
        }
        self.follow_desktop();
        self.arrange();
        self.surface.redraw_whole();
    }

    /// Shows a message that explains why the window stays opaque.
    fn explain_opacity(&mut self) {
        let Some(screen) = &self.surface.screen else { return };
        if wayland::is_opaque(&screen.window, screen.painter.kind()) {
            return self.notify("opacity", wayland::OPAQUE.to_owned());
        }
        let is_x11 = x_server::id(&screen.window).is_some();
        self.errand("opacity", move || {
            let why = match is_x11 && !x_server::has_compositor() {
                true => x_server::NO_COMPOSITOR,
                false => "Opacity applies to new windows.",
            };
            ErrandResult::Said("opacity", why.to_owned())
        });
    }

    /// Shows a message that lists the configured fonts that are not installed.
    pub(crate) fn warn_of_missing_fonts(&mut self) {
        let missing = self.surface.renderer.missing_families();
        if missing.is_empty() {
            self.overlays.toasts.settle(FONTS);
            return;
        }
        let lines = missing_messages(missing, &self.surface.renderer.families());
        self.complain(FONTS, lines.join("\n"));
    }

    /// Applies a palette to every pane. Returns an error if the configured shell can't be started.
    pub(crate) fn apply_palette(&mut self, palette: Arc<Palette>) -> Option<String> {
        self.prefs.palette = palette;
        let home = self.prefs.settings.home();
        let complaint =
            environment::apply(&self.mux, &self.prefs.config, home, &self.prefs.palette);
        for pane in self.workspace.profiles.keys().copied().collect::<Vec<_>>() {
            self.workspace.apply_profile(pane, &self.prefs, &self.mux);
        }
        // A program's repaint for new colors does not count as unseen output.
        let now = self.now;
        self.workspace.views.values_mut().for_each(|view| view.repainted = Some(now));
        complaint
    }

    /// Applies the theme's colors to every pane.
    pub(crate) fn apply_theme(&mut self) {
        let is_light = self.is_light();
        self.system.appearance.set_theme_light(is_light == Some(true));
        let palette =
            environment::palette(&self.prefs.config, self.prefs.settings.home(), is_light);
        match self.apply_palette(palette) {
            Some(complaint) => self.complain(SHELL, complaint),
            None => {
                self.overlays.toasts.settle(SHELL);
            }
        }
        self.effect(Effect::FrameTheme(self.prefs.frame_theme()));
    }

    /// Writes the theme's name to the configuration file. The file watchers then apply the theme in all windows.
    pub(crate) fn set_theme(&mut self, name: &str) {
        let home = self.prefs.settings.home().to_owned();
        let key: &[&str] = match (&self.prefs.config.theme, self.is_light()) {
            (ThemeChoice::One(_), _) => &["theme"],
            (_, Some(true)) => &["theme", "light"],
            _ => &["theme", "dark"],
        };
        if let Err(error) = edit::set(&home, key, name.into()) {
            self.complain("theme", format!("Can't set the theme.\n{error:#}"));
            self.apply_theme();
        }
    }

    /// Handles a change of the proxy: applies it to programs that start from now on. This takes time, so it runs on a
    /// thread.
    pub(crate) fn proxy_changed(&mut self, enabled: bool) {
        self.prefs.has_proxy = enabled;
        let (mux, home) = (self.mux.clone(), self.prefs.settings.home().to_owned());
        let apply = move || unterm_control::apply_proxy(&mux, &home);
        if let Err(error) = std::thread::Builder::new().name("proxy".to_owned()).spawn(apply) {
            tracing::warn!(%error, "can't apply the proxy to programs");
        }
    }

    /// Turns the proxy on or off in its file. The watcher of the file then updates the bar.
    pub(crate) fn toggle_proxy(&mut self) {
        let home = self.prefs.settings.home().to_owned();
        self.errand("proxy", move || match proxy::toggle(&home) {
            Ok(true) => ErrandResult::Said(
                "proxy",
                "Proxy on, for programs started from now on.".to_owned(),
            ),
            Ok(false) => ErrandResult::Said(
                "proxy",
                "Proxy off, for programs started from now on.".to_owned(),
            ),
            Err(error) => ErrandResult::Failed("proxy", format!("{error:#}")),
        });
    }

    /// Switches to the next theme.
    pub(crate) fn next_theme(&mut self) {
        let home = self.prefs.settings.home();
        let names = theme::names(home);
        let current = theme::listed(self.prefs.config.theme.pick(self.is_light()), home);
        // The next theme in the order of names. After the last theme follows the first.
        let next =
            names.range::<str, _>((Bound::Excluded(current.as_str()), Bound::Unbounded)).next();
        if let Some(next) = next.or_else(|| names.first()) {
            self.set_theme(next);
        }
    }

    /// Whether the desktop's theme is light; `None` if unknown.
    pub(crate) fn is_light(&self) -> Option<bool> {
        let theme = self.surface.screen.as_ref().and_then(Screen::system_theme);
        self.system.appearance.is_light(theme, self.workspace.last.as_ref())
    }

    /// Starts to follow the desktop's settings, if any setting of the user depends on them.
    pub(crate) fn follow_desktop(&mut self) {
        let is_on_x = |screen: &Screen| x_server::id(&screen.window).is_some();
        let is_on_x = self.surface.screen.as_ref().is_some_and(is_on_x);
        self.system.appearance.follow_desktop(&self.prefs, is_on_x, &self.inbox);
    }

    /// Applies new reports of the desktop.
    pub(crate) fn desktop_reported(&mut self, reports: HashMap<Source, ReportedSettings>) {
        let was_light = self.is_light();
        self.system.appearance.receive(reports);
        self.follow_desktop();
        if self.is_light() != was_light {
            self.apply_theme();
        }
    }
}
