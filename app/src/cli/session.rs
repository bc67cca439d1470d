//! Commands for sessions and their screens, and how any command names a session.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};

use crate::areas::{Meant, RecordCommand, Request, absolute, export};

/// Names a session, among other arguments.
#[derive(ClapArgs)]
pub struct Id {
    /// The session; not needed when there is only one.
    #[arg(long)]
    pub id: Option<u64>,
}

/// Names a session, by an option or by the only argument.
#[derive(ClapArgs)]
pub struct OnlyId {
    /// The session; not needed when there is only one.
    #[arg(long)]
    pub id: Option<u64>,
    /// The same.
    #[arg(value_name = "SESSION", conflicts_with = "id")]
    pub session: Option<u64>,
}

/// What may name a session.
pub trait Named {
    /// The session that was named.
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

/// What to do with sessions.
#[derive(Subcommand)]
pub enum SessionCommand {
    /// List the sessions.
    List,
    /// Open a session, with the user's shell or a program.
    Create {
        /// Columns.
        #[arg(long)]
        cols: Option<u64>,
        /// Rows.
        #[arg(long)]
        rows: Option<u64>,
        /// The working directory; else the user's home.
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// A variable for its environment; may be given several times.
        #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
        env: Vec<(String, Value)>,
        /// A program and its arguments, behind all options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// The whole state of a session.
    Status {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// The working directory.
    Cwd {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Whether its shell waits.
    Idle {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// The last rows of history.
    History {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
        /// How many rows to read.
        #[arg(long, default_value_t = 100)]
        limit: u64,
    },
    /// Give it another size.
    Resize {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
    },
    /// Print a variable, as its programs have it.
    Env {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// The variable.
        name: String,
    },
    /// Set a variable for its next commands.
    SetEnv {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// The variable.
        name: String,
        /// Its value; without one it is taken away.
        value: Option<String>,
    },
    /// Record it.
    #[command(subcommand)]
    Record(RecordCommand),
    /// Write what it shows and keeps into a file, as markdown.
    Export {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
        /// The file; else one in the project's folder.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// End its program and remove it.
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
            // Never by default: what is gone is gone.
            Self::Destroy { id } => match id.given() {
                Some(id) => ("session.destroy", json!({"id": id})),
                None => bail!("say which session to destroy"),
            },
        })
    }
}

/// What to read of a screen.
#[derive(Subcommand)]
pub enum ScreenCommand {
    /// Its rows with their numbers.
    Read {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Its text.
    Text {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Where the cursor is.
    Cursor {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Find a text in history and screen.
    Search {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// How many matches to print.
        #[arg(long, default_value_t = 50)]
        max: u64,
        /// The text.
        pattern: String,
    },
    /// Rows of history and screen, counted from the oldest.
    Scroll {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
        /// The first row.
        #[arg(long, default_value_t = 0)]
        offset: u64,
        /// How many rows.
        #[arg(long, default_value_t = 100)]
        count: u64,
    },
    /// The rows that look like errors.
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

/// A variable and its value.
fn variable(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.into())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
