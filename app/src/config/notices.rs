//! The sections `[bell]` and `[notifications]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::bell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bell {
    /// Mark the tab.
    pub mark: bool,
    /// Ask the desktop to draw attention to the window when it has no focus.
    pub attention: bool,
    /// Flash the pane.
    pub visual: bool,
    /// Ring the system's bell.
    pub audible: bool,
    /// A program and its arguments to ring with instead, such as `["paplay", "bell.oga"]`; at most five times a second.
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
    /// Show what programs ask for (OSC 9, 99 and 777).
    pub programs: bool,
    /// Tell of the end of a command that took this many seconds or more, in a pane nobody looks at; 0: never. The shell has to say when commands begin and end (OSC 133).
    #[schemars(range(min = 0, max = 86_400))]
    pub long_commands: u32,
    /// Show them on the desktop; otherwise, and where it has no service for it, as messages in the window.
    pub desktop: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { programs: true, long_commands: 10, desktop: true }
    }
}
