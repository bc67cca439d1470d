//! The sections `[bell]` and `[notifications]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::bell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bell {
    /// Mark the tab in which the bell rings.
    pub mark: bool,
    /// Ask the desktop to highlight the window if it is not focused.
    pub attention: bool,
    /// Flash the pane.
    pub visual: bool,
    /// Play the system's alert sound.
    pub audible: bool,
    /// Program and arguments that replace the alert sound, such as `["paplay", "bell.oga"]`. It runs at most five times a second.
    pub command: Vec<String>,
}

impl Default for Bell {
    fn default() -> Self {
        Self { mark: true, attention: true, visual: false, audible: false, command: Vec::new() }
    }
}

/// See [`super::Config::notifications`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Notifications {
    /// Show the notifications that programs send (OSC 9, 99 and 777).
    pub programs: bool,
    /// Notify when a command that took at least this many seconds finishes in a pane that is not in view. 0 turns this off. Needs shell integration (OSC 133).
    #[schemars(range(min = 0, max = 86_400))]
    pub long_commands: u32,
    /// Show notifications on the desktop. If this is off, or the desktop has no notification service, they appear in the window.
    pub desktop: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { programs: true, long_commands: 10, desktop: true }
    }
}
