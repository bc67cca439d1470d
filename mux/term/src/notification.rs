//! Messages from programs to users: notifications and progress, as the window and the protocols receive them.

use std::sync::Arc;

/// The importance of a notification (OSC 99 `u`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// 0.
    Low,
    /// 1, and the default.
    #[default]
    Normal,
    /// 2.
    Critical,
}

/// When to show a notification (OSC 99 `o`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    /// Always.
    #[default]
    Always,
    /// While its window does not have the keyboard focus.
    Unfocused,
    /// While its window has no focus and is not visible.
    Invisible,
}

/// A notification (OSC 9, 99, 777). Its texts have no control characters. Title and body have at most 4 KiB, the other
/// texts 256 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notification {
    /// Identifies it in [`crate::Term::activate_notification`] and [`crate::Term::close_notification`]. A notification
    /// with the handle of an earlier one replaces it.
    pub handle: u64,
    /// The title. If the program sent only a body, it is here.
    pub title: String,
    /// The body, possibly empty.
    pub body: String,
    /// The program's name for itself, unverified.
    pub app: Option<String>,
    /// The kinds it belongs to, at most 8.
    pub kinds: Vec<String>,
    /// Icon names, at most 8; the first that exists is used.
    pub icons: Vec<String>,
    /// An icon file as sent, at most 256 KiB. It should be PNG, JPEG or GIF, but has not been validated.
    pub icon_data: Option<Arc<[u8]>>,
    /// The name of a sound; `silent` for none.
    pub sound: Option<String>,
    /// Button labels, at most 8.
    pub buttons: Vec<String>,
    /// The importance.
    pub urgency: Urgency,
    /// When to show it.
    pub occasion: Occasion,
    /// A click raises the window.
    pub focus: bool,
    /// Milliseconds until it closes, 0 for never; `None` for the default.
    pub expires: Option<u32>,
}

/// The progress that a program reports (ConEmu's OSC 9;4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// No progress.
    #[default]
    None,
    /// This percentage is done.
    Percent(u8),
    /// Failed, at this percentage if known.
    Error(Option<u8>),
    /// In progress, for an unknown time.
    Indeterminate,
    /// Paused, at this percentage if known.
    Paused(Option<u8>),
}
