//! The tools that read a pane's screen as text, cells, a picture or changed rows, and that find text on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    looks::{Look, RowOfCells, encoded},
    region::{self, redacted, redaction},
    screen_part,
    shown::{Cursor, MOST_OF_ROWS, fits, line, shown},
};
use crate::{
    dialect::mcp::{
        rows::{covered, fields, joined},
        tool::{Answer, tool},
        untrusted::{Clipped, escaped},
    },
    methods::{
        capture::Png,
        cells::{Cells, CellsParams, Diff, DiffParams, Run},
        find::{self, FindParams},
        params::SessionOnly,
        screen::Text,
        session::Status,
    },
    services::records::redact::Redaction,
};

/// Identifies a screen in a reply: `seq`, size, and the cursor's row and column.
macro_rules! seen {
    ($reply:ident) => {
        ($reply.seq, ($reply.cols, $reply.rows), ($reply.cursor.y, $reply.cursor.x))
    };
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Text,
    Cells,
    Png,
    Diff,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// cells: text with its style; png: a picture; diff: the rows changed after since_seq.
    format: Option<Format>,
    /// For diff: the seq of an earlier reply; default: the whole screen.
    since_seq: Option<u64>,
    /// First row, from 0; for text and cells, like first_col.
    first_row: Option<usize>,
    row_count: Option<usize>,
    first_col: Option<u64>,
    col_count: Option<u64>,
    /// Mask likely secrets; not for png.
    redact: Option<bool>,
    /// Do not escape invisible characters.
    raw: Option<bool>,
}

