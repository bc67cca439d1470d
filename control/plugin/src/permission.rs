//! The permissions of a plugin and its callers.

use serde::{Deserialize, Serialize};

/// A permission of a plugin. Some methods of the host require a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// Start a program.
    #[serde(rename = "session.spawn")]
    SessionSpawn,
    /// End the program, or send it a signal.
    #[serde(rename = "session.kill")]
    SessionKill,
    /// Change the size of the program's terminal.
    #[serde(rename = "session.resize")]
    SessionResize,
    /// Read the program's screen.
    #[serde(rename = "screen.read")]
    ScreenRead,
    /// Read the program's output.
    #[serde(rename = "transcript.read")]
    TranscriptRead,
    /// Type into the program.
    #[serde(rename = "input.write")]
    InputWrite,
    /// Wait for a condition.
    #[serde(rename = "matcher.wait")]
    MatcherWait,
}

impl Permission {
    /// All permissions, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::SessionSpawn,
        Self::SessionKill,
        Self::SessionResize,
        Self::ScreenRead,
        Self::TranscriptRead,
        Self::InputWrite,
        Self::MatcherWait,
    ];

    /// The name of the permission in a manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionSpawn => "session.spawn",
            Self::SessionKill => "session.kill",
            Self::SessionResize => "session.resize",
            Self::ScreenRead => "screen.read",
            Self::TranscriptRead => "transcript.read",
            Self::InputWrite => "input.write",
            Self::MatcherWait => "matcher.wait",
        }
    }
}
