//! Finds the rows of a session that are new since a client's last call.
//!
//! A row is new if a program has written to it since then, anywhere on the screen. Text that is cleared and printed
//! again counts as new. But if each of these rows equals a row of the client's last call, no row is new, because the
//! shell has only redrawn its prompt.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    find::{Terminal, named},
    json::{OnSession, error, joined, rows, without_blank_end},
    memory::{MOST, ReadPosition},
};
use crate::{
    dialect::mcp::tool::{Ask, plain_tool},
    methods::cells::{Cells, CellsParams, Diff, DiffParams, Line},
};

/// The new rows, each with its line id.
struct New {
    rows: Vec<(u64, String)>,
    /// The number of new lines that were dropped before these rows.
    lost: u64,
    read: ReadPosition,
}

/// The maximum number of rows that are remembered from a call. They are compared with the rows of the next call.
const REMEMBERED: usize = 64;

/// Returns the whole screen, for a client's first call.
async fn first(ask: &Ask<'_>, terminal: &Terminal) -> Result<New, Value> {
    // `screen.cells` is used because it is the only method that returns rows together with their `seq`.
    let screen = terminal.call::<Cells>(ask, CellsParams::of(terminal.pane)).await;
    let screen = screen.map_err(error)?;
    let rows = without_blank_end(screen.lines.iter().map(drawn));
    let read = ReadPosition { seq: screen.seq, next: behind(&rows), last: last_of(&rows) };
    Ok(New { rows, lost: 0, read })
}

/// Returns the rows that were written since a client's last call.
async fn since(ask: &Ask<'_>, terminal: &Terminal, last: &ReadPosition) -> Result<New, Value> {
    let params = DiffParams {
        since_seq: last.seq.into(),
        written_only: true.into(),
        ..DiffParams::of(terminal.pane)
    };
    let diff = terminal.call::<Diff>(ask, params).await.map_err(error)?;
    let mut rows = without_blank_end(rows(&diff.changes));
    // Erased rows do not count as new.
    let start = rows.iter().position(|(_, text)| !text.is_empty()).unwrap_or(rows.len());
    rows.drain(..start);
    let next = last.next.max(behind(&rows));
    if rows.iter().all(|row| last.last.contains(row)) {
        let read = ReadPosition { seq: diff.seq, next, last: last.last.clone() };
        return Ok(New { rows: Vec::new(), lost: 0, read });
    }
    let read = ReadPosition { seq: diff.seq, next, last: last_of(&rows) };
    // The alternate screen has no history, and numbers its lines separately.
    let has_history = diff.scrollback_rows > usize::from(diff.rows);
    let oldest = diff.changes.first().map_or(0, |row| row.line_id);
    let is_short = has_history && !diff.complete;
    let lost = if is_short { oldest.saturating_sub(last.next) } else { 0 };
    Ok(New { rows, lost, read })
}

/// The last rows, which are remembered for the next call.
fn last_of(rows: &[(u64, String)]) -> Arc<[(u64, String)]> {
    rows[rows.len().saturating_sub(REMEMBERED)..].into()
}

/// The line id after the last row.
fn behind(rows: &[(u64, String)]) -> u64 {
    rows.last().map_or(0, |(line, _)| line + 1)
}

/// The line id and the text of a row of cells.
fn drawn(line: &Line) -> (u64, String) {
    let mut text = String::new();
    let mut at = 0;
    for run in &line.runs {
        let blanks = usize::from(run.col.saturating_sub(at));
        text.extend(std::iter::repeat_n(' ', blanks));
        text.push_str(&run.text);
        at = run.col + run.cols;
    }
    text.truncate(text.trim_end().len());
    (line.line_id, text)
}

plain_tool! {
    pub(super) Watch "iterm_watch_session" "Read what is new" Looks OnSession,
    untrusted ["name", "new_output", "error"],
    "Get only new output since the last watch call; the first call gives the whole visible buffer."
    (ask, given) {
        let terminal = named(ask, &given).await?;
        let connection = ask.caller.connection;
        // A session keeps its identity when it moves to another tab.
        let session = terminal.own();
        let last = {
            let memory = ask.server.iterm.0.lock();
            memory.get(&connection).and_then(|of| of.read.get(session)).cloned()
        };
        let new = match &last {
            None => first(ask, &terminal).await?,
            Some(last) => since(ask, &terminal, last).await?,
        };
        {
            let mut memory = ask.server.iterm.0.lock();
            let read = &mut memory.entry(connection).or_default().read;
            if read.len() < MOST || read.contains_key(session) {
                read.insert(session.to_owned(), new.read);
            }
        }
        let lost = match new.lost {
            0 => String::new(),
            lost => format!("[… {lost} lines are not kept any more …]\n"),
        };
        Ok(json!({
            "session_id": terminal.id,
            "name": terminal.name,
            "new_line_count": new.rows.len(),
            "new_output": joined(lost, &new.rows),
            "is_first_read": last.is_none(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_cells_is_text_with_its_blanks() {
        let line = |line: Value| serde_json::from_value::<Line>(line).unwrap();
        let full = json!({"row": 1, "line_id": 7, "wrapped": false, "runs": [
            {"col": 1, "cols": 2, "text": "ab"},
            {"col": 5, "cols": 3, "text": "漢 "},
        ]});
        assert_eq!(drawn(&line(full)), (7, " ab  漢".to_owned()));
        let blank = json!({"row": 2, "line_id": 8, "wrapped": false, "runs": []});
        assert_eq!(drawn(&line(blank)), (8, String::new()));
    }
}
