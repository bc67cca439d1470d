//! What a manifest lets a plugin and its callers do.

use serde::{Deserialize, Serialize};

/// What a plugin may do. The host asks for some of them per method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// Start a program.
    #[serde(rename = "session.spawn")]
    SessionSpawn,
    /// End it or send it a signal.
    #[serde(rename = "session.kill")]
    SessionKill,
    /// Change the size of its terminal.
    #[serde(rename = "session.resize")]
    SessionResize,
    /// Read its screen.
    #[serde(rename = "screen.read")]
    ScreenRead,
    /// Read what it printed.
    #[serde(rename = "transcript.read")]
    TranscriptRead,
    /// Type into it.
    #[serde(rename = "input.write")]
    InputWrite,
    /// Wait for a condition.
    #[serde(rename = "matcher.wait")]
    MatcherWait,
}

impl Permission {
    /// Every permission, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::SessionSpawn,
        Self::SessionKill,
        Self::SessionResize,
        Self::ScreenRead,
        Self::TranscriptRead,
        Self::InputWrite,
        Self::MatcherWait,
    ];

    /// The permission's name in a manifest.
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
