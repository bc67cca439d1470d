//! Messages of programs to the user: notifications and progress.

use std::sync::Arc;

/// The importance of a notification (OSC 99 `u`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// Value 0.
    Low,
    /// Value 1, the default.
    #[default]
    Normal,
    /// Value 2.
    Critical,
}

/// When to show a notification (OSC 99 `o`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    /// Always.
    #[default]
    Always,
    /// Only while the terminal's window does not have the keyboard focus.
    Unfocused,
    /// Only while the terminal's window has no focus and is not visible.
    Invisible,
}

/// A notification (OSC 9, 99, 777). Its texts contain no control characters. Title and body are at most 4 KiB long, the
/// other texts 256 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notification {
    /// Identifies the notification in [`crate::Term::activate_notification`] and [`crate::Term::close_notification`]. A
    /// notification with the handle of an earlier one replaces it.
    pub handle: u64,
    /// The title. If the program sent only a body, the title contains that body.
    pub title: String,
    /// The body, possibly empty.
    pub body: String,
    /// The name that the program gives itself. It is not verified.
    pub app: Option<String>,
    /// The kinds to which the notification belongs, at most 8.
    pub kinds: Vec<String>,
    /// The names of icons, at most 8. The first icon that exists is shown.
    pub icons: Vec<String>,
    /// An icon file as the program sent it, at most 256 KiB. It should be PNG, JPEG or GIF, but is not validated.
    pub icon_data: Option<Arc<[u8]>>,
    /// The name of a sound. `silent` means no sound.
    pub sound: Option<String>,
    /// Button labels, at most 8.
    pub buttons: Vec<String>,
    /// The importance.
    pub urgency: Urgency,
    /// When to show the notification.
    pub occasion: Occasion,
    /// Whether a click raises the window.
    pub focus: bool,
    /// The time in milliseconds after which the notification closes. 0 means never. `None` means the default.
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
