//! `unterm-cli search`: finds a text in the panes of all running instances, and in recordings.

use std::{path::Path, process::ExitCode};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use unterm_control::{
    Record,
    client::Client,
    methods::{
        blocks::{Diff, DiffParams, DiffReply},
        search_all::{FoundLine, SearchAll, SearchAllParams, SearchAllReply},
    },
};

use crate::cli::{
    fields, instances,
    report::{complain, write_out},
};

/// The options of a search.
#[derive(Args)]
pub struct SearchCommand {
    /// Text to find; after `--` it can start with a dash.
    pub pattern: String,
    /// Treat the text as a regular expression.
    #[arg(long)]
    pub regex: bool,
    /// Ignore case.
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Also search the recordings of panes that were closed.
    #[arg(long)]
    pub recorded: bool,
    /// Number of lines to print.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub limit: u64,
    /// Focus the pane of the newest line, and bring its window to the front.
    #[arg(long)]
    pub focus: bool,
    /// Compare the output of the command that printed the newest line with the output of its previous run.
    #[arg(long, conflicts_with = "focus")]
    pub diff_last: bool,
}

/// A line, and the instance that found it.
#[derive(Serialize)]
struct Listed {
    /// The instance. Absent for a recording, because every instance finds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    #[serde(flatten)]
    line: FoundLine,
}

/// A search in these instances.
pub struct Search<'a> {
    /// Unterm's home directory.
    pub home: &'a Path,
    /// The name of the only instance to search.
    pub instance: Option<&'a str>,
    /// Whether to print JSON.
    pub json: bool,
}

impl Search<'_> {
    /// Prints the lines with a match, newest first. Exits with status 1 if there are none, like grep.
    pub fn run(&self, command: &SearchCommand) -> Result<ExitCode> {
        let (found, is_whole) = self.all(command)?;
        if command.diff_last {
            return self.diff(&found);
        }
        if command.focus {
            self.focus(&found)?;
        }
        let lines: Vec<_> = found.iter().map(|(listed, _)| listed).collect();
        write_out(&match self.json {
            true => {
                serde_json::to_string_pretty(&json!({"matches": lines, "complete": is_whole}))?
                    + "\n"
            }
            false => table(&lines),
        })?;
        if !is_whole {
            complain("there are more lines than were searched or printed");
        }
        Ok(if lines.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// The lines of all instances, newest first, each with its instance, and whether nothing is missing.
    fn all(&self, command: &SearchCommand) -> Result<(Vec<(Listed, Record)>, bool)> {
        let records = instances::chosen(self.home, self.instance)?;
        if records.is_empty() {
            bail!("no Unterm is running");
        }
        let (mut all, mut is_whole) = (Vec::new(), true);
        for (at, record) in records.iter().enumerate() {
            // All instances share the recordings, so search them only once.
            let recorded = command.recorded && at == 0;
            let params = SearchAllParams {
                pattern: command.pattern.clone().into(),
                regex: command.regex.into(),
                ignore_case: command.ignore_case.into(),
                max_results: command.limit.into(),
                recorded: recorded.into(),
            };
            match ask(record, params) {
                Ok(reply) => {
                    is_whole &= reply.complete && !reply.more;
                    all.extend(reply.matches.into_iter().map(|line| {
                        let instance = line.session.map(|_| record.id.clone());
                        (Listed { instance, line }, record.clone())
                    }));
                }
                // An invalid pattern is invalid in every instance, so fail at once.
                Err(error) if records.len() == 1 => return Err(error),
                Err(error) => complain(&format!("{}: {error:#}", record.id)),
            }
        }
        // Times are texts of one format, and sort as such. A line without a time comes last.
        all.sort_by(|(one, _), (other, _)| other.line.time.cmp(&one.line.time));
        let limit = usize::try_from(command.limit).unwrap_or(usize::MAX);
        is_whole &= all.len() <= limit;
        all.truncate(limit);
        Ok((all, is_whole))
    }

    /// Focuses the pane of the newest line.
    fn focus(&self, found: &[(Listed, Record)]) -> Result<()> {
        let in_pane =
            |(listed, record): &(Listed, Record)| Some((listed.line.session?, record.clone()));
        let Some((session, record)) = found.iter().find_map(in_pane) else {
            bail!("no pane shows this text");
        };
        instances::focus(record, Some(session))
    }

    /// Prints the differences between the output of the newest line's command and the output of its previous run.
    fn diff(&self, found: &[(Listed, Record)]) -> Result<ExitCode> {
        let of_command = |(listed, record): &(Listed, Record)| {
            Some((listed.line.session?, listed.line.block?, record.clone()))
        };
        let Some((session, block, record)) = found.iter().find_map(of_command) else {
            bail!("no command in a pane has printed this text");
        };
        let client = Client::connect_to(&record.into())?;
        let reply: DiffReply =
            client.call::<Diff>(DiffParams { block: block.into(), ..DiffParams::of(session) })?;
        write_out(&match self.json {
            true => serde_json::to_string_pretty(&reply)? + "\n",
            false => differences(session, &reply),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Searches one instance.
fn ask(record: &Record, params: SearchAllParams<'_>) -> Result<SearchAllReply> {
    let client = Client::connect_to(&record.clone().into())?;
    Ok(client.call::<SearchAll>(params)?)
}

/// The differences between two runs, as text.
fn differences(session: u64, reply: &DiffReply) -> String {
    let run = |block: &unterm_control::methods::blocks::Block| {
        let code = block.exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
        let time = block.ended_at.as_deref().map_or_else(String::new, |at| format!(", {at}"));
        format!("pane {session}, command {}{code}{time}\n", block.block)
    };
    let mut text = format!("--- {}+++ {}", run(&reply.with), run(&reply.block));
    for line in &reply.lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn table(lines: &[&Listed]) -> String {
    let head = ["INSTANCE", "PANE", "TIME", "EXIT", "COMMAND", "LINE"].map(str::to_owned);
    let rows = lines.iter().map(|Listed { instance, line }| {
        let place = line.session.map(|id| id.to_string()).or(line.recording.clone());
        let word = |word: Option<String>| word.unwrap_or_else(|| "-".to_owned());
        vec![
            word(instance.clone()),
            word(place),
            word(line.time.clone()),
            word(line.exit_code.map(|code| code.to_string())),
            word(line.command.clone()),
            line.text.clone(),
        ]
    });
    fields::table(&head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_with_its_command() {
        let of_pane = Listed {
            instance: Some("alpha".to_owned()),
            line: FoundLine {
                session: Some(3),
                text: "error: no".to_owned(),
                command: Some("make".to_owned()),
                exit_code: Some(2),
                time: Some("2026-11-29T10:00:01.000Z".to_owned()),
                ..FoundLine::default()
            },
        };
        let recorded = Listed {
            instance: None,
            line: FoundLine {
                recording: Some("5f".to_owned()),
                text: "error".to_owned(),
                ..FoundLine::default()
            },
        };
        assert_eq!(
            table(&[&of_pane, &recorded]),
            "INSTANCE  PANE  TIME                      EXIT  COMMAND  LINE\n\
             alpha     3     2026-11-29T10:00:01.000Z  2     make     error: no\n\
             -         5f    -                         -     -        error\n"
        );
    }
}
