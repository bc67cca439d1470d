//! Errors as the user reads them in a terminal: only the message, in the words of the window.
//!
//! On the wire, a pane is called "session", and an error contains the method and a code. Programs receive this form
//! unchanged: with `--json`, or if standard error is not a terminal.

use std::{io::IsTerminal as _, sync::OnceLock};

use regex_automata::meta::Regex;
use unterm_control::{Error, METHODS, client::ClientError, did_you_mean};

use crate::plain_words;

/// The text of an error that is printed to standard error.
pub fn error_text(error: &anyhow::Error, json: bool) -> String {
    match json || !std::io::stderr().is_terminal() {
        true => with_causes(error),
        false => for_users(error),
    }
}

/// The message of an error and of its causes. A cause that the message before it already contains is not repeated.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        match text.is_empty() {
            true => text = cause,
            false if text.ends_with(&cause) => {}
            false => text = format!("{text}: {cause}"),
        }
    }
    text
}

fn for_users(error: &anyhow::Error) -> String {
    let refused = match error.downcast_ref() {
        Some(Error::Remote(refused)) => Some(refused),
        _ => error.downcast_ref::<ClientError>(),
    };
    match refused {
        Some(ClientError::Call { message, .. }) => in_words(&plainly(message)),
        _ => in_words(&plainly(&without_number(&with_causes(error)))),
    }
}

/// Removes the number that the standard library adds to a message of the system: `No such file (os error 2)`.
fn without_number(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.push_str(rest);
            }
            _ => {
                text.push_str(" (os error ");
                text.push_str(part);
            }
        }
    }
    text
}

/// Replaces a parser's message at the end of a message by a sentence, and suggests a similar method if the message is
/// about an unknown one.
fn plainly(message: &str) -> String {
    const RAW: [&str; 6] = [
        "invalid type: ",
        "invalid value: ",
        "missing field `",
        "duplicate field `",
        "unknown field `",
        "unknown variant `",
    ];
    if let Some(wrong) = message.strip_prefix("Unknown method: ") {
        let hint = did_you_mean(wrong, METHODS.iter().map(|entry| entry.name));
        return format!("{message}{hint}");
    }
    match RAW.iter().filter_map(|raw| message.find(raw)).min() {
        Some(at) => message[..at].to_owned() + &plain_words::of_file(&message[at..]),
        None => message.to_owned(),
    }
}

/// Replaces words of the wire in a message by the words of the window.
fn in_words(message: &str) -> String {
    static MISSING: OnceLock<Option<Regex>> = OnceLock::new();
    static SESSION: OnceLock<Option<Regex>> = OnceLock::new();
    let missing = MISSING.get_or_init(|| Regex::new(r"^Session (\d+) not found$").ok());
    if let Some(found) = missing.as_ref().and_then(|regex| {
        let mut captures = regex.create_captures();
        regex.captures(message, &mut captures);
        captures.get_group(1)
    }) {
        return format!("pane {} does not exist", &message[found.range()]);
    }
    // The names of methods, commands and parameters are not changed: `session.create`, `session_id`, `unterm-cli
    // session`.
    let session = SESSION.get_or_init(|| Regex::new(r"\b[Ss]ession(s?)\b").ok());
    let Some(session) = session else { return message.to_owned() };
    let (mut text, mut done) = (String::new(), 0);
    for found in session.find_iter(message) {
        let after = message[found.end()..].chars().next();
        let before = &message[..found.start()];
        let is_name = after == Some('.')
            && message[found.end() + 1..].starts_with(char::is_alphabetic)
            || after.is_some_and(|c| matches!(c, '_' | '\''))
            || before.ends_with("unterm-cli ")
            || before.ends_with(['\'', '_', '.', '-', '/']);
        text.push_str(&message[done..found.start()]);
        let word = &message[found.range()];
        match is_name {
            true => text.push_str(word),
            false => {
                text.push_str(if word.starts_with('S') { "Pane" } else { "pane" });
                text.push_str(if word.ends_with('s') { "s" } else { "" });
            }
        }
        done = found.end();
    }
    text.push_str(&message[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(message: &str) -> anyhow::Error {
        let (method, message) = ("session.status".to_owned(), message.to_owned());
        Error::from(ClientError::Call { method, code: -32603, message }).into()
    }

    #[test]
    fn users_read_the_message_in_the_words_of_the_window() {
        for (message, text) in [
            ("Session 9 not found", "pane 9 does not exist"),
            ("Block 4 of session 9 not found", "Block 4 of pane 9 not found"),
            ("Missing 'name'", "Missing 'name'"),
            (
                "several sessions are open; see session.list or `unterm-cli session list`",
                "several panes are open; see session.list or `unterm-cli session list`",
            ),
            (
                "Unknown parameter 'session_id' of session 3.",
                "Unknown parameter 'session_id' of pane 3.",
            ),
            ("The obsession of Sessions", "The obsession of Panes"),
            (
                "Invalid params: invalid type: string \"x\", expected u64",
                "Invalid params: it must be a whole number of at least 0, not \"x\"",
            ),
            (
                "Invalid policy: missing field `enabled`",
                "Invalid policy: the key \"enabled\" is missing",
            ),
            (
                "Unknown method: sesion.list",
                "Unknown method: sesion.list; did you mean \"session.list\"?",
            ),
        ] {
            assert_eq!(for_users(&call(message)), text);
            assert_eq!(for_users(&anyhow::anyhow!(message.to_owned())), text);
        }
    }

    #[test]
    fn a_cause_is_shown_once_and_without_its_number() {
        let missing = || std::io::Error::from_raw_os_error(2);
        let lost: anyhow::Error = Error::from(ClientError::from(missing())).into();
        let text = "the connection to Unterm was lost: No such file or directory";
        assert_eq!(for_users(&lost), text);
        assert_eq!(error_text(&lost, true), format!("{text} (os error 2)"));
        let read = anyhow::Error::from(missing()).context("a.conf").context("cannot import");
        assert_eq!(for_users(&read), "cannot import: a.conf: No such file or directory");
        for other in ["1 (os error ", "1 (os error x) 2", "1 (os error 2"] {
            assert_eq!(without_number(other), other);
        }
    }

    #[test]
    fn programs_read_the_documented_form() {
        let error = call("Session 9 not found");
        let form = "MCP session.status failed [-32603]: Session 9 not found";
        assert_eq!(error_text(&error, true), form);
    }
}
