//! What programs tell people: notifications and progress, as the window and the wires get them.

use std::sync::Arc;

/// How much a notification matters (OSC 99 `u`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// 0.
    Low,
    /// 1, and where nothing is said.
    #[default]
    Normal,
    /// 2.
    Critical,
}

/// When a notification is to be shown (OSC 99 `o`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    /// Always.
    #[default]
    Always,
    /// When its window does not have the keyboard.
    Unfocused,
    /// When it can't be seen either.
    Invisible,
}

/// A notification (OSC 9, 99, 777). Its texts have no control characters; title and body are at most 4 KiB, the others
/// 256 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notification {
    /// Names it in [`crate::Term::activate_notification`] and [`crate::Term::close_notification`]; the same as that of one
    /// shown before: that one is replaced.
    pub handle: u64,
    /// The title; a notification without one has its body here.
    pub title: String,
    /// The body, possibly empty.
    pub body: String,
    /// The program's name for itself, as it says.
    pub app: Option<String>,
    /// Kinds it belongs to, at most 8.
    pub kinds: Vec<String>,
    /// Names of icons, the first that exists counts, at most 8.
    pub icons: Vec<String>,
    /// An icon's file, as it was sent: to be PNG, JPEG or GIF, and nobody has looked at it. At most 256 KiB.
    pub icon_data: Option<Arc<[u8]>>,
    /// The name of a sound; `silent` for none.
    pub sound: Option<String>,
    /// Labels of buttons, at most 8.
    pub buttons: Vec<String>,
    /// How much it matters.
    pub urgency: Urgency,
    /// When to show it.
    pub occasion: Occasion,
    /// A click brings the window to the front.
    pub focus: bool,
    /// Milliseconds after which it goes, 0 never; `None`: as is usual.
    pub expires: Option<u32>,
}

/// What a program says of its progress (ConEmu's OSC 9;4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Nothing, or no more.
    #[default]
    None,
    /// So many percent are done.
    Percent(u8),
    /// It failed, if it is known at so many percent.
    Error(Option<u8>),
    /// It goes on, nobody knows for how long.
    Indeterminate,
    /// It waits, if it is known at so many percent.
    Paused(Option<u8>),
}
