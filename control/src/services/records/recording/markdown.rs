//! Renders a recording as markdown: front matter, and each command with its output.

use std::{borrow::Cow, fmt::Write};

use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};
use unterm_term::{Size, unescape_command_line};

use super::{
    log::{Event, EventKind},
    record::Record,
};
use crate::services::{
    records::redact::Redaction,
    shell::{
        kind::{Runs, Shell, as_given},
        output::{Shown, visible},
    },
};

/// A command in a recording.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The line that the shell reported. If it reported none, the typed line.
    pub command: String,
    /// The output as text.
    pub output: String,
    /// Whether the beginning of the output is gone.
    pub is_cut: bool,
    /// The exit code, if it was reported.
    pub exit_code: Option<i32>,
    /// When the command started, in microseconds since 1970.
    pub start: Option<u64>,
    /// When the command ended, in microseconds since 1970.
    pub end: Option<u64>,
}

/// The commands in a log of this shell. If the log marks no command, the `Err` value is all output as text.
pub fn blocks(events: &[Event], size: Size, shell: Option<Shell>) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut input, mut output, mut told) = (Vec::new(), Vec::new(), None);
    // `sent`: input since the running command started. `entered`: input before that.
    let (mut sent, mut entered): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    // A recording may start at a prompt whose mark is not in the log. So output before the first mark counts as the
    // echo of a line.
    let (mut is_input, mut running) = (true, None::<u64>);
    let mut all = Vec::new();
    let mut finish = |start: u64,
                      end,
                      exit_code,
                      input: &mut Vec<u8>,
                      told: &mut Option<String>,
                      output: &mut Vec<u8>,
                      entered: &[u8]| {
        let typed = visible(&std::mem::take(input), size).text;
        let line = told.take().unwrap_or(typed).trim().to_owned();
        let command = given(shell, entered, &line).unwrap_or(line);
        let Shown { text, is_cut } = visible(&std::mem::take(output), size);
        let output = as_given(&text, &[], Runs::Shown).into_owned();
        blocks.push(Block { command, output, is_cut, exit_code, start: Some(start), end });
    };
    for event in events {
        match event.kind {
            EventKind::Out => {
                if running.is_some() {
                    output.extend_from_slice(&event.bytes);
                } else if is_input {
                    input.extend_from_slice(&event.bytes);
                }
                all.extend_from_slice(&event.bytes);
            }
            // The log may contain input before the mark of the prompt at which it was typed.
            EventKind::In => sent.extend_from_slice(&event.bytes),
            EventKind::Prompt => {
                if let Some(start) = running.take() {
                    finish(start, None, None, &mut input, &mut told, &mut output, &entered);
                }
                // A continuation prompt does not start a new line of input.
                if !event.bytes.ends_with(b"k=s") {
                    input.clear();
                }
                is_input = false;
            }
            EventKind::Input => match event.bytes.strip_prefix(b"E;") {
                Some(line) => {
                    let line = unescape_command_line(line);
                    told = Some(String::from_utf8_lossy(&line).into_owned());
                }
                None => is_input = true,
            },
            EventKind::Output => {
                is_input = false;
                if running.is_none() {
                    running = Some(event.micros);
                    entered = std::mem::take(&mut sent);
                }
            }
            EventKind::Exit => {
                if let Some(start) = running.take() {
                    let code =
                        event.bytes.strip_prefix(b"D;").and_then(|code| str::from_utf8(code).ok());
                    let code = code.and_then(|code| code.split(';').next()?.parse().ok());
                    let end = Some(event.micros);
                    finish(start, end, code, &mut input, &mut told, &mut output, &entered);
                }
            }
        }
    }
    if let Some(start) = running {
        finish(start, None, None, &mut input, &mut told, &mut output, &entered);
    }
    if !blocks.is_empty() {
        return Ok(blocks);
    }
    Err(as_given(&visible(&all, size).text, &[], Runs::Shown).into_owned())
}

/// The original command of a line. `None` if the input that was entered last does not match the line.
fn given(shell: Option<Shell>, entered: &[u8], line: &str) -> Option<String> {
    if let Cow::Owned(command) = as_given(line, &[], Runs::Shown) {
        return Some(command);
    }
    let entered = str::from_utf8(entered.strip_suffix(b"\r")?).ok()?;
    let last = entered.rsplit(['\r', '\x03']).next()?;
    // The bytes before the line may be replies of the terminal.
    let typed = &last[last.find(" eval ")?..];
    let command = match shell {
        // The line may be for a shell behind ssh.
        Some(shell) => shell.given(typed).or_else(|| Shell::Unknown.given(typed)),
        // The shell was unknown when the recording started.
        None => [Shell::Bash, Shell::Fish].into_iter().find_map(|shell| shell.given(typed)),
    };
    let command = command?;
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    (squeezed(typed) == squeezed(line)).then_some(command)
}

