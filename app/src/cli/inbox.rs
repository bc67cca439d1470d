//! `unterm-cli inbox`: everything that needs the user, in all instances of this machine.

mod answer;

use std::{
    collections::HashMap,
    io::{ErrorKind, Write as _},
    path::Path,
    process::ExitCode,
    sync::mpsc::channel,
    thread,
};

use anyhow::{Result, bail};
use clap::Subcommand;
use serde_json::json;
use unterm_control::{
    Record,
    client::{self, Client},
    methods::inbox::{List, ListParams},
};

pub use self::answer::OneInbox;
use self::answer::{GivenAnswer, milliseconds};
use crate::{
    cli::{
        fields, instances,
        program_name::NAME,
        report::{complain, write_out},
    },
    inboxes::{Change, Inboxes, Listed},
};

/// Commands about the inbox.
#[derive(Subcommand)]
pub enum InboxCommand {
    /// Focus the pane of the newest entry, and bring its window to the front.
    Next,
    /// Show the question of a pane's program, and the choices that its screen offers.
    Show {
        /// The pane.
        pane: u64,
    },
    /// Answer the question of a pane's program, without focusing the pane.
    ///
    /// Types nothing if the question has changed since it was shown. Refused for agents, and for programs in that pane.
    Answer(GivenAnswer),
    /// Remove an entry, until its question changes or is asked again.
    Dismiss {
        /// Entry: the number of its pane, or its key.
        entry: String,
    },
    /// Remove an entry for a time.
    Snooze {
        /// Entry: the number of its pane, or its key.
        entry: String,
        /// Time, such as 90s, 10m, 2h or 1d.
        #[arg(value_parser = milliseconds, default_value = "10m")]
        time: u64,
    },
    /// List a dismissed or snoozed entry again.
    Restore {
        /// Entry: the number of its pane, or its key.
        entry: String,
    },
}

/// How the inbox is shown.
pub struct Inbox<'a> {
    /// Unterm's home directory.
    pub home: &'a Path,
    /// The name of the only instance to ask.
    pub instance: Option<&'a str>,
    /// Whether to list entries that were dismissed or snoozed, too.
    pub all: bool,
    /// Whether to print JSON.
    pub json: bool,
}

impl Inbox<'_> {
    /// Prints the entries, newest first.
    pub fn list(&self) -> Result<ExitCode> {
        let entries: Vec<_> = self.all()?.into_iter().map(|(listed, _)| listed).collect();
        write_out(&match self.json {
            true => serde_json::to_string_pretty(&json!({ "entries": entries }))? + "\n",
            false => table(&entries),
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints each entry as it appears, one per line, until standard output is closed.
    pub fn watch(&self) -> Result<ExitCode> {
        let only = match self.instance {
            Some(name) => Some(client::find_by_name(self.home, name)?),
            None => None,
        };
        let inboxes = Inboxes::new(self.home, NAME).only(only);
        let (sender, changes) = channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // The sender is dropped with the future, which ends the loop below.
        let following = thread::spawn(move || {
            runtime.block_on(inboxes.follow(move |change| drop(sender.send(change))))
        });
        let mut present: HashMap<String, Vec<Listed>> = HashMap::new();
        let mut out = std::io::stdout().lock();
        for change in changes {
            let (instance, now) = match change {
                Change::Entries(instance, now) => (instance, now),
                Change::Ended(instance) => {
                    present.remove(&instance);
                    continue;
                }
                Change::Unreachable(instance, why) => {
                    complain(&format!("{instance}: {why}"));
                    continue;
                }
            };
            let before = present.insert(instance, now.clone()).unwrap_or_default();
            // The newest entry is printed last.
            let is_new = |it: &&Listed| !before.iter().any(|other| it.is_same(other));
            for listed in now.iter().rev().filter(is_new) {
                let line = self.line(listed)?;
                match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                        return Ok(ExitCode::SUCCESS);
                    }
                    written => written?,
                }
            }
        }
        match following.join() {
            Ok(followed) => followed.map(|()| ExitCode::SUCCESS),
            Err(_) => bail!("the thread that follows the inboxes has failed"),
        }
    }

    /// Focuses the pane of the newest entry.
    pub fn next(&self) -> Result<ExitCode> {
        let Some((listed, record)) = self.all()?.into_iter().next() else {
            bail!("nothing needs you");
        };
        instances::focus(record, listed.entry.session)?;
        write_out(&self.line(&listed)?)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The entries of all instances, each with its instance, newest first. An entry without a time comes last.
    fn all(&self) -> Result<Vec<(Listed, Record)>> {
        let mut all = Vec::new();
        for record in instances::chosen(self.home, self.instance)? {
            match entries(&record, self.all) {
                Ok(listed) => all.extend(listed.into_iter().map(|it| (it, record.clone()))),
                Err(error) => refused(&record.id, &error),
            }
        }
        all.sort_by(|(one, _), (other, _)| other.entry.since.cmp(&one.entry.since));
        Ok(all)
    }

    /// An entry as a line.
    fn line(&self, listed: &Listed) -> Result<String> {
        Ok(match self.json {
            true => serde_json::to_string(listed)? + "\n",
            false => row(listed).join("  ") + "\n",
        })
    }
}

/// The entries of one instance, newest first.
fn entries(record: &Record, all: bool) -> Result<Vec<Listed>> {
    let client = Client::connect_to(&record.clone().into())?;
    let params = ListParams { all: all.then_some(true).into(), ..ListParams::default() };
    Ok(Listed::of(&record.id, client.call::<List>(params)?.entries))
}

/// Notes that an instance could not be asked.
fn refused(instance: &str, error: &anyhow::Error) {
    complain(&format!("{instance}: {error:#}"));
}

fn table(entries: &[Listed]) -> String {
    let head = ["INSTANCE", "PANE", "TITLE", "KIND", "SINCE", "QUESTION"].map(str::to_owned);
    fields::table(&head, entries.iter().map(|listed| row(listed).into()))
}

fn row(Listed { instance, entry }: &Listed) -> [String; 6] {
    [
        instance.clone(),
        entry.session.map_or_else(|| "-".to_owned(), |id| id.to_string()),
        entry.title.clone(),
        entry.kind.map_or("-", |kind| kind.name()).to_owned(),
        entry.since.clone().unwrap_or_else(|| "-".to_owned()),
        entry.question.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(instance: &str, session: u64, since: Option<&str>) -> Listed {
        let entry = json!({"session": session, "title": "make", "kind": "password",
            "question": "Password:", "source": "password", "since": since});
        let entry = serde_json::from_value(entry).unwrap();
        Listed { instance: instance.to_owned(), entry }
    }

    #[test]
    fn an_entry_names_its_instance_and_is_the_same_at_any_time() {
        let entries = [listed("bravo", 3, Some("2026-11-29T10:00:01.000Z"))];
        let expected = "INSTANCE  PANE  TITLE  KIND      SINCE                     QUESTION\n\
            bravo     3     make   password  2026-11-29T10:00:01.000Z  Password:\n";
        assert_eq!(table(&entries), expected);
        let one = listed("a", 1, None);
        assert!(one.is_same(&listed("a", 1, Some("2026-11-29T10:00:00.000Z"))));
        assert!(!one.is_same(&listed("b", 1, None)));
    }
}
