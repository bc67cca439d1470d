//! Commands for sessions and their screens, and the arguments that name a session.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};

use crate::areas::{Meant, RecordCommand, Request, absolute, export};

/// Names a session, among other arguments.
#[derive(ClapArgs)]
pub struct Id {
    /// Session number [default: the pane that this command runs in, else the only session].
    #[arg(long)]
    pub id: Option<u64>,
}

/// Names a session, by an option or by the only argument.
#[derive(ClapArgs)]
pub struct OnlyId {
    /// Session number [default: the pane that this command runs in, else the only session].
    #[arg(long)]
    pub id: Option<u64>,
    /// The same as --id.
    #[arg(value_name = "SESSION", conflicts_with = "id")]
    pub session: Option<u64>,
}

/// Arguments that can name a session.
pub trait Named {
    /// The session that the arguments name.
    fn given(&self) -> Option<u64>;
}

impl Named for Id {
    fn given(&self) -> Option<u64> {
        self.id
    }
}

impl Named for OnlyId {
    fn given(&self) -> Option<u64> {
        self.id.or(self.session)
    }
}

/// Commands about sessions.
#[derive(Subcommand)]
pub enum SessionCommand {
    /// List the sessions.
    List,
    /// Open a session with your shell or a program, and print its number.
    Create {
        /// Columns.
        #[arg(long)]
        cols: Option<u64>,
        /// Rows.
        #[arg(long)]
        rows: Option<u64>,
        /// Working directory [default: your home].
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// Environment variable for the program; repeatable.
        #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
        env: Vec<(String, Value)>,
        /// Program and its arguments, after all options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// Show the state of a session.
    Status {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print the working directory.
    Cwd {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show whether the session is at its prompt.
    Idle {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print the last rows of the scrollback.
    History {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
        /// Number of rows to print.
        #[arg(long, default_value_t = 100)]
        limit: u64,
    },
    /// Resize a session.
    Resize {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
    },
    /// Print an environment variable of a session. Exits with status 1 if it is not set.
    Env {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Name of the variable.
        name: String,
    },
    /// Set an environment variable for the next commands of a session.
    SetEnv {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Name of the variable.
        name: String,
        /// Value; without one, the variable is unset.
        value: Option<String>,
    },
    /// Record a session.
    #[command(subcommand)]
    Record(RecordCommand),
    /// Write a session's screen and scrollback to a Markdown file, and print its path.
    Export {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
        /// File to write [default: a file in the project's folder].
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// End a session's program and close the session.
    Destroy {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
}

impl SessionCommand {
    /// What it asks for.
    pub fn request(&self, session: Meant<'_>) -> Result<Request> {
        Ok(match self {
            Self::List => ("session.list", json!({})),
            Self::Create { cols, rows, cwd, env, program } => {
                let mut params = json!({});
                let mut set = |key: &str, value: Option<Value>| {
                    if let Some(value) = value {
                        params[key] = value;
                    }
                };
                set("cols", cols.map(Value::from));
                set("rows", rows.map(Value::from));
                set("cwd", absolute(cwd.as_deref())?.map(Value::from));
                if let Some((program, args)) = program.split_first() {
                    set("program", Some(program.as_str().into()));
                    set("args", Some(args.into()));
                }
                if !env.is_empty() {
                    set("env", Some(env.iter().cloned().collect::<serde_json::Map<_, _>>().into()));
                }
                ("session.create", params)
            }
            Self::Status { id } => ("session.status", json!({"id": session(id)?})),
            Self::Cwd { id } => ("session.cwd", json!({"id": session(id)?})),
            Self::Idle { id } => ("session.idle", json!({"id": session(id)?})),
            Self::History { id, limit } => {
                ("session.history", json!({"id": session(id)?, "limit": limit}))
            }
            Self::Resize { id, cols, rows } => {
                ("session.resize", json!({"id": session(id)?, "cols": cols, "rows": rows}))
            }
            Self::Env { id, name } => ("session.env", json!({"id": session(id)?, "name": name})),
            Self::SetEnv { id, name, value } => {
                let unset = value.is_none();
                let params =
                    json!({"id": session(id)?, "name": name, "value": value, "unset": unset});
                ("session.set_env", params)
            }
            Self::Record(command) => command.request(session)?,
            Self::Export { id, output } => export(session(id)?, output.as_deref())?,
            // This can't be undone, so there is no default session.
            Self::Destroy { id } => match id.given() {
                Some(id) => ("session.destroy", json!({"id": id})),
                None => bail!("name the session to destroy: `unterm-cli session destroy ID`"),
            },
        })
    }
}

/// Commands that read a screen.
#[derive(Subcommand)]
pub enum ScreenCommand {
    /// Print the screen's rows with their numbers.
    Read {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print the screen's text.
    Text {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show the position and shape of the cursor.
    Cursor {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Search the scrollback and the screen.
    Search {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Number of matches to print.
        #[arg(long, default_value_t = 50)]
        max: u64,
        /// Text to search for.
        pattern: String,
    },
    /// Print rows of the scrollback and the screen, counted from the oldest.
    Scroll {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
        /// First row.
        #[arg(long, default_value_t = 0)]
        offset: u64,
        /// Number of rows.
        #[arg(long, default_value_t = 100)]
        count: u64,
    },
    /// Print the rows that look like errors.
    Errors {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
}

impl ScreenCommand {
    /// What it asks for.
    pub fn request(&self, session: Meant<'_>) -> Result<Request> {
        Ok(match self {
            Self::Read { id } => ("screen.read", json!({"id": session(id)?})),
            Self::Text { id } => ("screen.text", json!({"id": session(id)?})),
            Self::Cursor { id } => ("screen.cursor", json!({"id": session(id)?})),
            Self::Search { id, max, pattern } => {
                let params = json!({"id": session(id)?, "pattern": pattern, "max_results": max});
                ("screen.search", params)
            }
            Self::Scroll { id, offset, count } => {
                let params = json!({"id": session(id)?, "offset": offset, "count": count});
                ("screen.scroll", params)
            }
            Self::Errors { id } => ("screen.detect_errors", json!({"id": session(id)?})),
        })
    }
}

/// Parses a variable and its value.
fn variable(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.into())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
