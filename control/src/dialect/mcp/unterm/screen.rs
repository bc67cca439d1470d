//! What a pane shows: as text, as cells, as a picture, or what has changed; and where on it a text is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Cursor, MOST_OF_ROWS, fits, line,
    looks::{Look, RowOfCells, encoded},
    region::{self, Run, redacted, redaction},
    shown,
};
use crate::{
    dialect::mcp::{
        rows::{covered, joined},
        tool::{Answer, Ask, Said, tool},
        untrusted::{Clipped, escaped},
    },
    services::redact::Redaction,
};

/// A pane's state, and its screen's text without blank ends.
pub async fn state(ask: &Ask<'_>, pane: u64) -> Said<(Value, String)> {
    let state: Value = ask.method("session.status", json!({"id": pane})).await?;
    let screen: Value = ask.method("screen.text", json!({"id": pane})).await?;
    let text = joined(&screen["lines"], 0, usize::MAX);
    Ok((state, shown(text, false, "").0))
}

fn cursor(reply: &Value) -> Cursor {
    let at = |name: &str| reply["cursor"][name].as_u64().unwrap_or_default();
    Cursor { row: at("y"), col: at("x") }
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
    /// The pane; not needed when there is only one.
    pane: Option<u64>,
    /// text; cells: with colours, attributes and links; png: a picture; diff: the rows that changed since since_seq.
    format: Option<Format>,
    /// For diff: the seq of an earlier reply; absent: everything.
    since_seq: Option<u64>,
    /// For text and cells, from 0, as first_col.
    first_row: Option<usize>,
    row_count: Option<usize>,
    first_col: Option<u64>,
    col_count: Option<u64>,
    /// Cover what looks like a secret; not for png.
    redact: Option<bool>,
    /// Give invisible characters as they are, not as escapes.
    raw: Option<bool>,
}

