//! The messages between the inbox panel and the app: the panel's requests, and their results.

use unterm_control::methods::inbox::{AnswerReply, ShowReply};

use crate::inboxes::{Change, Listed};

/// An answer to a program's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Approve,
    Deny,
    /// The number of a choice, counted from 1.
    Choice(u64),
    Text(String),
}

/// A request of the panel to the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InboxRequest {
    /// Read the question of an entry.
    Show(Listed),
    /// Answer the question of a program, if its dialog still has this fingerprint.
    Answer { listed: Listed, dialog: String, reply: Reply },
    /// Give an agent's question of this number an answer.
    AnswerAgent { listed: Listed, number: u64, answer: String },
    /// Remove the entry until its question changes.
    Dismiss(Listed),
    /// Remove the entry for a time.
    Snooze(Listed),
    /// Show the entry's pane, and its window.
    Go(Listed),
}

/// Reports of other threads about the inboxes.
#[derive(Debug)]
pub(crate) enum InboxNews {
    /// The inbox of an instance has changed.
    Changed(Change),
    /// The question of an entry, or why it can't be shown.
    Shown(Listed, Result<Box<ShowReply>, String>),
    /// Whether an answer to an entry was typed, or why it was refused.
    Answered(Listed, Result<Box<AnswerReply>, String>),
    /// A request failed, for this reason.
    Failed(String),
    /// The entries of all instances, to find the next entry to show.
    Next(Vec<Listed>),
}
