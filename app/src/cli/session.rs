//! Commands for panes (called sessions on the wire) and their screens.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Subcommand;
use unterm_control::methods::{
    params::{NoParams, SessionOnly},
    recording, screen, session, variables,
};

use crate::cli::{
    call::Call,
    resource_commands::RecordCommand,
    words::{Id, Meant, Named, OnlyId, absolute},
};

/// Commands about panes.
#[derive(Subcommand)]
pub enum SessionCommand {
    /// List the panes.
    List,
    /// Open a pane with your shell or a program, and print its number.
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
        env: Vec<(String, String)>,
        /// Program and its arguments, after all options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// Show the state of a pane.
    Status {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print the working directory.
    Cwd {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show whether the pane is at its prompt.
    Idle {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print the last rows of the scrollback.
    History {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
        /// Number of rows to print.
        #[arg(long, default_value_t = 100)]
        limit: u64,
    },
    /// Resize a pane.
    Resize {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
    },
    /// Print an environment variable of a pane. Exits with status 1 if it is not set.
    Env {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Name of the variable.
        name: String,
    },
    /// Set an environment variable for the next commands of a pane.
    SetEnv {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Name of the variable.
        name: String,
        /// Value; without one, the variable is unset.
        value: Option<String>,
    },
    /// Record a pane.
    #[command(subcommand)]
    Record(RecordCommand),
    /// Write a pane's screen and scrollback to a Markdown file, and print its path.
    Export {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
        /// File to write [default: a file in the project's folder].
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// End a pane's program and close the pane.
    Destroy {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
}

impl SessionCommand {
    /// Returns the method call that carries out this command.
    pub fn call(&self, session: Meant<'_>) -> Result<Call> {
        match self {
            Self::List => Call::of::<session::List>(NoParams {}),
            Self::Create { cols, rows, cwd, env, program } => {
                let (program, args) = program.split_first().unzip();
                Call::of::<session::Create>(session::CreateParams {
                    cols: (*cols).into(),
                    rows: (*rows).into(),
                    cwd: absolute(cwd.as_deref())?.into(),
                    program: program.cloned().into(),
                    args: args.map(<[String]>::to_vec).into(),
                    env: (!env.is_empty()).then(|| env.iter().cloned().collect()).into(),
                    ..session::CreateParams::default()
                })
            }
            Self::Status { id } => Call::of::<session::Status>(SessionOnly::of(session(id)?)),
            Self::Cwd { id } => Call::of::<session::Cwd>(SessionOnly::of(session(id)?)),
            Self::Idle { id } => Call::of::<session::Idle>(SessionOnly::of(session(id)?)),
            Self::History { id, limit } => {
                let params = session::HistoryParams::of(session(id)?);
                let limit = (*limit).into();
                Call::of::<session::History>(session::HistoryParams { limit, ..params })
            }
            Self::Resize { id, cols, rows } => Call::of::<session::Resize>(session::ResizeParams {
                cols: (*cols).into(),
                rows: (*rows).into(),
                ..session::ResizeParams::of(session(id)?)
            }),
            Self::Env { id, name } => {
                let params = variables::EnvParams::of(session(id)?);
                let name = name.as_str().into();
                Call::of::<variables::Env>(variables::EnvParams { name, ..params })
            }
            Self::SetEnv { id, name, value } => {
                Call::of::<variables::SetEnv>(variables::SetEnvParams {
                    name: name.as_str().into(),
                    value: value.clone().into(),
                    unset: value.is_none().into(),
                    ..variables::SetEnvParams::of(session(id)?)
                })
            }
            Self::Record(command) => command.call(session),
            Self::Export { id, output } => {
                let params = recording::ExportParams::of(session(id)?);
                let path = absolute(output.as_deref())?.into();
                Call::of::<recording::Export>(recording::ExportParams { path, ..params })
            }
            // Destroying a pane can't be undone, so the pane must be given explicitly.
            Self::Destroy { id } => match id.given() {
                Some(id) => Call::of::<session::Destroy>(SessionOnly::of(id)),
                None => bail!("name the pane to destroy: `unterm-cli session destroy ID`"),
            },
        }
    }
}

/// Commands that read a screen.
#[derive(Subcommand)]
pub enum ScreenCommand {
    /// Print the screen's rows with their numbers.
    Read {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print the screen's text.
    Text {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show the position and shape of the cursor.
    Cursor {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Search the scrollback and the screen.
    Search {
        /// The pane.
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
        /// The pane.
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
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
}

impl ScreenCommand {
    /// Returns the method call that carries out this command.
    pub fn call(&self, session: Meant<'_>) -> Result<Call> {
        match self {
            Self::Read { id } => Call::of::<screen::Read>(SessionOnly::of(session(id)?)),
            Self::Text { id } => Call::of::<screen::Text>(SessionOnly::of(session(id)?)),
            Self::Cursor { id } => Call::of::<screen::Cursor>(SessionOnly::of(session(id)?)),
            Self::Search { id, max, pattern } => Call::of::<screen::Search>(screen::SearchParams {
                pattern: pattern.as_str().into(),
                max_results: (*max).into(),
                ..screen::SearchParams::of(session(id)?)
            }),
            Self::Scroll { id, offset, count } => {
                Call::of::<screen::Scroll>(screen::ScrollParams {
                    offset: (*offset).into(),
                    count: (*count).into(),
                    ..screen::ScrollParams::of(session(id)?)
                })
            }
            Self::Errors { id } => Call::of::<screen::DetectErrors>(SessionOnly::of(session(id)?)),
        }
    }
}

/// Parses `NAME=VALUE`. Returns the name and the value.
fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
