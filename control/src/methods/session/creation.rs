//! `session.create`: a new session, with a shell or a program.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{OnExit, Spawn};
use unterm_term::Size;

use super::{
    SharedPane, blocking,
    size::{DEFAULT_COLS, DEFAULT_ROWS, size, with_pixels},
};
use crate::{
    error::Error,
    methods::{Caller, Context, Group, Method, Result, Subjects, params::Arg, titles::title},
    services::shell::kind::Shell,
};

/// `session.create`.
pub struct Create;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct CreateParams<'a> {
    /// Columns. If given, the session keeps its size whatever the window's size is.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub cols: Arg<'a, u64>,
    /// Rows. If given, the session keeps its size whatever the window's size is.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub rows: Arg<'a, u64>,
    /// Working directory: an absolute path or a `file://` URI. Default: the user's home.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub cwd: Arg<'a, String>,
    /// A program to run instead of the user's shell. When it ends, its session stays readable until it is destroyed.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub program: Arg<'a, String>,
    /// A shell to run instead of the user's, such as `zsh`. When it ends, its session is removed, as with the user's shell.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub shell: Arg<'a, String>,
    /// The arguments of the program or the shell.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub args: Arg<'a, Vec<String>>,
    /// Variables to add to the inherited environment.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub env: Arg<'a, BTreeMap<String, String>>,
    /// The session's title, as set by session.rename.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub name: Arg<'a, String>,
    /// Hides the session from tabs and lists. Its number still works, and screen.bytes returns its output.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub hidden: Arg<'a, bool>,
    /// Keeps the session's output, from its first byte on, for screen.bytes. The program waits for the caller to read it, up
    /// to five seconds.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub streamed: Arg<'a, bool>,
    /// Width of the grid in pixels, if `cols` and `rows` are given. Each cell gets a whole number of them.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub pixel_width: Arg<'a, u64>,
    /// Height of the grid in pixels, if `cols` and `rows` are given.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub pixel_height: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CreateReply {
    pub id: u64,
    pub session_id: String,
    pub title: String,
    pub cols: u16,
    pub rows: u16,
}

impl Method for Create {
    const NAME: &'static str = "session.create";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Opens a session with the user's shell or a given program.";
    type Params<'a> = CreateParams<'a>;
    type Reply = CreateReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: CreateParams<'a>,
    ) -> Result<CreateReply> {
        Ok(create(context, &params).await?.1)
    }
}

/// Opens a session.
pub(in crate::methods) async fn create(
    context: &Context,
    params: &CreateParams<'_>,
) -> Result<(SharedPane, CreateReply)> {
    let size = size(&params.cols, &params.rows)?
        .map(|size| with_pixels(size, &params.pixel_width, &params.pixel_height))
        .transpose()?;
    let (spawn, on_exit) = params.spawn(context)?;
    let name = params.title()?;
    let mux = context.mux.clone();
    let pane = if params.hidden.is_set("hidden")? {
        let size = size.unwrap_or(Size::cells(DEFAULT_COLS, DEFAULT_ROWS));
        let (pane, tap) = blocking(move || mux.open_tapped(spawn, size)).await??;
        context.panes.bytes.keep(pane.id(), tap);
        pane
    } else if params.streamed.is_set("streamed")? {
        let (pane, tap) = blocking(move || mux.open_tab_streamed(spawn, size, on_exit)).await??;
        context.panes.bytes.stream(pane.id(), tap);
        if context.mux.pane(pane.id()).is_none() {
            // The program ended and its pane was removed before its output was kept, so nothing else would remove the
            // output.
            context.panes.bytes.forget(pane.id());
        }
        pane
    } else {
        // Open the tab in the background, because the user may be typing in the current tab.
        blocking(move || mux.open_tab_in_background(spawn, size, on_exit)).await??
    };
    if let Some(name) = name {
        pane.set_name(&name);
    }
    let size = pane.term().size();
    let reply = CreateReply {
        id: pane.id().0,
        session_id: pane.id().0.to_string(),
        title: pane.title(),
        cols: size.cols,
        rows: size.rows,
    };
    Ok((pane, reply))
}

impl CreateParams<'_> {
    /// Whether the session runs a shell.
    pub(in crate::methods) fn is_shell(&self) -> Result<bool> {
        Ok(self.program.text("program")?.is_none_or(|name| Shell::of_process(&name).is_some()))
    }

    /// The requested title.
    pub(in crate::methods) fn title(&self) -> Result<Option<String>> {
        Ok(self.name.text("name")?.map(|name| title(&name)))
    }

    /// Returns the program to start, and what happens to the session when the program ends. The session of a program
    /// stays, because an agent may still read the output and the exit code. The session of a shell is closed.
    ///
    /// # Errors
    /// The line policy does not allow the program. It checks the program with its arguments as a line, and each
    /// variable, because shells run some variables. A shell without arguments needs no check, because a session without
    /// a program would run a shell, too.
    pub(crate) fn spawn(&self, context: &Context) -> Result<(Spawn, OnExit)> {
        let cwd = self.cwd.text("cwd")?;
        let (program, on_exit) = match (self.program.text("program")?, self.shell.text("shell")?) {
            (Some(_), Some(_)) => {
                return Err(Error::Failed("Give 'program' or 'shell', not both".to_owned()));
            }
            (Some(program), None) => (Some(program), OnExit::Hold),
            (None, shell) => (shell, OnExit::Close),
        };
        let args = self.args.list("args")?;
        if program.is_none() && !args.is_empty() {
            return Err(Error::Missing("program"));
        }
        let env = self.env.map("env")?;
        for (name, value) in &env {
            // An environment can't contain such a name or value (POSIX, "Environment Variables").
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(Error::Invalid {
                    name: "env",
                    expected: "names without '=' and values without NUL".to_owned(),
                    got: format!("{name:?}: {value:?}"),
                });
            }
        }
        let mut lines: Vec<_> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if let Some(program) = &program
            && (Shell::of_process(program).is_none() || !args.is_empty())
        {
            lines.push(format!("{program} {}", args.join(" ")));
        }
        context.authority.length(lines.iter().map(String::len).sum())?;
        context.lines.policy.check_typed(None, &lines, "").map_err(Error::Policy)?;
        let env = env.into_iter().chain([("UNTERM_DRIVEN".to_owned(), "1".to_owned())]);
        let spawn = Spawn {
            program: program.map(Into::into),
            args,
            cwd: cwd.map(|cwd| directory(&cwd)).transpose()?,
            // `UNTERM_DRIVEN` makes the session's shell listen for variables (`session.set_env`) from its start.
            env: env.collect(),
            ..Spawn::default()
        };
        Ok((spawn, on_exit))
    }
}

/// Parses a directory: a path, or a URI in the form that `session.cwd` returns.
fn directory(cwd: &str) -> Result<PathBuf> {
    let path = match cwd.strip_prefix("file://") {
        // RFC 8089: the URI may contain a host before the path.
        Some(uri) => percent_decoded(&uri[uri.find('/').unwrap_or(uri.len())..]),
        None => PathBuf::from(cwd),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Error::Invalid {
        name: "cwd",
        expected: "an absolute path or a file:// URI".to_owned(),
        got: format!("{cwd:?}"),
    })
}

/// Decodes percent-encoding (RFC 3986, 2.1). A `%` without two hexadecimal digits after it stays unchanged.
fn percent_decoded(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;

    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| byte == b'%').and_then(|d| str::from_utf8(d).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}
