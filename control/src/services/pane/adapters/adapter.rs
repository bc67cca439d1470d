//! A watched pane: the plugin that reads its screen, the tokens that hold the adapter, and the state that the screen
//! showed last.

use tokio::sync::watch;
use unterm_mux::PaneId;
use unterm_plugin::Explanation;

use super::program::Program;
use crate::{caller::TokenKind, error::Error};

/// A pane that a plugin watches.
pub struct Adapter {
    /// The pane.
    pub pane: PaneId,
    /// The plugin's name.
    pub plugin: String,
    /// The program that the plugin watches. When it ends, the adapter ends, too.
    pub program: Program,
    /// The tokens for which the pane is watched. If the list becomes empty, the adapter ends.
    pub holders: watch::Sender<Vec<TokenKind>>,
    /// The adapter's progress. Tasks that wait for the adapter subscribe to it.
    pub progress: watch::Sender<Progress>,
}

/// The progress of an adapter.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The plugin has not read a screen yet.
    Starting,
    /// The state that the plugin read last.
    Read(Reading),
    /// The pane is no longer watched.
    Ended(End),
}

/// A state that a plugin read from a screen. Programs choose what a screen shows, so this is a claim and not a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The state's name: from the plugin's vocabulary, or a name that the host adds.
    pub state: String,
    /// When the program was first seen in this state (RFC 3339, UTC).
    pub since: String,
    /// The confidence of the plugin in the state, from 0 to 1.
    pub confidence: f64,
    /// The text on the screen that identified the state.
    pub evidence: String,
    /// The plugin's rule that decided, and the text that it matched.
    pub explain: Option<Explanation>,
    /// The pane's `seq` when the screen was read.
    pub seq: u64,
}

/// Why a pane is no longer watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// No token holds the adapter any longer.
    Detached,
    /// The program that the plugin watched has ended.
    Program,
    /// The program that the pane was opened with has ended, or the pane was closed.
    Session,
    /// The plugin can't run. Contains the reason.
    Failed(String),
}

impl End {
    /// The reason's name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Detached => "detached",
            Self::Program => "program_ended",
            Self::Session => "session_ended",
            Self::Failed(_) => "plugin_failed",
        }
    }
}

impl Adapter {
    /// The error for a caller that waits for an adapter that has ended.
    pub fn ended(&self, end: &End) -> Error {
        let (plugin, id) = (&self.plugin, self.pane.0);
        Error::Failed(match end {
            End::Detached => format!("The plugin {plugin} was detached from session {id}"),
            End::Program => format!("The program that {plugin} watched in session {id} has ended"),
            End::Session => format!("The program of session {id} has ended"),
            End::Failed(why) => format!("The plugin {plugin} can't watch session {id}: {why}"),
        })
    }

    /// The state that the plugin read last. `None` if the plugin has not read a state yet, or if the adapter has ended.
    pub fn reading(&self) -> Option<Reading> {
        match &*self.progress.borrow() {
            Progress::Read(reading) => Some(reading.clone()),
            Progress::Starting | Progress::Ended(_) => None,
        }
    }
}