/// A row that changed.
#[derive(Serialize, JsonSchema)]
pub struct Changed {
    line_id: u64,
    text: String,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct ScreenReply {
    /// A since_seq for what comes after.
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
    /// For cells: the looks that runs name by their place here, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    looks: Option<Vec<Look>>,
    /// For diff: the rows that changed, those that scrolled away too.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Changed>>,
    /// False: there is more than is kept or fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// For png, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    /// For png: pixels of a cell, to tell its row and column.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_width: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_height: Option<u64>,
    /// How many secrets were covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<u64>,
    /// The program asks for a password, which only the person may type.
    awaiting_secret: bool,
    /// The program waits for input.
    awaiting_input: bool,
    /// The program has ended.
    ended: bool,
}

tool! {
    Screen "screen" "Look at a pane" Looks
    "See what a pane shows now: as text, as cells with their looks, as a picture, or what has changed since an earlier look."
    example r#"{"format": "text"}"#
    untrusted ["text", "cells", "looks", "changes"]
    (ask, arguments: ScreenArguments) -> ScreenReply {
        let ScreenArguments { pane, format, since_seq, first_row, row_count, first_col, col_count, redact, raw } = arguments;
        let pane = ask.pane(pane).await?;
        let on_pane = json!({"id": pane});
        let state: Value = ask.method("session.status", on_pane.clone()).await?;
        let (first, count) = (first_row.unwrap_or(0), row_count.unwrap_or(usize::MAX));
        let first_col = first_col.unwrap_or(0);
        for (name, first, side) in [("first_row", first as u64, "rows"), ("first_col", first_col, "cols")] {
            if let Some(last) = state[side].as_u64().and_then(|count| count.checked_sub(1))
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
            awaiting_secret: state["awaiting_secret"] == true,
            awaiting_input: state["awaiting_input"] == true,
            ended: state["is_dead"] == true,
            ..ScreenReply::default()
        };
        let mut picture = None;
        let shown_as: Value = match format.unwrap_or(Format::Text) {
            Format::Text => {
                // A whole screen as it is comes as text, which costs least.
                let is_whole = cols == (0..u64::MAX) && !redaction.is_on();
                let (screen, text) = if is_whole {
                    let screen: Value = ask.method("screen.text", on_pane).await?;
                    let text = joined(&screen["lines"], first, count);
                    (screen, text)
                } else {
                    let mut screen: Value = ask.method("screen.cells", on_pane).await?;
                    let part = region::Screen::take(&mut screen)?;
                    let part = part.covered(ask, &mut redaction).await?;
                    (screen, part.text(first, count, &cols))
                };
                let (text, clipped) = shown(text, raw, "");
                (reply.text, reply.clipped) = (Some(text), clipped);
                screen
            }
            Format::Cells => {
                let mut screen: Value = ask.method("screen.cells", on_pane).await?;
                let part = region::Screen::take(&mut screen)?;
                let part = part.covered(ask, &mut redaction).await?;
                let mut left = MOST_OF_ROWS;
                let runs = part.runs(first, count, &cols).into_iter().map(|run| Run {
                    text: plain(&run.text),
                    link: run.link.as_deref().map(plain),
                    ..run
                });
                let (cells, looks) = encoded(runs, |row| fits(&mut left, row));
                reply.complete = Some(left > 0);
                (reply.cells, reply.looks) = (Some(cells), Some(looks));
                screen
            }
            Format::Diff => {
                let params = json!({"id": pane, "since_seq": since_seq.unwrap_or(0)});
                let mut diff: Value = ask.method("screen.diff", params).await?;
                let rows = diff["changes"].take();
                let shape = json!({"cols": state["cols"]});
                let cover = move |redaction: &mut Redaction| {
                    let texts = rows.as_array().into_iter().flatten();
                    let texts: Vec<&str> =
                        texts.map(|row| row["text"].as_str().unwrap_or_default()).collect();
                    let texts = covered(&texts, &shape, |text| redaction.cover(text));
                    (rows, texts)
                };
                let (rows, texts) = redacted(ask, &mut redaction, cover).await?;
                let rows: Vec<_> = rows.as_array().into_iter().flatten().collect();
                let mut left = MOST_OF_ROWS;
                let is_everything = since_seq.unwrap_or(0) == 0;
                // Of too many, the last ones. That a row became blank is a change, but not to who saw none before.
                let mut changes: Vec<Changed> = rows
                    .iter()
                    .zip(&texts)
                    .rev()
                    .skip_while(|(_, text)| is_everything && text.is_empty())
                    .map(|(row, text)| Changed {
                        line_id: row["line_id"].as_u64().unwrap_or_default(),
                        text: plain(text),
                    })
                    .take_while(|changed| fits(&mut left, changed))
                    .collect();
                changes.reverse();
                reply.complete = Some(diff["complete"] == true && left > 0);
                reply.changes = Some(changes);
                diff
            }
            Format::Png if redaction.is_on() => {
                return Err("A picture can't be redacted; give `format` text, cells or diff, or leave out `redact`".to_owned());
            }
            Format::Png => {
                let mut png: Value = ask.method("screen.png", on_pane).await?;
                (reply.width, reply.height) = (png["width"].as_u64(), png["height"].as_u64());
                let part = |whole: Option<u64>, count: &str| Some(whole? / state[count].as_u64()?.max(1));
                reply.cell_width = part(reply.width, "cols");
                reply.cell_height = part(reply.height, "rows");
                if let Value::String(base64) = png["base64"].take() {
                    picture = Some(base64);
                }
                json!({"seq": png["seq"], "cols": state["cols"], "rows": state["rows"], "cursor": state["cursor"]})
            }
        };
        reply.redacted = redaction.is_on().then_some(redaction.count);
        reply.seq = shown_as["seq"].as_u64().unwrap_or_default();
        (reply.cols, reply.rows) = (shown_as["cols"].as_u64(), shown_as["rows"].as_u64());
        reply.cursor = Some(cursor(&shown_as));
        Ok(Answer { reply, picture })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindArguments {
    pattern: String,
    /// The pane; not needed when there is only one.
    pane: Option<u64>,
    /// The pattern is a regular expression.
    regex: Option<bool>,
    ignore_case: Option<bool>,
}

/// A place on the screen.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Place {
    row: u64,
    col: u64,
    /// Of its last cell.
    end_row: u64,
    end_col: u64,
    /// The row it begins in.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub struct FindReply {
    /// From the top on; at most 100.
    places: Vec<Place>,
    /// At most 1,000 are counted.
    total: usize,
    seq: u64,
}

tool! {
    Find "find" "Find on the screen" Looks
    "Find where on the screen a text is, by row and column, such as to click on it."
    example r#"{"pattern": "Save"}"#
    untrusted ["text"]
    (ask, arguments: FindArguments) -> FindReply {
        let FindArguments { pattern, pane, regex, ignore_case } = arguments;
        let pane = ask.pane(pane).await?;
        let params = json!({
            "id": pane,
            "pattern": pattern,
            "regex": regex == Some(true),
            "ignore_case": ignore_case == Some(true),
        });
        #[derive(Deserialize)]
        struct Found {
            places: Vec<Place>,
            seq: u64,
        }
        let found: Found = ask.method("screen.find", params).await?;
        let total = found.places.len();
        let places = found.places.into_iter().take(100);
        let places = places.map(|place| Place { text: line(&place.text), ..place }).collect();
        Ok(FindReply { places, total, seq: found.seq }.into())
    }
}