/// Renders the page of a recording.
pub fn page(
    record: &Record,
    content: &Result<Vec<Block>, String>,
    redaction: &mut Redaction,
) -> String {
    let mut body = String::new();
    let mut lines = 0;
    let _ = writeln!(body, "# Unterm session — {}\n", record.started_at);
    if record.bytes_lost > 0 {
        let why = record.error.as_deref().unwrap_or("the disk was too slow");
        let _ = writeln!(body, "> {} bytes were not recorded: {why}.\n", record.bytes_lost);
    }
    match content {
        Ok(blocks) => {
            for (number, block) in blocks.iter().enumerate() {
                let command = redaction.apply(&block.command).replace(['\n', '\r'], " ⏎ ");
                let tick = if command.contains('`') { "``" } else { "`" };
                let pad = if command.contains('`') { " " } else { "" };
                let _ =
                    writeln!(body, "## Block {} — {tick}{pad}{command}{pad}{tick}\n", number + 1);
                let _ = writeln!(body, "> {}\n", heading(block));
                if block.is_cut {
                    body.push_str("> The beginning of the output is gone.\n\n");
                }
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

/// The heading of a block: `exit: 0 · 1.23s · HH:MM:SS`.
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

/// The time of day in UTC.
fn clock(micros: u64) -> String {
    let format = format_description!("[hour]:[minute]:[second]");
    moment(micros).format(&format).unwrap_or_default()
}

/// The time in RFC 3339, UTC.
pub fn timestamp(micros: u64) -> String {
    moment(micros).format(&Rfc3339).unwrap_or_default()
}

/// Appends text in a code fence that is longer than any run of backticks in the text.
fn fence(out: &mut String, text: &str) {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end_matches('\n');
    let _ = writeln!(out, "{fence}\n{text}{}{fence}\n", if text.is_empty() { "" } else { "\n" });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(sent: &str, line: &str) -> Vec<String> {
        let event = |kind, bytes: &str| Event { micros: 1, kind, bytes: bytes.into() };
        let events = [
            // The log contains this input before the mark of its prompt.
            event(EventKind::In, sent),
            event(EventKind::Prompt, "A"),
            event(EventKind::Input, "B"),
            event(EventKind::Out, line),
            event(EventKind::Output, "C"),
            event(EventKind::In, "for the program\r"),
            event(EventKind::Out, "out\r\n"),
            event(EventKind::Exit, "D;0"),
        ];
        let blocks = blocks(&events, Size::cells(20, 5), Some(Shell::Bash)).unwrap();
        blocks.into_iter().map(|block| block.command).collect()
    }

    #[test]
    fn a_recording_that_begins_at_a_prompt_has_the_first_command() {
        let event = |kind, bytes: &str| Event { micros: 1, kind, bytes: bytes.into() };
        let events = [
            event(EventKind::In, "ls\r"),
            event(EventKind::Out, "ls\r\n"),
            event(EventKind::Output, "C"),
            event(EventKind::Out, "file\r\n"),
            event(EventKind::Exit, "D;0"),
        ];
        let blocks = blocks(&events, Size::cells(20, 5), Some(Shell::Bash)).unwrap();
        assert_eq!((&*blocks[0].command, &*blocks[0].output), ("ls", "file\n"));
        // If a recording starts inside a command, the output of that command has no heading.
        let within = [event(EventKind::Out, "rest\r\n"), event(EventKind::Exit, "D;0")];
        let within: Vec<_> =
            within.into_iter().chain([event(EventKind::Prompt, "A")]).chain(events).collect();
        let blocks = super::blocks(&within, Size::cells(20, 5), Some(Shell::Bash)).unwrap();
        assert_eq!(blocks.len(), 1);
    }

    #[test]
    fn a_command_that_was_typed_for_a_caller_is_headed_as_given() {
        let line = " eval 'echo one; (echo two)'";
        assert_eq!(commands(&format!("{line}\r"), line), ["echo one; (echo two)"]);
        assert_eq!(
            commands(&format!("ls\rrm\x03\x1b[1;2R{line}\r"), line),
            ["echo one; (echo two)"]
        );
        // The user typed this `eval`, so it stays unchanged.
        let own = "eval 'echo one; (echo two)'";
        assert_eq!(commands(&format!("{own}\r"), own), [own]);
        assert_eq!(commands(&format!("{line}\r"), "ls"), ["ls"]);
    }
}
