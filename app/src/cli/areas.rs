//! Commands for what instances do beside sessions: recordings, pictures, layouts, the proxy, rules and the like. Each is
//! one method, whose parameters it spells for people.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::session::{Id, Named, OnlyId};

/// A method and its parameters.
pub type Request = (&'static str, Value);
/// The session that is meant: the one that is named, else the only one.
pub type Meant<'a> = &'a mut dyn FnMut(&dyn Named) -> Result<u64>;

/// A path as the server understands it.
pub fn absolute(path: Option<&Path>) -> Result<Option<String>> {
    let path = path.map(std::path::absolute).transpose()?;
    Ok(path.map(|path| path.to_string_lossy().into_owned()))
}

/// Recordings of sessions.
#[derive(Subcommand)]
pub enum RecordCommand {
    /// Begin to record a session.
    Start {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// End a session's recording and print where its page is.
    Stop {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Say whether a session is being recorded.
    Status {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Note an id of your own in a session's recording.
    Trace {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// The id.
        trace: String,
    },
}

impl RecordCommand {
    /// What it asks for.
    pub fn request(&self, session: Meant<'_>) -> Result<Request> {
        Ok(match self {
            Self::Start { id } => ("session.recording_start", json!({"id": session(id)?})),
            Self::Stop { id } => ("session.recording_stop", json!({"id": session(id)?})),
            Self::Status { id } => ("session.recording_status", json!({"id": session(id)?})),
            Self::Trace { id, trace } => {
                ("session.recording_attach_trace", json!({"id": session(id)?, "trace_id": trace}))
            }
        })
    }
}

/// Recordings that are over.
#[derive(Subcommand)]
pub enum SessionsCommand {
    /// List them.
    List {
        /// Only those of a project, by its path or its name.
        #[arg(long)]
        project: Option<String>,
    },
    /// Print one as markdown.
    Read {
        /// Its id, as the list has it.
        id: String,
    },
}

impl SessionsCommand {
    /// What it asks for.
    pub fn request(&self) -> Request {
        match self {
            Self::List { project } => ("session.recording_list", json!({"project": project})),
            Self::Read { id } => ("session.recording_read", json!({"session_id": id})),
        }
    }
}

/// Pictures, and the clipboard.
#[derive(Subcommand)]
pub enum CaptureCommand {
    /// The display; without one all sessions side by side.
    Screen,
    /// A session, or any window of the display; without a name the first session.
    Window {
        /// A session's number or a part of its title, else a part of a window's title.
        title: Option<String>,
        /// Of this process.
        #[arg(long)]
        pid: Option<u64>,
    },
    /// A region that the person drags out, where there is a window; else the display.
    Select {
        /// How long they may take, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
    },
    /// What is on the clipboard.
    Clipboard,
}

impl CaptureCommand {
    /// What it asks for.
    pub fn request(&self) -> Request {
        match self {
            Self::Screen => ("capture.screen", json!({})),
            Self::Window { title, pid } => ("capture.window", json!({"title": title, "pid": pid})),
            Self::Select { timeout } => {
                ("capture.select", json!({"interactive": true, "timeout_ms": timeout * 1000}))
            }
            Self::Clipboard => ("capture.clipboard", json!({})),
        }
    }
}

/// Saved layouts.
#[derive(Subcommand)]
pub enum WorkspaceCommand {
    /// Save the tabs and sessions there are.
    Save {
        /// Under this name.
        name: String,
    },
    /// Print what was saved.
    Restore {
        /// Its name.
        name: String,
        /// Open its tabs again.
        #[arg(long)]
        recreate: bool,
    },
    /// List the names.
    List,
}

impl WorkspaceCommand {
    /// What it asks for.
    pub fn request(&self) -> Request {
        match self {
            Self::Save { name } => ("workspace.save", json!({"name": name})),
            Self::Restore { name, recreate } => {
                ("workspace.restore", json!({"name": name, "recreate": recreate}))
            }
            Self::List => ("workspace.list", json!({})),
        }
    }
}

/// The proxy that programs are told of.
#[derive(Subcommand)]
pub enum ProxyCommand {
    /// Whether there is one, and whether it answers.
    Status,
    /// The proxies to choose from.
    Nodes,
    /// Use one of them.
    Switch {
        /// Its name.
        name: String,
    },
    /// Use a proxy at this address.
    Set {
        /// Such as http://127.0.0.1:7890 or socks5://127.0.0.1:7891.
        url: String,
        /// Hosts that are reached without it, with commas between.
        #[arg(long)]
        no_proxy: Option<String>,
    },
    /// Use the system's proxy, or one that is found on this machine.
    Auto,
    /// Use none.
    Disable,
    /// Print the variables that programs get, to be evaluated by a shell.
    Env,
    /// Try the proxies to choose from.
    Speedtest {
        /// Only this one.
        name: Option<String>,
        /// How long one may take, in milliseconds.
        #[arg(long, default_value_t = 3000)]
        timeout: u64,
    },
}

impl ProxyCommand {
    /// What it asks for.
    pub fn request(&self) -> Request {
        match self {
            Self::Status => ("proxy.status", json!({})),
            Self::Nodes => ("proxy.nodes", json!({})),
            Self::Switch { name } => ("proxy.switch", json!({"node_name": name})),
            Self::Set { url, no_proxy } => {
                let key = if url.starts_with("socks") { "socks_proxy" } else { "http_proxy" };
                ("proxy.configure", json!({key: url, "no_proxy": no_proxy}))
            }
            Self::Auto => ("proxy.configure", json!({"mode": "auto"})),
            Self::Disable => ("proxy.disable", json!({})),
            Self::Env => ("proxy.env", json!({})),
            Self::Speedtest { name, timeout } => {
                ("proxy.speedtest", json!({"node_name": name, "timeout_ms": timeout}))
            }
        }
    }
}

/// Several sessions at once.
#[derive(Subcommand)]
pub enum OrchestrateCommand {
    /// Open a session, run a command in it and print its number.
    Launch {
        /// The working directory; else the user's home.
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// Columns.
        #[arg(long)]
        cols: Option<u64>,
        /// Rows.
        #[arg(long)]
        rows: Option<u64>,
        /// The command; behind `--` it may hold options.
        command: Vec<String>,
    },
    /// Type a command and Enter in several sessions.
    Broadcast {
        /// The sessions, with commas between.
        #[arg(long, value_delimiter = ',', required = true)]
        ids: Vec<u64>,
        /// The command; behind `--` it may hold options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Wait until a session shows a text; fails if it does not.
    Wait {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// How long to wait, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
        timeout: f64,
        /// The text.
        pattern: String,
    },
}

impl OrchestrateCommand {
    /// What it asks for.
    pub fn request(&self, session: Meant<'_>) -> Result<Request> {
        Ok(match self {
            Self::Launch { cwd, cols, rows, command } => {
                let cwd = absolute(cwd.as_deref())?;
                let command = (!command.is_empty()).then(|| command.join(" "));
                let params = json!({"cwd": cwd, "cols": cols, "rows": rows, "command": command});
                ("orchestrate.launch", params)
            }
            Self::Broadcast { ids, command } => {
                let ids: Vec<_> = ids.iter().map(u64::to_string).collect();
                let params = json!({"sessions": ids, "command": command.join(" ")});
                ("orchestrate.broadcast", params)
            }
            Self::Wait { id, timeout, pattern } => {
                let timeout = (timeout.max(0.0) * 1000.0) as u64;
                let id = session(id)?;
                let params = json!({"id": id, "pattern": pattern, "timeout_ms": timeout});
                ("orchestrate.wait", params)
            }
        })
    }
}

/// Rules on what may be entered.
#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Say whether a command may be entered; fails if not.
    Check {
        /// The command; behind `--` it may hold options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Replace the rules.
    Set {
        /// A text that no command may hold; may be given several times.
        #[arg(long)]
        block: Vec<String>,
        /// A text that a command may begin with; may be given several times.
        #[arg(long)]
        allow: Vec<String>,
        /// Nothing else may be entered.
        #[arg(long)]
        enforce_allowed: bool,
    },
    /// Have no rules.
    Off,
}

impl PolicyCommand {
    /// What it asks for.
    pub fn request(&self) -> Request {
        let rules = |enabled, block: &[String], allow: &[String], enforce| {
            json!({
                "enabled": enabled, "blocked_patterns": block, "allowed_patterns": allow,
                "enforce_allowed": enforce,
            })
        };
        match self {
            Self::Check { command } => ("policy.check", json!({"command": command.join(" ")})),
            Self::Set { block, allow, enforce_allowed } => {
                ("policy.set", rules(true, block, allow, *enforce_allowed))
            }
            Self::Off => ("policy.set", rules(false, &[], &[], false)),
        }
    }
}

/// Tokens for agents.
#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make one and print it: nobody is told of it again.
    Create {
        /// What it is for.
        #[arg(value_parser = purpose)]
        name: String,
        /// What it may do: read, act (and read) or admin (everything).
        #[arg(long, default_value = "act", value_parser = ["read", "act", "admin"])]
        scope: String,
        /// Only in these sessions of this instance, with commas between; they must be open.
        #[arg(long, value_name = "IDS", value_delimiter = ',')]
        panes: Vec<u64>,
        /// When it ends, such as 90s, 30m, 12h or 7d; never, if nothing is said.
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires: Option<u64>,
    },
    /// List those that have not ended.
    List,
    /// Take one back: what came in by it may do nothing more.
    Revoke {
        /// Its number, as the list has it.
        number: u64,
    },
}

impl TokenCommand {
    /// What it asks for.
    pub fn request(&self) -> Request {
        match self {
            Self::Create { name, scope, panes, expires } => {
                let panes = (!panes.is_empty()).then_some(panes);
                let params = json!({
                    "name": name, "scope": scope, "panes": panes, "expires_in_seconds": expires,
                });
                ("token.create", params)
            }
            Self::List => ("token.list", json!({})),
            Self::Revoke { number } => ("token.revoke", json!({"number": number})),
        }
    }
}

/// A token's name: without one nobody knows later which to take back.
fn purpose(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a token needs a name that says what it is for".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A length of time in seconds, of a number and its unit.
fn duration(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no time such as 90s, 30m, 12h or 7d");
    let at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(at);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    if number == 0 {
        return Err(format!("{text:?} ends at once; give a time such as 90s, 30m, 12h or 7d"));
    }
    number.checked_mul(unit).ok_or_else(wrong)
}

/// Renders a session into a file.
pub fn export(id: u64, output: Option<&Path>) -> Result<Request> {
    Ok(("session.export_markdown", json!({"id": id, "path": absolute(output)?})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        let seconds = ["90s", "30m", "12h", "7d"].map(duration);
        assert_eq!(seconds, [Ok(90), Ok(1800), Ok(43_200), Ok(604_800)]);
        for wrong in ["", "7", "d", "7w", "1.5h", "-1s", "0s", "00d", "99999999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
