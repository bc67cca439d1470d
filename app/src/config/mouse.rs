//! The sections `[mouse]` and `[paste]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::mouse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mouse {
    /// Lines that one notch of the wheel scrolls.
    #[schemars(range(min = 1, max = 50))]
    pub scroll_lines: u16,
    /// What the wheel and a touch pad scroll is multiplied by.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub scroll_multiplier: f32,
    /// Where a finished selection goes by itself.
    pub copy_on_select: CopyOnSelect,
    /// Leave blanks at the ends of lines out of what is copied.
    pub trim_copied: bool,
    /// What the right button does.
    pub right_button: RightButton,
    /// Hide the pointer while typing.
    pub hide_while_typing: bool,
    /// The pane under the pointer gets the keyboard, without a click.
    pub focus_follows_mouse: bool,
}

impl Default for Mouse {
    fn default() -> Self {
        Self {
            scroll_lines: 3,
            scroll_multiplier: 1.0,
            copy_on_select: CopyOnSelect::default(),
            trim_copied: true,
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
    /// Nowhere.
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
    /// Copies the selection; without one it pastes.
    #[default]
    CopyOrPaste,
    /// Pastes.
    Paste,
    /// Extends the selection to the pointer.
    Extend,
    /// Nothing.
    None,
}

/// See [`super::Config::paste`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Paste {
    /// When a question comes before a paste. Control characters are left out of every paste.
    pub confirm: ConfirmPaste,
}

/// See [`Paste::confirm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmPaste {
    /// Never.
    Never,
    /// Where it could do harm: a line end or a control character for a program that did not ask for bracketed pastes, or text that tries to end the bracket.
    #[default]
    Unsafe,
    /// For every text with a line end or a control character.
    Always,
}
