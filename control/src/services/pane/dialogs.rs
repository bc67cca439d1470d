//! Dialogs: the questions that programs ask on their screens, as far as a reader of the screen can recognize them.
//!
//! An answer must reach the dialog that the user has seen. So each dialog has a fingerprint: of every row of the
//! screen, of the cursor, of the claim that the program needs the user, and of the number of inputs that the program
//! received. An answer must contain the fingerprint. If the screen was redrawn, or if somebody else typed meanwhile,
//! the fingerprint differs. Owns the key of the fingerprints, and no state of panes.

mod choices;

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use unterm_mux::{Pane, variable_of};
use unterm_term::{Attrs, Color, Content, ScreenKind, Snapshot, SnapshotRow, Width};

pub use self::choices::{Choice, Wish};
use super::program_state::claim::Claim;
use crate::services::shell::question_line::question;

/// Reads dialogs. Its fingerprints are valid until the process ends.
#[derive(Default)]
pub struct Dialogs {
    /// A random key, so that a program can't construct two screens with the same fingerprint.
    key: RandomState,
}

/// A dialog, as shown on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// Identifies the dialog. Changes whenever the program may have opened another dialog.
    pub fingerprint: String,
    /// The terminal's `seq` at which the dialog was read.
    pub seq: u64,
    /// The number of inputs that the program had received.
    pub inputs: u64,
    /// The rows of the screen, without blank rows at its end.
    pub rows: Vec<String>,
    /// The answers that the screen offers, in their order.
    pub choices: Vec<Choice>,
    /// Whether the program reads an answer only after Enter.
    pub needs_enter: bool,
}

impl Dialogs {
    /// The dialog of a pane's program. `claim`: the claim that the program needs the user.
    pub fn read(&self, pane: &Pane, claim: &Claim) -> Dialog {
        // An input that arrives after this line belongs to another dialog, so read the number of inputs before the
        // screen.
        let inputs = pane.inputs();
        let mut snapshot = Snapshot::default();
        let line = {
            let term = pane.term();
            term.snapshot(&mut snapshot, None);
            question(&term)
        };
        let mut rows: Vec<String> = snapshot.rows.iter().map(text).collect();
        let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.truncate(used);
        let is_line = snapshot.screen == ScreenKind::Main && line.is_some();
        let choices = choices::of_screen(&rows, line.as_deref().filter(|_| is_line));
        let process = pane.process();
        // A program that reads single keys with echo, such as `read -n 1`, does not wait for Enter.
        let edits_line = is_line && process.echo() == Some(false);
        let needs_enter = process.collects_lines() != Some(false) || edits_line;
        let fingerprint = self.fingerprint((pane.id().0, inputs), &snapshot, &rows, claim);
        Dialog { fingerprint, seq: snapshot.seq, inputs, rows, choices, needs_enter }
    }

    /// `state`: the number of the pane, and the number of inputs that its program received.
    fn fingerprint(
        &self,
        state: (u64, u64),
        snapshot: &Snapshot,
        rows: &[String],
        claim: &Claim,
    ) -> String {
        let mut hasher = self.key.build_hasher();
        state.hash(&mut hasher);
        (claim.source, &claim.task, claim.need, &claim.message).hash(&mut hasher);
        (snapshot.cursor.row, snapshot.cursor.col).hash(&mut hasher);
        (snapshot.screen == ScreenKind::Alternate, snapshot.images.len()).hash(&mut hasher);
        snapshot.rows.iter().zip(rows).for_each(|(row, text)| mark(row, text, &mut hasher));
        format!("{:016x}", hasher.finish())
    }

    /// The key of an inbox entry: a hash of everything that identifies it.
    pub fn key(&self, entry: impl Hash) -> String {
        format!("{:016x}", self.key.hash_one(entry))
    }
}