/// A changed row.
#[derive(Serialize, JsonSchema)]
pub struct Changed {
    line_id: u64,
    text: String,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct ScreenReply {
    /// Pass it as since_seq to count only later output.
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cols: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Cursor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<Vec<RowOfCells>>,
    /// For cells: styles. Runs refer to them by index.
    #[serde(skip_serializing_if = "Option::is_none")]
    looks: Option<Vec<Look>>,
    /// For diff: the changed rows, with since_seq including rows that scrolled away.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Changed>>,
    /// False: some rows were dropped or did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// For png: in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    /// For png: size of a cell in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_width: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_height: Option<u64>,
    /// Number of masked secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<u64>,
    /// The program asks for a password. Only the user may type it.
    awaiting_secret: bool,
    /// The program waits for input.
    awaiting_input: bool,
    /// The program has ended.
    ended: bool,
}

tool! {
    Screen "screen" "Look at a pane" Looks
    "Read what a pane shows: as text, styled cells or a picture, or the rows that changed since an earlier call."
    example r#"{"format": "text"}"#
    untrusted ["text", "cells", "looks", "changes"]
    (ask, arguments: ScreenArguments) -> ScreenReply {
        let ScreenArguments { pane, format, since_seq, first_row, row_count, first_col, col_count, redact, raw } = arguments;
        let pane = ask.pane(pane).await?;
        let state = ask.call::<Status>(SessionOnly::of(pane)).await?;
        let (first, count) = (first_row.unwrap_or(0), row_count.unwrap_or(usize::MAX));
        let first_col = first_col.unwrap_or(0);
        for (name, first, count) in [("first_row", first as u64, state.rows), ("first_col", first_col, state.cols)] {
            if let Some(last) = u64::from(count).checked_sub(1)
                && first > last
            {
                return Err(format!("`{name}` must be from 0 to {last}, the last on the screen, not {first}"));
            }
        }
        let cols = first_col..first_col.saturating_add(col_count.unwrap_or(u64::MAX));
        let mut redaction = redaction(ask, redact == Some(true)).await?;
        let raw = raw == Some(true);
        let plain = |text: &str| if raw { text.to_owned() } else { escaped(text) };
        let mut reply = ScreenReply {
            awaiting_secret: state.awaiting_secret,
            awaiting_input: state.awaiting_input,
            ended: state.is_dead,
            ..ScreenReply::default()
        };
        let mut picture = None;
        let (seq, (cols, rows), (row, col)) = match format.unwrap_or(Format::Text) {
            Format::Text => {
                // For a whole screen, the reply of `screen.text` needs the fewest tokens.
                let is_whole = cols == (0..u64::MAX) && !redaction.is_on();
                let (seen, text) = if is_whole {
                    let screen = fields(&ask.call::<Text>(SessionOnly::of(pane)).await?)?;
                    if (first, count) == (0, usize::MAX) {
                        screen_part::saw(ask, pane, &screen);
                    }
                    let text = joined(&screen.lines, first, count);
                    (seen!(screen), text)
                } else {
                    let screen = ask.call::<Cells>(CellsParams::of(pane)).await?;
                    let part = region::Screen(screen.lines).covered(ask, &mut redaction).await?;
                    (seen!(screen), part.text(first, count, &cols))
                };
                let (text, clipped) = shown(text, raw, "");
                (reply.text, reply.clipped) = (Some(text), clipped);
                seen
            }
            Format::Cells => {
                let screen = ask.call::<Cells>(CellsParams::of(pane)).await?;
                let part = region::Screen(screen.lines).covered(ask, &mut redaction).await?;
                let mut left = MOST_OF_ROWS;
                let runs = part.runs(first, count, &cols).into_iter().map(|(row, run)| {
                    let (text, link) = (plain(&run.text), run.link.as_deref().map(plain));
                    (row, Run { text, link, ..run })
                });
                let (cells, looks) = encoded(runs, |row| fits(&mut left, row));
                reply.complete = Some(left > 0);
                (reply.cells, reply.looks) = (Some(cells), Some(looks));
                seen!(screen)
            }
            Format::Diff => {
                let since_seq = since_seq.unwrap_or(0);
                let params = DiffParams { since_seq: since_seq.into(), ..DiffParams::of(pane) };
                let mut diff = ask.call::<Diff>(params).await?;
                if since_seq == 0 {
                    // Without an earlier reply, only the rows of the screen are returned, and not the history.
                    let first = diff.scrollback_rows.saturating_sub(diff.rows.into()) as u64;
                    diff.changes.retain(|row| row.row >= first);
                    diff.complete = true;
                }
                let (rows, cols) = (diff.changes, state.cols);
                let cover = move |redaction: &mut Redaction| {
                    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
                    let texts = covered(&texts, cols, |text| redaction.cover(text));
                    (rows, texts)
                };
                let (rows, texts) = redacted(ask, &mut redaction, cover).await?;
                let mut left = MOST_OF_ROWS;
                let is_everything = since_seq == 0;
                // If there are too many rows, the last ones are returned. A blank row counts as a change only relative
                // to an earlier call.
                let mut changes: Vec<Changed> = rows
                    .iter()
                    .zip(&texts)
                    .rev()
                    .skip_while(|(_, text)| is_everything && text.is_empty())
                    .map(|(row, text)| Changed { line_id: row.line_id, text: plain(text) })
                    .take_while(|changed| fits(&mut left, changed))
                    .collect();
                changes.reverse();
                reply.complete = Some(diff.complete && left > 0);
                reply.changes = Some(changes);
                seen!(diff)
            }
            Format::Png if redaction.is_on() => {
                return Err("A picture can't be redacted; give `format` text, cells or diff, or leave out `redact`".to_owned());
            }
            Format::Png => {
                let png = ask.call::<Png>(SessionOnly::of(pane)).await?;
                let (width, height) = (u64::from(png.width), u64::from(png.height));
                (reply.width, reply.height) = (Some(width), Some(height));
                reply.cell_width = Some(width / u64::from(state.cols).max(1));
                reply.cell_height = Some(height / u64::from(state.rows).max(1));
                picture = Some(png.base64);
                let (_, size, cursor) = seen!(state);
                (png.seq, size, cursor)
            }
        };
        reply.redacted = redaction.is_on().then_some(redaction.count);
        reply.seq = seq;
        (reply.cols, reply.rows) = (Some(cols.into()), Some(rows.into()));
        reply.cursor = Some(Cursor { row: row.into(), col: col.into() });
        Ok(Answer { reply, picture })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindArguments {
    pattern: String,
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// Treat the text as a regular expression.
    regex: Option<bool>,
    ignore_case: Option<bool>,
}

/// A match on the screen.
#[derive(Serialize, JsonSchema)]
pub struct ScreenMatch {
    row: u64,
    col: u64,
    /// The row of the match's last cell.
    end_row: u64,
    end_col: u64,
    /// The text of the match's first row.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub struct FindReply {
    /// The matches from the top, at most 100.
    places: Vec<ScreenMatch>,
    /// Number of matches, up to 1,000.
    total: usize,
    seq: u64,
}

tool! {
    Find "find" "Find on the screen" Looks
    "Find text on the screen, by row and column, for example to click on it."
    example r#"{"pattern": "Save"}"#
    untrusted ["text"]
    (ask, arguments: FindArguments) -> FindReply {
        let FindArguments { pattern, pane, regex, ignore_case } = arguments;
        let pane = ask.pane(pane).await?;
        let params = FindParams {
            pattern: pattern.into(),
            regex: (regex == Some(true)).into(),
            ignore_case: (ignore_case == Some(true)).into(),
            ..FindParams::of(pane)
        };
        let found = ask.call::<find::Find>(params).await?;
        let total = found.places.len();
        let places = found.places.into_iter().take(100).map(|place| ScreenMatch {
            row: place.row,
            col: place.col.into(),
            end_row: place.end_row,
            end_col: place.end_col.into(),
            text: line(&place.text),
        });
        Ok(FindReply { places: places.collect(), total, seq: found.seq }.into())
    }
}
