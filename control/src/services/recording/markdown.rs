//! A recording as markdown: front matter, and each command with its output.

use std::fmt::Write;

use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};
use unterm_term::{Size, unescape_command_line};

use super::{
    Record,
    log::{Event, Kind},
    redact::Redaction,
};
use crate::services::output::visible;

/// A command of a recording.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its line, as the shell said it, else as it was typed.
    pub command: String,
    /// What it put out, as text.
    pub output: String,
    /// Its exit code, if it was said.
    pub exit_code: Option<i32>,
    /// Microseconds since 1970 at which it began.
    pub start: Option<u64>,
    /// And at which it ended.
    pub end: Option<u64>,
}

/// The commands of a log, or, where none was marked, all of its output as text.
pub fn blocks(events: &[Event], size: Size) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut input, mut output, mut told) = (Vec::new(), Vec::new(), None);
    let (mut is_input, mut running) = (false, None::<u64>);
    let mut all = Vec::new();
    let mut finish = |start: u64,
                      end,
                      exit_code,
                      input: &mut Vec<u8>,
                      told: &mut Option<String>,
                      output: &mut Vec<u8>| {
        let typed = visible(&std::mem::take(input), size);
        let command = told.take().unwrap_or(typed).trim().to_owned();
        let output = visible(&std::mem::take(output), size);
        blocks.push(Block { command, output, exit_code, start: Some(start), end });
    };
    for event in events {
        match event.kind {
            Kind::Out => {
                if running.is_some() {
                    output.extend_from_slice(&event.bytes);
                } else if is_input {
                    input.extend_from_slice(&event.bytes);
                }
                all.extend_from_slice(&event.bytes);
            }
            Kind::In => {}
            Kind::Prompt => {
                if let Some(start) = running.take() {
                    finish(start, None, None, &mut input, &mut told, &mut output);
                }
                // A continuation's prompt belongs to the same input.
                if !event.bytes.ends_with(b"k=s") {
                    input.clear();
                }
                is_input = false;
            }
            Kind::Input => match event.bytes.strip_prefix(b"E;") {
                Some(line) => {
                    let line = unescape_command_line(line);
                    told = Some(String::from_utf8_lossy(&line).into_owned());
                }
                None => is_input = true,
            },
            Kind::Output => {
                is_input = false;
                running = running.or(Some(event.micros));
            }
            Kind::Exit => {
                if let Some(start) = running.take() {
                    let code =
                        event.bytes.strip_prefix(b"D;").and_then(|code| str::from_utf8(code).ok());
                    let code = code.and_then(|code| code.split(';').next()?.parse().ok());
                    finish(start, Some(event.micros), code, &mut input, &mut told, &mut output);
                }
            }
        }
    }
    if let Some(start) = running {
        finish(start, None, None, &mut input, &mut told, &mut output);
    }
    if blocks.is_empty() { Err(visible(&all, size)) } else { Ok(blocks) }
}

/// The page, and how many lines of text it has.
pub fn page(
    record: &Record,
    content: &Result<Vec<Block>, String>,
    redaction: &mut Redaction,
) -> String {
    let mut body = String::new();
    let mut lines = 0;
    let _ = writeln!(body, "# Unterm session — {}\n", record.started_at);
    match content {
        Ok(blocks) => {
            for (number, block) in blocks.iter().enumerate() {
                let command = redaction.apply(&block.command).replace(['\n', '\r'], " ⏎ ");
                let tick = if command.contains('`') { "``" } else { "`" };
                let pad = if command.contains('`') { " " } else { "" };
                let _ =
                    writeln!(body, "## Block {} — {tick}{pad}{command}{pad}{tick}\n", number + 1);
                let _ = writeln!(body, "> {}\n", heading(block));
                lines += block.output.lines().count();
                fence(&mut body, &redaction.apply(&block.output));
            }
        }
        Err(text) => {
            body.push_str("> The shell did not mark its commands: this is all that was shown.\n\n");
            lines += text.lines().count();
            fence(&mut body, &redaction.apply(text));
        }
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let trace: Vec<_> = record.trace_ids.iter().map(|id| quoted(id)).collect();
    let mut page = String::from("---\n");
    let fields: [(&str, String); 18] = [
        ("unterm_session_id", quoted(&record.unterm_session_id)),
        ("tab_id", record.tab_id.to_string()),
        ("project_path", record.project_path.as_deref().map_or("null".into(), quoted)),
        ("project_slug", record.project_slug.as_deref().map_or("null".into(), quoted)),
        ("shell", quoted(&record.shell)),
        ("hostname", quoted(&record.hostname)),
        ("unterm_version", quoted(crate::VERSION)),
        ("started_at", quoted(&record.started_at)),
        ("ended_at", record.ended_at.as_deref().map_or("null".into(), quoted)),
        ("exit_reason", record.exit_reason.as_deref().map_or("null".into(), quoted)),
        ("osc133_active", content.is_ok().to_string()),
        ("block_count", content.as_ref().map_or(0, Vec::len).to_string()),
        ("total_lines", lines.to_string()),
        ("bytes_raw", record.bytes_raw.to_string()),
        ("trace_ids", format!("[{}]", trace.join(", "))),
        ("redaction_active", redaction.is_on().to_string()),
        ("redaction_count", redaction.count.to_string()),
        ("parent_session_id", record.parent_session_id.as_deref().map_or("null".into(), quoted)),
    ];
    for (name, value) in fields {
        let _ = writeln!(page, "{name}: {value}");
    }
    page.push_str("---\n\n");
    page + &body
}

/// `exit: 0 · 1.23s · HH:MM:SS`.
fn heading(block: &Block) -> String {
    let mut parts = vec![match block.exit_code {
        Some(code) => format!("exit: {code}"),
        None => "exit: unknown".to_owned(),
    }];
    if let (Some(start), Some(end)) = (block.start, block.end) {
        parts.push(format!("{:.2}s", end.saturating_sub(start) as f64 / 1e6));
    }
    if let Some(start) = block.start {
        parts.push(clock(start));
    }
    parts.join(" · ")
}

fn moment(micros: u64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// The time of day, UTC.
fn clock(micros: u64) -> String {
    let format = format_description!("[hour]:[minute]:[second]");
    moment(micros).format(&format).unwrap_or_default()
}

/// RFC 3339, UTC.
pub fn timestamp(micros: u64) -> String {
    moment(micros).format(&Rfc3339).unwrap_or_default()
}

/// Text between fences that it can't end.
fn fence(out: &mut String, text: &str) {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end_matches('\n');
    let _ = writeln!(out, "{fence}\n{text}{}{fence}\n", if text.is_empty() { "" } else { "\n" });
}