/// The text of a row, without trailing blanks.
fn text(row: &SnapshotRow) -> String {
    let mut text = String::new();
    for (col, cell) in row.cells.iter().enumerate() {
        match cell.content() {
            _ if cell.width() == Width::Tail => {}
            Content::Empty => text.push(' '),
            Content::Char(char) => text.push(char),
            Content::Cluster(_) => text.push_str(row.cluster(col as u16).unwrap_or(" ")),
        }
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

/// Hashes the parts of a row that a user distinguishes: the text, and the marks by which a program shows the selected
/// choice. Colors of the text are left out, because some programs animate them.
fn mark(row: &SnapshotRow, text: &str, hasher: &mut impl Hasher) {
    text.hash(hasher);
    for run in &row.styles {
        let marks = run.style.attrs & (Attrs::REVERSE | Attrs::HIDDEN | Attrs::BOLD);
        if !marks.is_empty() || run.style.background != Color::Default {
            (run.start, run.end, marks.bits()).hash(hasher);
            format!("{:?}", run.style.background).hash(hasher);
        }
    }
}

/// Whether a process belongs to a pane of the instance `instance`, even if it has left the pane's terminal.
pub fn is_process_of(pid: i32, pane: &Pane, instance: &str) -> bool {
    let names = |variable, value: &str| variable_of(pid, variable).as_deref() == Some(value);
    pane.process().has_process(pid)
        || names("UNTERM_INSTANCE", instance) && names("UNTERM_PANE", &pane.id().0.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;
    use crate::services::pane::program_state::claim::{Need, Source};

    fn claim() -> Claim {
        Claim::needs(Source::Report, Some(Need::Permission), "a rule")
    }

    /// The fingerprint of a screen after some output.
    fn fingerprint(dialogs: &Dialogs, inputs: u64, output: &str, claim: &Claim) -> String {
        let mut term = Term::new(Size::cells(40, 8), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, None);
        let rows: Vec<String> = snapshot.rows.iter().map(text).collect();
        dialogs.fingerprint((3, inputs), &snapshot, &rows, claim)
    }

    const DIALOG: &str = "Delete it?\r\n> 1. Yes\r\n  2. No";

    #[test]
    fn a_redrawn_screen_is_another_dialog() {
        let dialogs = Dialogs::default();
        let of = |more: &str| fingerprint(&dialogs, 1, &format!("{DIALOG}{more}"), &claim());
        let before = of("");
        assert_eq!(before, of("\x1b[2;1H> 1. Yes\x1b[3;8H"), "redrawn with the same text");
        assert_eq!(before, of("\x1b[2;1H\x1b[35m> 1. Yes\x1b[m\x1b[3;8H"), "colors can move");
        for (what, more) in [
            ("the selected line", "\x1b[2;1H\x1b[7m> 1. Yes\x1b[m\x1b[3;8H"),
            ("its background", "\x1b[2;1H\x1b[44m> 1. Yes\x1b[m\x1b[3;8H"),
            ("the question", "\x1b[1;1HDelete IT?\x1b[3;8H"),
            ("the cursor", "\x1b[2;1H"),
            ("a row above or below", "\x1b[8;1H.\x1b[3;8H"),
            ("the screen", "\x1b[?1049h\x1b[H\x1b[3;8H"),
        ] {
            assert_ne!(before, of(more), "{what}");
        }
    }

    #[test]
    fn an_input_or_another_claim_is_another_dialog() {
        let dialogs = Dialogs::default();
        let before = fingerprint(&dialogs, 1, DIALOG, &claim());
        assert_eq!(before, fingerprint(&dialogs, 1, DIALOG, &claim()));
        assert_ne!(before, fingerprint(&dialogs, 2, DIALOG, &claim()));
        let other = Claim { message: Some("Delete all?".to_owned()), ..claim() };
        assert_ne!(before, fingerprint(&dialogs, 1, DIALOG, &other));
        assert_ne!(before, fingerprint(&Dialogs::default(), 1, DIALOG, &claim()), "a random key");
    }

    proptest! {
        #[test]
        fn dialogs_are_equal_only_if_their_texts_are(
            one in "[a-c 1-3.\u{4e2d}]{0,12}", other in "[a-c 1-3.\u{4e2d}]{0,12}",
            at in select(vec!["\x1b[2;1H", "\x1b[7;20H"]),
        ) {
            let dialogs = Dialogs::default();
            let of = |text: &str| {
                fingerprint(&dialogs, 1, &format!("{at}{text}\x1b[1;1H"), &claim())
            };
            let is_same = one.trim_end() == other.trim_end();
            prop_assert_eq!(of(&one) == of(&other), is_same);
        }
    }
}
