//! Commands for everything except panes: recordings, screenshots, layouts, the proxy, rules and tokens. Each command
//! calls a single method.

use std::path::PathBuf;

use anyhow::Result;
use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use unterm_control::methods::{
    capture, orchestrate,
    params::{NoParams, SessionOnly},
    policy, proxy, recording, session,
    token::{self, Scope},
    workspace,
};

use crate::cli::{
    call::Call,
    words::{Id, Meant, OnlyId, absolute},
};

/// Recordings of panes.
#[derive(Subcommand)]
pub enum RecordCommand {
    /// Start recording a pane.
    Start {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Stop recording a pane, and print the path of its page.
    Stop {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show whether a pane is being recorded.
    Status {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Add a trace id of your own to a pane's recording.
    Trace {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Trace id.
        trace: String,
    },
}

impl RecordCommand {
    /// Returns the method call that carries out this command.
    pub fn call(&self, session: Meant<'_>) -> Result<Call> {
        match self {
            Self::Start { id } => Call::of::<recording::Start>(SessionOnly::of(session(id)?)),
            Self::Stop { id } => Call::of::<recording::Stop>(SessionOnly::of(session(id)?)),
            Self::Status { id } => Call::of::<recording::Status>(SessionOnly::of(session(id)?)),
            Self::Trace { id, trace } => {
                let params = recording::AttachParams::of(session(id)?);
                let trace_id = trace.as_str().into();
                Call::of::<recording::AttachTrace>(recording::AttachParams { trace_id, ..params })
            }
        }
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
    /// Returns the method call that carries out this command.
    pub fn call(&self) -> Result<Call> {
        match self {
            Self::List { project } => Call::of::<recording::List>(recording::ListParams {
                project: project.clone().into(),
            }),
            Self::Read { id } => {
                let session_id = id.as_str().into();
                Call::of::<recording::Read>(recording::ReadParams { session_id })
            }
        }
    }
}

/// Pictures, and the clipboard.
#[derive(Subcommand)]
pub enum CaptureCommand {
    /// Capture the display; without a display, all panes side by side.
    Screen,
    /// Capture a pane, or a window of the display [default: the first pane].
    Window {
        /// Pane, by number or part of its title. If no pane matches: part of a window's title.
        title: Option<String>,
        /// Only a pane or window of this process.
        #[arg(long)]
        pid: Option<u64>,
    },
    /// Select a region with the mouse. Without a window, captures the display.
    Select {
        /// Seconds to wait for the selection.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
    },
    /// Print the text on the clipboard, or the path of its picture.
    Clipboard,
}

impl CaptureCommand {
    /// Returns the method call that carries out this command.
    pub fn call(&self) -> Result<Call> {
        match self {
            Self::Screen => Call::of::<capture::Screen>(capture::ScreenParams::default()),
            Self::Window { title, pid } => Call::of::<capture::Window>(capture::WindowParams {
                title: title.clone().into(),
                pid: (*pid).into(),
                ..capture::WindowParams::default()
            }),
            Self::Select { timeout } => Call::of::<capture::Select>(capture::SelectParams {
                interactive: true.into(),
                timeout_ms: (timeout * 1000).into(),
                ..capture::SelectParams::default()
            }),
            Self::Clipboard => Call::of::<capture::Clipboard>(NoParams {}),
        }
    }
}

/// Saved layouts.
#[derive(Subcommand)]
pub enum WorkspaceCommand {
    /// Save the open tabs and panes.
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
    /// Returns the method call that carries out this command.
    pub fn call(&self) -> Result<Call> {
        match self {
            Self::Save { name } => {
                Call::of::<workspace::Save>(workspace::SaveParams { name: name.as_str().into() })
            }
            Self::Restore { name, recreate } => {
                let (name, recreate) = (name.as_str().into(), (*recreate).into());
                Call::of::<workspace::Restore>(workspace::RestoreParams { name, recreate })
            }
            Self::List => Call::of::<workspace::List>(NoParams {}),
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
    /// Returns the method call that carries out this command.
    pub fn call(&self) -> Result<Call> {
        match self {
            Self::Status => Call::of::<proxy::Status>(NoParams {}),
            Self::Nodes => Call::of::<proxy::Nodes>(NoParams {}),
            Self::Switch { name } => {
                Call::of::<proxy::Switch>(proxy::SwitchParams { node_name: name.as_str().into() })
            }
            Self::Set { url, no_proxy } => {
                let mut params = proxy::ConfigureParams {
                    no_proxy: no_proxy.clone().into(),
                    ..proxy::ConfigureParams::default()
                };
                let is_socks = url.starts_with("socks");
                let address =
                    if is_socks { &mut params.socks_proxy } else { &mut params.http_proxy };
                *address = url.as_str().into();
                Call::of::<proxy::Configure>(params)
            }
            Self::Auto => Call::of::<proxy::Configure>(proxy::ConfigureParams {
                mode: "auto".into(),
                ..proxy::ConfigureParams::default()
            }),
            Self::Disable => Call::of::<proxy::Disable>(NoParams {}),
            Self::Env => Call::of::<proxy::Env>(NoParams {}),
            Self::Speedtest { name, timeout } => {
                let (node_name, timeout_ms) = (name.clone().into(), (*timeout).into());
                Call::of::<proxy::Speedtest>(proxy::SpeedtestParams { node_name, timeout_ms })
            }
        }
    }
}

/// Several panes at once.
#[derive(Subcommand)]
pub enum OrchestrateCommand {
    /// Open a pane, run a command in it and print the pane's number.
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
    /// Type a command and press Enter in several panes.
    Broadcast {
        /// Numbers of panes, separated by commas.
        #[arg(long, value_delimiter = ',', required = true)]
        ids: Vec<u64>,
        /// Command; after `--` it can have options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Wait until a pane shows a text. Exits with status 1 if it does not.
    Wait {
        /// The pane.
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
    /// Returns the method call that carries out this command.
    pub fn call(&self, session: Meant<'_>) -> Result<Call> {
        match self {
            Self::Launch { cwd, cols, rows, command } => {
                let create = session::CreateParams {
                    cwd: absolute(cwd.as_deref())?.into(),
                    cols: (*cols).into(),
                    rows: (*rows).into(),
                    ..session::CreateParams::default()
                };
                let command = (!command.is_empty()).then(|| command.join(" "));
                let command = orchestrate::Command { command: command.into() };
                let params = orchestrate::LaunchParams { create, command };
                Call::of::<orchestrate::Launch>(params.into())
            }
            Self::Broadcast { ids, command } => {
                let sessions: Vec<_> = ids.iter().map(u64::to_string).collect();
                let (sessions, command) = (sessions.into(), command.join(" ").into());
                let params = orchestrate::BroadcastParams { command, sessions };
                Call::of::<orchestrate::Broadcast>(params)
            }
            Self::Wait { id, timeout, pattern } => {
                let timeout = (timeout.max(0.0) * 1000.0) as u64;
                Call::of::<orchestrate::Wait>(orchestrate::WaitParams {
                    pattern: pattern.as_str().into(),
                    timeout_ms: timeout.into(),
                    ..orchestrate::WaitParams::of(session(id)?)
                })
            }
        }
    }
}

/// Rules for what agents may type.
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
    /// Returns the method call that carries out this command.
    pub fn call(&self) -> Result<Call> {
        match self {
            Self::Check { command } => Call::of::<policy::Check>(policy::CheckParams {
                command: command.join(" ").into(),
                ..policy::CheckParams::default()
            }),
            Self::Set { block, allow, enforce_allowed } => {
                let rules = policy::Rules {
                    enabled: true,
                    blocked_patterns: block.clone(),
                    allowed_patterns: allow.clone(),
                    enforce_allowed: *enforce_allowed,
                    ..policy::Rules::default()
                };
                Call::of::<policy::Set>(rules.into())
            }
            Self::Off => Call::of::<policy::Set>(policy::Rules::default().into()),
        }
    }
}

/// Tokens for agents.
#[derive(Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it. It can't be printed again.
    Create {
        /// Name that describes the token's purpose.
        #[arg(value_parser = purpose)]
        name: String,
        /// Permission: read, act (read, and use panes) or admin (everything).
        #[arg(long, default_value = "act", value_parser = scope())]
        scope: Scope,
        /// Only these open panes of the instance, separated by commas.
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
    /// Returns the method call that carries out this command.
    pub fn call(&self) -> Result<Call> {
        match self {
            Self::Create { name, scope, panes, expires } => {
                Call::of::<token::Create>(token::CreateParams {
                    name: name.as_str().into(),
                    scope: (*scope).into(),
                    panes: (!panes.is_empty()).then(|| panes.clone()).into(),
                    expires_in_seconds: (*expires).into(),
                })
            }
            Self::List => Call::of::<token::List>(NoParams {}),
            Self::Revoke { number } => {
                Call::of::<token::Revoke>(token::RevokeParams { number: (*number).into() })
            }
        }
    }
}

/// Parses a token's permission.
fn scope() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(["read", "act", "admin"]).map(|name| match name.as_str() {
        "read" => Scope::Read,
        "act" => Scope::Act,
        _ => Scope::Admin,
    })
}

/// Parses the name of a token. The name later helps the user to find the token to revoke.
fn purpose(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a token needs a name that says what it is for".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Parses a duration, which is a number and a unit. Returns seconds.
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::args::{Args, Command};

    /// Returns the parameters of the call that a command line makes.
    fn params(line: &str) -> Value {
        let args = Args::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}"));
        let call = match args.command {
            Command::Proxy(command) => command.call(),
            Command::Policy(command) => command.call(),
            Command::Token(command) => command.call(),
            _ => panic!("{line}"),
        };
        call.unwrap().params().clone()
    }

    #[test]
    fn options_that_are_not_given_are_no_parameters() {
        let params = |line: &str| params(&format!("unterm-cli {line}"));
        assert_eq!(params("proxy set http://a:1"), json!({"http_proxy": "http://a:1"}));
        let socks = json!({"socks_proxy": "socks5://a:1", "no_proxy": "b"});
        assert_eq!(params("proxy set socks5://a:1 --no-proxy b"), socks);
        assert_eq!(params("token create a"), json!({"name": "a", "scope": "act"}));
        let token =
            json!({"name": "a", "scope": "read", "panes": [3, 7], "expires_in_seconds": 90});
        assert_eq!(params("token create a --scope read --panes 3,7 --expires 90s"), token);
        assert_eq!(params("policy check rm -- -rf"), json!({"command": "rm -rf"}));
    }

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        let seconds = ["90s", "30m", "12h", "7d"].map(duration);
        assert_eq!(seconds, [Ok(90), Ok(1800), Ok(43_200), Ok(604_800)]);
        for wrong in ["", "7", "d", "7w", "1.5h", "-1s", "0s", "00d", "99999999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
