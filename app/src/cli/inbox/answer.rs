//! `unterm-cli inbox show`, `answer`, `dismiss`, `snooze` and `restore`, on one instance.
//!
//! An answer names the dialog that the user has seen. Without `--dialog`, this command shows the dialog itself and reads
//! the answer from the terminal.

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use unterm_control::{
    client::Client,
    methods::{
        Method,
        inbox::{
            Answer, AnswerParams, AnswerReply, Dismiss, Entry, KeyParams, List, ListParams,
            Restore, Show, ShowReply, Snooze, SnoozeParams,
        },
        params::SessionOnly,
    },
};

use crate::cli::report::{complain, write_out};

/// An answer on the command line.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The pane.
    pub pane: u64,
    /// `approve`, `deny` or the number of a choice [default: show the question, and read the answer].
    #[arg(conflicts_with_all = ["text", "keys"])]
    pub answer: Option<String>,
    /// Line to type instead. Enter is pressed after it.
    #[arg(long, value_name = "LINE", conflicts_with = "keys", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Keys to press instead, such as esc or down; repeatable.
    #[arg(long, value_name = "KEY")]
    pub keys: Vec<String>,
    /// Dialog to answer, as `inbox show` prints it. If the question has changed since, nothing is typed.
    #[arg(long)]
    pub dialog: Option<String>,
}

/// An answer of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reply {
    Wish(&'static str),
    Choice(u64),
    Text(String),
    Keys(Vec<String>),
}

impl Reply {
    /// Parses a word: `approve`, `deny` or the number of a choice.
    fn of_word(word: &str) -> Result<Self> {
        match word {
            "approve" => Ok(Self::Wish("approve")),
            "deny" => Ok(Self::Wish("deny")),
            number => number.parse().map(Self::Choice).ok().with_context(|| {
                format!("the answer must be approve, deny or the number of a choice, not {word:?}")
            }),
        }
    }

    /// Parses a line that the user entered. `None` if the line is empty.
    fn of_line(line: &str) -> Result<Option<Self>> {
        let line = line.trim();
        Ok(match line.split_once(' ') {
            _ if line.is_empty() => None,
            Some(("text", text)) => Some(Self::Text(text.to_owned())),
            Some(("keys", keys)) => {
                Some(Self::Keys(keys.split_whitespace().map(str::to_owned).collect()))
            }
            _ => Some(Self::of_word(line)?),
        })
    }

    fn of_arguments(given: &GivenAnswer) -> Result<Option<Self>> {
        Ok(match (&given.answer, &given.text, given.keys.is_empty()) {
            (Some(word), ..) => Some(Self::of_word(word)?),
            (None, Some(text), _) => Some(Self::Text(text.clone())),
            (None, None, false) => Some(Self::Keys(given.keys.clone())),
            (None, None, true) => None,
        })
    }

    fn params(&self, pane: u64, dialog: &str) -> AnswerParams<'static> {
        let params = AnswerParams { dialog: dialog.to_owned().into(), ..AnswerParams::of(pane) };
        match self {
            Self::Wish(wish) => AnswerParams { answer: (*wish).into(), ..params },
            Self::Choice(number) => AnswerParams { choice: (*number).into(), ..params },
            Self::Text(text) => AnswerParams { text: text.clone().into(), ..params },
            Self::Keys(keys) => AnswerParams { keys: keys.clone().into(), ..params },
        }
    }
}

/// The inbox of one instance.
pub struct OneInbox<'a> {
    pub client: &'a Client,
    /// Whether to print JSON.
    pub json: bool,
}

impl OneInbox<'_> {
    /// Prints the question of a pane's program.
    pub fn show(&self, pane: u64) -> Result<ExitCode> {
        let shown = self.client.call::<Show>(SessionOnly::of(pane))?;
        self.print(&shown, &text(&shown))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Answers the question of a pane's program.
    pub fn answer(&self, given: &GivenAnswer) -> Result<ExitCode> {
        let reply = Reply::of_arguments(given)?;
        let (reply, dialog) = match (reply, &given.dialog) {
            (Some(reply), Some(dialog)) => (reply, dialog),
            (None, Some(_)) => {
                bail!("give an answer to the dialog: approve, deny, a number, --text or --keys")
            }
            (reply, None) => return self.converse(given.pane, reply),
        };
        let answered = self.client.call::<Answer>(reply.params(given.pane, dialog))?;
        self.print(&answered, &answered.shown.as_ref().map(text).unwrap_or_default())?;
        Ok(match answered.reason {
            None => ExitCode::SUCCESS,
            Some(reason) => {
                complain(&format!("nothing was typed: {reason}"));
                ExitCode::FAILURE
            }
        })
    }

    /// Shows the question on the terminal and reads the answer there, until an answer was typed or the user leaves the
    /// question. `reply`: the answer on the command line, which the user must confirm.
    fn converse(&self, pane: u64, reply: Option<Reply>) -> Result<ExitCode> {
        if !std::io::stdin().is_terminal() || self.json {
            bail!(
                "name the dialog that you answer with --dialog, as `unterm-cli inbox show {pane}` prints it"
            );
        }
        let mut shown = self.client.call::<Show>(SessionOnly::of(pane))?;
        loop {
            write_out(&text(&shown))?;
            let Some(reply) = ask(reply.as_ref())? else { return Ok(ExitCode::FAILURE) };
            let answered: AnswerReply =
                self.client.call::<Answer>(reply.params(pane, &shown.dialog))?;
            let Some(reason) = answered.reason else { return Ok(ExitCode::SUCCESS) };
            complain(&format!("nothing was typed: {reason}"));
            match answered.shown {
                Some(present) => shown = present,
                None => return Ok(ExitCode::FAILURE),
            }
        }
    }

    /// Removes an entry from the inbox. `entry`: its key, or the number of its pane.
    pub fn dismiss(&self, entry: &str) -> Result<ExitCode> {
        self.put_aside::<Dismiss>(entry, |key| KeyParams { key: key.into() })
    }

    /// Removes an entry from the inbox for some milliseconds.
    pub fn snooze(&self, entry: &str, time: u64) -> Result<ExitCode> {
        self.put_aside::<Snooze>(entry, |key| SnoozeParams {
            key: key.into(),
            duration_ms: time.into(),
        })
    }

    /// Lists an entry of the inbox again.
    pub fn restore(&self, entry: &str) -> Result<ExitCode> {
        self.put_aside::<Restore>(entry, |key| KeyParams { key: key.into() })
    }

    fn put_aside<M: Method>(
        &self,
        entry: &str,
        params: impl Fn(String) -> M::Params<'static>,
    ) -> Result<ExitCode>
    where
        for<'p> M::Params<'p>: Serialize,
    {
        let list = ListParams { all: true.into(), ..ListParams::default() };
        let entries = self.client.call::<List>(list)?.entries;
        let found: Vec<_> = entries.iter().filter(|it| is_named(it, entry)).collect();
        if found.is_empty() {
            bail!("the inbox has no entry {entry:?}");
        }
        let mut reply = Value::Null;
        for entry in found {
            reply = self.client.call_by_name(M::NAME, params(entry.key.clone()))?;
        }
        self.print(&reply, "")?;
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, reply: &impl Serialize, text: &str) -> Result<()> {
        match self.json {
            true => write_out(&(serde_json::to_string_pretty(reply)? + "\n")),
            false => write_out(text),
        }
    }
}

