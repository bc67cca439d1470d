//! Carries out lines: parses a line, calls its method and converts the reply to text.

use std::{rc::Rc, time::Duration};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use unterm_control::escaped;

use super::{
    connection::{Connection, NoReply, Note},
    help,
    line::{self, Command},
    names::Server,
    show,
};

/// The maximum time that the server may take to answer the first call, and a call for a completion.
const FIRST: Duration = Duration::from_secs(10);
const COMPLETION: Duration = Duration::from_secs(1);
/// The maximum number of different letters between a wrong method name and the name that is suggested.
const SIMILAR: usize = 3;

/// The result of a line.
#[derive(Debug)]
pub enum CommandResult {
    /// The line succeeded, with this output.
    Fine(String),
    /// The line failed for this reason.
    Failed(String),
    /// The user wants to leave.
    Quit,
    /// The connection to the server was lost for this reason.
    Lost(String),
}

/// A client of a ptywright server.
pub struct Client {
    /// The connection to the server.
    pub connection: Rc<Connection>,
    methods: Vec<String>,
    json: bool,
}

impl Client {
    /// Requests the list of methods from the server. If `json` is set, results are printed as JSON, and otherwise as
    /// text for the user.
    ///
    /// # Errors
    /// Fails if the connection is lost, or if the server does not answer.
    pub fn new(connection: Connection, json: bool) -> Result<Self> {
        let methods = match connection.call("server.capabilities", json!({}), Some(FIRST)) {
            Ok(Ok(found)) => {
                let list = found["methods"].as_array().cloned().unwrap_or_default();
                list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
            }
            Ok(Err(failure)) => bail!("{}", show::failure("server.capabilities", &failure)),
            Err(NoReply::Lost(why)) => bail!("{}", escaped(&why)),
            Err(NoReply::TimedOut) => bail!("the server does not answer; is --framing right?"),
        };
        Ok(Self { connection: Rc::new(connection), methods, json })
    }

    /// Parses a line, calls its method and returns the result.
    pub fn carry_out(&self, line: &str) -> CommandResult {
        let (method, params) = match line::parse(line) {
            Ok(Command::Nothing) => return CommandResult::Fine(String::new()),
            Ok(Command::Quit) => return CommandResult::Quit,
            Ok(Command::Help(None)) => return CommandResult::Fine(help::all(&self.methods)),
            Ok(Command::Help(Some(name))) => {
                return match help::one(&name) {
                    Some(text) => CommandResult::Fine(text),
                    None => CommandResult::Failed(self.unknown(&name)),
                };
            }
            Ok(Command::Call { method, params }) => (method, params),
            Err(why) => return CommandResult::Failed(escaped(&why)),
        };
        if !self.methods.contains(&method) {
            return CommandResult::Failed(self.unknown(&method));
        }
        match self.connection.call(&method, params.into(), None) {
            Ok(Ok(result)) if self.json => CommandResult::Fine(show::json(&result) + "\n"),
            Ok(Ok(result)) => CommandResult::Fine(show::result(&result)),
            Ok(Err(failure)) => CommandResult::Failed(show::failure(&method, &failure)),
            Err(NoReply::Lost(why)) => CommandResult::Lost(escaped(&why)),
            Err(NoReply::TimedOut) => CommandResult::Failed(format!("{method}: no reply")),
        }
    }

    /// The error message for an unknown method. It may suggest a similar name.
    fn unknown(&self, name: &str) -> String {
        let distance = |other: &String| strsim::damerau_levenshtein(name, other);
        let similar = self.methods.iter().min_by_key(|other| distance(other));
        let hint = match similar.filter(|other| distance(other) <= SIMILAR) {
            Some(similar) => format!("did you mean {}?", escaped(similar)),
            None => "`help` lists all methods".to_owned(),
        };
        format!("unknown method: {}; {hint}", escaped(name))
    }
}

impl Server for Client {
    fn methods(&self) -> Vec<String> {
        self.methods.clone()
    }

    fn ask(&self, method: &str, params: Value) -> Option<Value> {
        self.connection.call(method, params, Some(COMPLETION)).ok()?.ok()
    }
}

/// A note as a line of text. `None` for a lost connection, which is reported elsewhere.
pub fn line_of(note: &Note, json: bool) -> Option<String> {
    Some(match note {
        Note::Notification { method, params } if json => {
            show::json(&json!({"method": method, "params": params}))
        }
        Note::Notification { method, params } => show::notification(method, params),
        Note::Failure(failure) => show::failure("server", failure),
        Note::Diagnostic(line) => format!("server: {}", escaped(line)),
        Note::LeftOut(count) => format!("* {count} notifications were left out"),
        Note::Lost(_) => return None,
    })
}
