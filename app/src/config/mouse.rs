//! The sections `[mouse]` and `[paste]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_term::WORD_SEPARATORS;

/// See [`super::Config::mouse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mouse {
    /// Lines to scroll for each step of the wheel.
    #[schemars(range(min = 1, max = 50))]
    pub scroll_lines: u16,
    /// Factor for the distance that wheel and touchpad scroll.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub scroll_multiplier: f32,
    /// Where to copy text as soon as it is selected.
    pub copy_on_select: CopyOnSelect,
    /// Leave out spaces at line ends when copying.
    pub trim_copied: bool,
    /// Characters that separate words for a double click, in addition to spaces. The default has no colon, so that URLs and `name:line` are words.
    pub word_separators: String,
    /// What a right click does.
    pub right_button: RightButton,
    /// Hide the pointer while typing.
    pub hide_while_typing: bool,
    /// Focus the pane under the pointer without a click.
    pub focus_follows_mouse: bool,
}

impl Default for Mouse {
    fn default() -> Self {
        Self {
            scroll_lines: 3,
            scroll_multiplier: 1.0,
            copy_on_select: CopyOnSelect::default(),
            trim_copied: true,
            word_separators: WORD_SEPARATORS.to_owned(),
            right_button: RightButton::default(),
            hide_while_typing: true,
            focus_follows_mouse: false,
        }
    }
}

/// See [`Mouse::copy_on_select`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyOnSelect {
    /// Don't copy.
    Off,
    /// To the primary selection, which the middle button pastes.
    #[default]
    Primary,
    /// To the clipboard and the primary selection.
    Clipboard,
}

/// See [`Mouse::right_button`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RightButton {
    /// Open a menu.
    #[default]
    Menu,
    /// Copy the selection, or paste if nothing is selected.
    CopyOrPaste,
    /// Paste.
    Paste,
    /// Extend the selection to the pointer.
    Extend,
    /// Nothing.
    None,
}

/// See [`super::Config::paste`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Paste {
    /// When to ask before pasting. Control characters are never pasted.
    pub confirm: ConfirmPaste,
}

/// See [`Paste::confirm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmPaste {
    /// Never.
    Never,
    /// If the text could be unsafe: it has a line end or a control character and the program does not use bracketed paste, or it tries to end the bracket.
    #[default]
    Unsafe,
    /// If the text has a line end or a control character.
    Always,
}
