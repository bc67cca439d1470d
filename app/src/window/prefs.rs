//! Applies the preferences to the window, at startup and each time the file changes.

use std::sync::Arc;

use unterm_renderer::{FontOptions, Renderer};
use unterm_term::{CursorShape as TermShape, Palette};

use crate::window::ui::colors::KnownColors;
use crate::{
    args::Args,
    config::{Config, Cursor, CursorShape, Settings, keys::Keymap},
    copy_command::CopyKeys,
};

/// The `about` key of messages about a configured shell that can't be started.
pub(crate) const SHELL: &str = "configured shell";

/// The cells' fonts; the command line overrides the file.
pub(crate) fn fonts(config: &Config, args: &Args) -> FontOptions {
    let mut fonts = config.font.options();
    if !args.font.is_empty() {
        fonts.families.clone_from(&args.font);
    }
    fonts.size = args.font_size.unwrap_or(fonts.size);
    fonts
}

/// A renderer with these fonts.
pub(crate) fn renderer(config: &Config, fonts: &FontOptions) -> Renderer {
    let mut renderer = Renderer::new(fonts.clone());
    renderer.set_text(config.text.options());
    renderer
}

/// The cursor's shape for programs that set none, and whether it blinks.
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
    /// The command-line arguments.
    pub(crate) args: Args,
    pub(crate) settings: Arc<Settings>,
    pub(crate) config: Arc<Config>,
    pub(crate) keymap: Keymap,
    pub(crate) copy_keys: CopyKeys,
    /// The theme's colours.
    pub(crate) palette: Arc<Palette>,
    pub(crate) colors: KnownColors,
    pub(crate) fonts: FontOptions,
    /// Whether programs use a proxy.
    pub(crate) has_proxy: bool,
}
