//! The preferences in force, and values derived from them: keys, fonts and colors.
//!
//! Owns these values. Never reads the configuration file (`crate::config` reads it), and never applies a change
//! (`app/preferences.rs` applies changes).

use std::sync::Arc;

use unterm_mux::input::{self, Key, Modifiers};
use unterm_renderer::{FontOptions, Renderer};
use unterm_term::{CursorShape as TermShape, Palette};
use winit::window::Theme as SystemTheme;

use crate::window::{
    input::keys::Pressed,
    ui::{colors::KnownColors, geometry::TabsAt},
};
use crate::{
    action::{Action, Chord},
    args::Args,
    config::{
        BarPosition, Config, Cursor, CursorShape, OpenBy, Settings, ShowTabBar, TabBar,
        WindowStart,
        keys::{self, KeyMatch, Keymap, MouseMap},
        theme,
    },
    copy_command::CopyKeys,
};

/// The `about` key of messages about a configured shell that fails to start.
pub(crate) const SHELL: &str = "configured shell";

/// The fonts for the panes' text. Options of the command line override the configuration file.
pub(crate) fn fonts(config: &Config, args: &Args) -> FontOptions {
    let mut fonts = config.font.options();
    if !args.font.is_empty() {
        fonts.families.clone_from(&args.font);
    }
    fonts.size = args.font_size.unwrap_or(fonts.size);
    fonts
}

/// Creates a renderer with these fonts and the configured text options.
pub(crate) fn renderer(config: &Config, fonts: &FontOptions) -> Renderer {
    let mut renderer = Renderer::new(fonts.clone());
    renderer.set_text(config.text.options());
    renderer
}

/// The cursor's shape for programs that set none, and whether this cursor blinks.
pub(crate) fn default_cursor(cursor: &Cursor) -> (TermShape, bool) {
    let shape = match cursor.shape {
        CursorShape::Block => TermShape::Block,
        CursorShape::Bar => TermShape::Bar,
        CursorShape::Underline => TermShape::Underline,
    };
    (shape, cursor.blink)
}

/// The preferences in force.
pub(crate) struct Prefs {
    pub(crate) args: Args,
    pub(crate) settings: Arc<Settings>,
    pub(crate) config: Arc<Config>,
    pub(crate) keymap: Keymap,
    pub(crate) mouse_map: MouseMap,
    pub(crate) copy_keys: CopyKeys,
    /// The theme's colors.
    pub(crate) palette: Arc<Palette>,
    pub(crate) colors: KnownColors,
    pub(crate) fonts: FontOptions,
    /// Whether new programs use a proxy.
    pub(crate) has_proxy: bool,
}

impl Prefs {
    /// The action that a single key is bound to, without a key sequence. See [`Self::found`].
    pub(crate) fn bound(&self, pressed: Pressed, modifiers: Modifiers) -> Option<Action> {
        match self.found(&[], pressed, modifiers)?.1 {
            KeyMatch::Actions([action]) => Some(action.clone()),
            _ => None,
        }
    }

    /// Looks up a key that follows the keys `before`. The key is looked up by the character that it types, then by the
    /// character that it would type without Shift.
    pub(crate) fn found(
        &self,
        before: &[Chord],
        pressed: Pressed,
        modifiers: Modifiers,
    ) -> Option<(Chord, KeyMatch<'_>)> {
        let by_key = match pressed.key.off_keypad() {
            Key::Char(c) => Key::Char(c.to_ascii_lowercase()),
            key => key,
        };
        let latin = input::latin(pressed.unshifted, pressed.base);
        let unshifted = latin.map(|c| Key::Char(c.to_ascii_lowercase()));
        [Some(by_key), unshifted.filter(|key| *key != by_key)]
            .into_iter()
            .flatten()
            .map(|key| Chord { modifiers, key })
            .find_map(|chord| Some((chord, self.keymap.find(before, chord)?)))
    }

    /// The preferred font size: from the command line if it is set there, otherwise from the configuration file.
    pub(crate) fn configured_font_size(&self) -> f32 {
        self.args.font_size.unwrap_or(self.config.font.size)
    }

    /// The theme of the window's frame. Unterm draws this frame on Wayland, if the compositor draws none.
    pub(crate) fn frame_theme(&self) -> SystemTheme {
        if theme::is_light(&self.palette) { SystemTheme::Light } else { SystemTheme::Dark }
    }

    /// Whether the window starts maximized.
    pub(crate) fn starts_maximized(&self) -> bool {
        self.args.maximized || self.config.window.start == WindowStart::Maximized
    }

    /// Whether a plain click opens links.
    pub(crate) fn opens_by_click(&self) -> bool {
        self.config.links.open_by == OpenBy::Click
    }

    /// A line with the keys of an action, such as `Ctrl+, opens it.`; empty if no key is bound to the action.
    pub(crate) fn press(&self, action: &str, does: &str) -> String {
        match keys::find(action).map(|entry| self.keymap.keys_of(entry)) {
            Ok(keys) if !keys.is_empty() => format!("\n{keys} {does}."),
            _ => String::new(),
        }
    }

    /// The configured place of the tabs.
    pub(crate) fn tabs_at(&self) -> TabsAt {
        let TabBar { position, sidebar_width, sidebar_folded, .. } = self.config.tab_bar;
        match position {
            BarPosition::Top => TabsAt::Top,
            BarPosition::Bottom => TabsAt::Foot,
            BarPosition::Left => TabsAt::Left { columns: sidebar_width, is_folded: sidebar_folded },
        }
    }

    /// Whether a window with this many tabs shows them, in the tab bar or in the sidebar.
    pub(crate) fn wants_tab_bar(&self, tabs: usize) -> bool {
        match self.config.tab_bar.show {
            ShowTabBar::Always => true,
            ShowTabBar::Several => tabs > 1,
            ShowTabBar::Never => false,
        }
    }
}
