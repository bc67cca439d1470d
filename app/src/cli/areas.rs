//! Commands for everything but sessions: recordings, pictures, layouts, the proxy, rules and tokens. Each command calls one
//! method.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::session::{Id, Named, OnlyId};

/// A method and its parameters.
pub type Request = (&'static str, Value);
/// Finds the session to use: the named one, else the pane that the command runs in, else the only one.
pub type Meant<'a> = &'a mut dyn FnMut(&dyn Named) -> Result<u64>;

/// A path as the server understands it.
pub fn absolute(path: Option<&Path>) -> Result<Option<String>> {
    let path = path.map(std::path::absolute).transpose()?;
    Ok(path.map(|path| path.to_string_lossy().into_owned()))
}

/// Recordings of sessions.
#[derive(Subcommand)]
pub enum RecordCommand {
    /// Start recording a session.
    Start {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Stop recording a session, and print the path of its page.
    Stop {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show whether a session is being recorded.
    Status {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Add a trace id of your own to a session's recording.
    Trace {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Trace id.
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

/// Finished recordings.
#[derive(Subcommand)]
pub enum SessionsCommand {
    /// List finished recordings.
    List {
        /// Only recordings of this project, by path or name.
        #[arg(long)]
        project: Option<String>,
    },
    /// Print a recording as Markdown.
    Read {
        /// Id of the recording, from `sessions list`.
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
    /// Capture the display; without a display, all sessions side by side.
    Screen,
    /// Capture a session, or a window of the display [default: the first session].
    Window {
        /// Number or part of the title of a session, else part of the title of a window.
        title: Option<String>,
        /// Only windows of this process.
        #[arg(long)]
        pid: Option<u64>,
    },
    /// Let the person select a region, if there is a window; else capture the display.
    Select {
        /// Seconds to wait for the selection.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
    },
    /// Print the text on the clipboard, or the path of its picture.
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
    /// Save the open tabs and sessions.
    Save {
        /// Name of the layout.
        name: String,
    },
    /// Print a saved layout, or open its tabs again.
    Restore {
        /// Name of the layout.
        name: String,
        /// Open the tabs.
        #[arg(long)]
        recreate: bool,
    },
    /// List the saved layouts.
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

/// The proxy for programs in new panes.
#[derive(Subcommand)]
pub enum ProxyCommand {
    /// Show the proxy in use, and whether it responds.
    Status,
    /// List the saved proxies.
    Nodes,
    /// Use a saved proxy.
    Switch {
        /// Name of the proxy.
        name: String,
    },
    /// Use the proxy at an address.
    Set {
        /// Address, such as http://127.0.0.1:7890 or socks5://127.0.0.1:7891.
        url: String,
        /// Hosts to reach without the proxy, separated by commas.
        #[arg(long)]
        no_proxy: Option<String>,
    },
    /// Use the system's proxy, or a proxy found on this machine.
    Auto,
    /// Use no proxy.
    Disable,
    /// Print the proxy variables as shell commands: `eval "$(unterm-cli proxy env)"`.
    Env,
    /// Measure how fast the saved proxies respond.
    Speedtest {
        /// Only this proxy.
        name: Option<String>,
        /// Milliseconds to wait for each proxy.
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
    /// Open a session, run a command in it and print the session's number.
    Launch {
        /// Working directory [default: your home].
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// Columns.
        #[arg(long)]
        cols: Option<u64>,
        /// Rows.
        #[arg(long)]
        rows: Option<u64>,
        /// Command; after `--` it can have options.
        command: Vec<String>,
    },
    /// Type a command and press Enter in several sessions.
    Broadcast {
        /// Session numbers, separated by commas.
        #[arg(long, value_delimiter = ',', required = true)]
        ids: Vec<u64>,
        /// Command; after `--` it can have options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Wait until a session shows a text. Exits with status 1 if it does not.
    Wait {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Seconds to wait.
        #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
        timeout: f64,
        /// Text to wait for.
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

/// The rules on what agents may enter.
#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Check whether the rules allow a command. Exits with status 1 if not.
    Check {
        /// Command; after `--` it can have options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Replace the rules.
    Set {
        /// Refuse commands that contain this text; repeatable.
        #[arg(long)]
        block: Vec<String>,
        /// Allow commands that start with this text; repeatable.
        #[arg(long)]
        allow: Vec<String>,
        /// Refuse every other command.
        #[arg(long)]
        enforce_allowed: bool,
    },
    /// Remove all rules.
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
    /// Create a token and print it. It can't be printed again.
    Create {
        /// Name that says what the token is for.
        #[arg(value_parser = purpose)]
        name: String,
        /// Permission: read, act (read, and use sessions) or admin (everything).
        #[arg(long, default_value = "act", value_parser = ["read", "act", "admin"])]
        scope: String,
        /// Only these open sessions of the instance, separated by commas.
        #[arg(long, value_name = "IDS", value_delimiter = ',')]
        panes: Vec<u64>,
        /// Time until the token expires, such as 90s, 30m, 12h or 7d [default: never].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires: Option<u64>,
    },
    /// List the valid tokens.
    List,
    /// Revoke a token. Callers that use it lose access at once.
    Revoke {
        /// Number of the token, from `token list`.
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

/// Parses a token's name, which later tells the user which token to revoke.
fn purpose(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a token needs a name that says what it is for".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Parses a duration: a number and its unit. Returns seconds.
fn duration(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a duration such as 90s, 30m, 12h or 7d");
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

/// Exports a session to a file.
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
