//! `unterm-cli inbox`: everything that needs the user, in all instances of this machine.

mod answer;

use std::{
    collections::{HashMap, HashSet},
    io::{ErrorKind, Write as _},
    path::Path,
    process::ExitCode,
    sync::mpsc::{Sender, channel},
    thread,
};

use anyhow::{Result, bail};
use clap::Subcommand;
use notify::{RecursiveMode, Watcher};
use serde::Serialize;
use serde_json::json;
use unterm_control::{
    Record,
    client::{self, Client},
    methods::inbox::{Entry, List, ListParams, ListReply},
};

pub use self::answer::OneInbox;
use self::answer::{GivenAnswer, milliseconds};
use crate::cli::{
    fields, instances,
    report::{complain, write_out},
};

/// The longest that one call waits for a change, in milliseconds.
const WAIT: u64 = 60_000;

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
    /// Answer the question of a pane's program, without going there.
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
    /// List an entry again that was dismissed or snoozed.
    Restore {
        /// Entry: the number of its pane, or its key.
        entry: String,
    },
}

/// An entry, and the instance that it belongs to.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize)]
struct Listed {
    instance: String,
    #[serde(flatten)]
    entry: Entry,
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
        let (sender, news) = channel();
        // A new instance writes a file to this folder. Reading the files is an event, too, which must not count.
        let folder = client::instances_folder(self.home);
        unterm_mux::private::create_folder(&folder)?;
        let started = sender.clone();
        let look = move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let _ = started.send(News::Instances);
            }
        };
        let mut watcher = notify::recommended_watcher(look)?;
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        sender.send(News::Instances)?;
        let mut followed = HashSet::new();
        let mut present: HashMap<String, Vec<Listed>> = HashMap::new();
        let mut out = std::io::stdout().lock();
        for news in news {
            match news {
                News::Instances => {
                    for record in instances::chosen(self.home, self.instance).unwrap_or_default() {
                        if followed.insert(record.id.clone()) {
                            let sender = sender.clone();
                            thread::spawn(move || follow(&record, &sender));
                        }
                    }
                }
                News::Ended(instance) => {
                    followed.remove(&instance);
                    present.remove(&instance);
                }
                News::Inbox(instance, reply) => {
                    let now = of(&instance, reply);
                    let before = present.insert(instance, now.clone()).unwrap_or_default();
                    // The newest entry is printed last.
                    let is_new = |it: &&Listed| !before.iter().any(|other| same(it, other));
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
            }
        }
        Ok(ExitCode::SUCCESS)
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

/// What the threads of a watch report.
enum News {
    /// Instances may have started.
    Instances,
    /// The inbox of an instance has changed.
    Inbox(String, ListReply),
    /// An instance has ended.
    Ended(String),
}

/// Sends the inbox of an instance at each change, until the instance ends. An instance that can't be asked, for example
/// because it is of an earlier version, is left out.
fn follow(record: &Record, news: &Sender<News>) {
    let failed = follow_to_the_end(record, news).err();
    if !record.is_live() {
        let _ = news.send(News::Ended(record.id.clone()));
    } else if let Some(error) = failed {
        refused(&record.id, &error);
    }
}

fn follow_to_the_end(record: &Record, news: &Sender<News>) -> Result<()> {
    let client = Client::connect_to(&record.clone().into())?;
    let mut version: Option<String> = None;
    loop {
        let timeout_ms = version.is_some().then_some(WAIT).into();
        let reply = client.call::<List>(ListParams {
            version: version.clone().into(),
            timeout_ms,
            ..ListParams::default()
        })?;
        if version.replace(reply.version.clone()).as_ref() != Some(&reply.version) {
            news.send(News::Inbox(record.id.clone(), reply))?;
        }
    }
}

/// The entries of one instance, newest first.
fn entries(record: &Record, all: bool) -> Result<Vec<Listed>> {
    let client = Client::connect_to(&record.clone().into())?;
    let params = ListParams { all: all.then_some(true).into(), ..ListParams::default() };
    Ok(of(&record.id, client.call::<List>(params)?))
}

/// Notes that an instance could not be asked.
fn refused(instance: &str, error: &anyhow::Error) {
    complain(&format!("{instance}: {error:#}"));
}

fn of(instance: &str, reply: ListReply) -> Vec<Listed> {
    let listed = |entry| Listed { instance: instance.to_owned(), entry };
    reply.entries.into_iter().map(listed).collect()
}

/// Whether two entries are about the same thing. Titles can move, and the time of a program's own question is that of its
/// last output.
fn same(one: &Listed, other: &Listed) -> bool {
    let asked = |Listed { instance, entry }: &Listed| {
        let Entry { session, kind, question, source, number, .. } = entry;
        (instance.clone(), *session, *kind, question.clone(), *source, *number)
    };
    asked(one) == asked(other)
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
        assert!(same(&listed("a", 1, None), &listed("a", 1, Some("2026-11-29T10:00:00.000Z"))));
        assert!(!same(&listed("a", 1, None), &listed("b", 1, None)));
    }
}