/// Whether a word names an entry: by its key, or by the number of its pane.
fn is_named(entry: &Entry, word: &str) -> bool {
    entry.key == word || entry.session.is_some_and(|id| word == id.to_string())
}

/// Asks for an answer on the terminal. `None` if the user leaves the question.
fn ask(given: Option<&Reply>) -> Result<Option<Reply>> {
    loop {
        let prompt = match given {
            Some(_) => "Give this answer? [y/N] ",
            None => "Answer (approve, deny, a number, `text …` or `keys …`; Enter leaves it): ",
        };
        let mut out = std::io::stdout().lock();
        out.write_all(prompt.as_bytes()).and_then(|()| out.flush())?;
        drop(out);
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if let Some(given) = given {
            let is_confirmed = ["y", "yes"].contains(&&*line.trim().to_lowercase());
            return Ok(is_confirmed.then(|| given.clone()));
        }
        match Reply::of_line(&line) {
            Ok(reply) => return Ok(reply),
            Err(error) => complain(&error.to_string()),
        }
    }
}

/// A question as text.
fn text(shown: &ShowReply) -> String {
    let mut text = String::new();
    for row in &shown.rows {
        text.push_str(row);
        text.push('\n');
    }
    let kind = shown.kind.map_or_else(String::new, |kind| format!("{}: ", kind.name()));
    text.push_str(&format!("\n{kind}{}\n", shown.question));
    for choice in &shown.choices {
        text.push_str(&format!("  {}  {}\n", choice.number, choice.label));
    }
    text.push_str(&format!("dialog {}\n", shown.dialog));
    text
}

/// Parses a time such as `90s`, `10m`, `2h` or `1d`. Returns milliseconds.
pub fn milliseconds(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("the time must be a number with s, m, h or d, such as 10m, not {text:?}");
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let factor: u64 = match unit {
        's' => 1000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    number.checked_mul(factor).filter(|time| *time > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_an_answer_or_leaves_the_question() {
        let of = |line: &str| Reply::of_line(line).ok();
        assert_eq!(of("  \n"), Some(None));
        assert_eq!(of("approve\n"), Some(Some(Reply::Wish("approve"))));
        assert_eq!(of("2"), Some(Some(Reply::Choice(2))));
        assert_eq!(of("text no, use main"), Some(Some(Reply::Text("no, use main".to_owned()))));
        let keys = ["down".to_owned(), "enter".to_owned()].to_vec();
        assert_eq!(of("keys down  enter"), Some(Some(Reply::Keys(keys))));
        assert_eq!(of("yes"), None, "a word that could be an answer to type");
        assert_eq!(of("-1"), None);
    }

    #[test]
    fn times_have_a_unit_and_a_size() {
        assert_eq!(milliseconds("90s"), Ok(90_000));
        assert_eq!(milliseconds("10m"), Ok(600_000));
        assert_eq!(milliseconds("1d"), Ok(86_400_000));
        for wrong in [
            "",
            "m",
            "10",
            "0m",
            "-1m",
            "1.5h",
            "10ｍ",
            "99999999999999999999d",
            "18446744073709551615d",
        ] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_question_is_shown_with_its_choices() {
        let shown: ShowReply = serde_json::from_value(json!({
            "id": 3, "dialog": "9f", "kind": "permission", "question": "Run it?", "seq": 7,
            "rows": ["Run it?", "> 1. Yes", "  2. No"],
            "choices": [{"number": 1, "label": "Yes"}, {"number": 2, "label": "No"}],
        }))
        .unwrap();
        assert_eq!(
            text(&shown),
            "Run it?\n> 1. Yes\n  2. No\n\npermission: Run it?\n  1  Yes\n  2  No\ndialog 9f\n"
        );
    }
}
