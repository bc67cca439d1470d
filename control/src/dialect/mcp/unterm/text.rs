//! The tools that read earlier output of panes: commands, searches and transcripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    region::{redacted, redaction},
    shown::{MOST_OF_ROWS, fits, line, shown},
};
use crate::{
    dialect::mcp::{
        rows::{self, fields},
        tool::tool,
        untrusted::Clipped,
    },
    methods::{
        blocks::{Get, GetParams, State},
        params::{NoParams, SessionOnly},
        screen::{self, Scroll, ScrollParams, SearchParams, Text},
        session::{List, Status},
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// The command's number, from run; default: the last command that ended.
    block: Option<u64>,
    /// First line of output to return, from 0.
    first_line: Option<usize>,
    /// Default 500.
    line_count: Option<usize>,
    /// Do not escape invisible characters.
    raw: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct BlockReply {
    block: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// prompt, running, done or unknown.
    #[schemars(with = "String")]
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// The shell reported this command; a program can't forge it.
    authentic: bool,
    /// The command line from the screen; absent while a full-screen program covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Number of output lines kept.
    line_count: usize,
    /// The start of the output is gone.
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
}

tool! {
    Block "block" "Read a command's output" Looks
    "Read an earlier shell command of a pane: its command line, exit code and any part of its output."
    example r#"{"block": 7, "first_line": 500}"#
    untrusted ["command", "output"]
    (ask, arguments: BlockArguments) -> BlockReply {
        let BlockArguments { pane, block, first_line, line_count, raw } = arguments;
        let pane = ask.pane(pane).await?;
        let max_lines = 100_000.into();
        let params = GetParams { block: block.into(), max_lines, ..GetParams::of(pane) };
        let found = ask.call::<Get>(params).await?;
        let output = found.output.as_deref();
        let kept = output.map_or(0, |output| output.lines().count());
        let (first, count) = (first_line.unwrap_or(0), line_count.unwrap_or(500));
        let part = output.map(|output| {
            let lines: Vec<&str> = output.lines().skip(first).take(count).collect();
            shown(lines.join("\n"), raw == Some(true), "; ask for fewer lines")
        });
        let (output, clipped) = match part {
            Some((text, clipped)) => (Some(text), clipped),
            None => (None, None),
        };
        Ok(BlockReply {
            block: found.block.block,
            command: found.block.command.as_deref().map(line),
            state: found.block.state,
            exit_code: found.block.exit_code.map(i64::from),
            authentic: found.block.authentic,
            output,
            line_count: kept,
            truncated: found.truncated,
            clipped,
        }
        .into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchArguments {
    pattern: String,
    /// Default: all panes.
    pane: Option<u64>,
    /// Treat the text as a regular expression.
    regex: Option<bool>,
    ignore_case: Option<bool>,
    /// Most matches per pane, oldest first; default 50.
    max_results: Option<u64>,
}

/// The line in which a match begins.
#[derive(Serialize, JsonSchema)]
pub struct Hit {
    pane: u64,
    /// Pass it as before_line to transcript.
    line_id: u64,
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub struct SearchReply {
    matches: Vec<Hit>,
    /// Includes matches that were left out.
    total: u64,
}

tool! {
    Search "search" "Search the history" Looks
    "Search the screen and history of panes."
    example r#"{"pattern": "error", "ignore_case": true}"#
    untrusted ["text"]
    (ask, arguments: SearchArguments) -> SearchReply {
        let SearchArguments { pattern, pane, regex, ignore_case, max_results } = arguments;
        let panes = match pane {
            Some(pane) => vec![ask.pane(Some(pane)).await?],
            None => {
                let sessions = ask.call::<List>(NoParams {}).await?.sessions;
                sessions.iter().map(|session| session.id).collect()
            }
        };
        let mut reply = SearchReply { matches: Vec::new(), total: 0 };
        for pane in panes {
            let params = SearchParams {
                pattern: pattern.as_str().into(),
                regex: (regex == Some(true)).into(),
                ignore_case: (ignore_case == Some(true)).into(),
                max_results: max_results.unwrap_or(50).min(500).into(),
                ..SearchParams::of(pane)
            };
            let found = ask.call::<screen::Search>(params).await?;
            let hits = found.matches.iter();
            reply.matches.extend(hits.map(|hit| Hit { pane, line_id: hit.line_id, text: line(&hit.text) }));
            reply.total += found.total;
        }
        let mut left = MOST_OF_ROWS;
        reply.matches.retain(|hit| fits(&mut left, hit));
        Ok(reply.into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// Default 200.
    line_count: Option<u64>,
    /// Return the rows before this line_id; default: the last rows.
    before_line: Option<u64>,
    /// Do not mask secrets.
    secrets: Option<bool>,
    /// Do not escape invisible characters.
    raw: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct TranscriptReply {
    text: String,
    /// Pass it as before_line to read the rows above.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<u64>,
    /// Whether there are more rows above.
    more: bool,
    /// Number of masked secrets.
    redacted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
}

tool! {
    Transcript "transcript" "Read the history" Looks
    "Read a pane's history and screen, beginning with the last rows. Likely secrets are masked."
    example r#"{"line_count": 500}"#
    untrusted ["text"]
    (ask, arguments: TranscriptArguments) -> TranscriptReply {
        let TranscriptArguments { pane, line_count, before_line, secrets, raw } = arguments;
        let pane = ask.pane(pane).await?;
        let count = line_count.unwrap_or(200).clamp(1, 5000);
        let state = ask.call::<Status>(SessionOnly::of(pane)).await?;
        let part = |offset: u64, count: u64| ScrollParams {
            offset: offset.into(),
            count: count.into(),
            ..ScrollParams::of(pane)
        };
        let oldest = ask.call::<Scroll>(part(0, 1)).await?.line_id.unwrap_or_default();
        let rows = state.scrollback_rows as u64;
        let end = match before_line {
            Some(line) => line.saturating_sub(oldest).min(rows),
            None => {
                // Blank rows below the last text are left out.
                let screen = fields(&ask.call::<Text>(SessionOnly::of(pane)).await?)?;
                let lines: Vec<&str> = screen.lines.iter().collect();
                let blank = lines.iter().rev().take_while(|line| line.is_empty()).count();
                rows.saturating_sub(blank as u64)
            }
        };
        let offset = end.saturating_sub(count);
        let read = ask.call::<Scroll>(part(offset, end - offset)).await?;
        let lines: Vec<&str> = read.lines.iter().collect();
        let mut redaction = redaction(ask, secrets != Some(true)).await?;
        // The rows are joined before they are redacted, because a secret may continue in the next row.
        let text = rows::unwrapped(&lines, state.cols);
        let text = redacted(ask, &mut redaction, move |redaction| redaction.apply(&text)).await?;
        let (text, clipped) = shown(text, raw == Some(true), "; ask for fewer rows");
        Ok(TranscriptReply {
            text,
            first_line: read.line_id,
            more: offset > 0,
            redacted: redaction.count,
            clipped,
        }
        .into())
    }
}
