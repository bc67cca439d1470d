//! Saved layouts: the title and directory of each session, and the splits of each tab.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::SystemTime,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, Mux, Node, OnExit, Pane, PaneId, Spawn, TabId, local_path, private};

/// The folder's name in Unterm's home directory.
const FOLDER: &str = "workspaces";
/// The maximum number of sessions that are reopened.
const MOST: usize = 200;
/// The maximum size of a file that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// The name that stands for the tabs of the last window, under which nothing can be saved.
pub const LAST: &str = "last";

/// A saved layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// The workspace's name.
    pub name: String,
    /// The saved sessions, in the order in which they were opened.
    pub sessions: Vec<Session>,
    /// When the workspace was saved (RFC 3339, UTC).
    pub saved_at: String,
    /// The saved tabs, from left to right. Absent in files of other programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tabs: Vec<Tab>,
}

/// A saved session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// The session's number when it was saved.
    pub id: u64,
    /// The session's title when it was saved.
    #[serde(default)]
    pub title: String,
    /// Whether a user or caller set the title. Such a title is set again when the session is reopened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// The session's directory as a `file://` URI, or empty.
    #[serde(default)]
    pub cwd: String,
    /// The program that a layout file starts in the session. A workspace starts shells only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// A saved tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// The tab's title, if a user or caller set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tab's sessions, and how they were split.
    pub panes: Part,
}

/// A part of a tab: a session, or a split with two parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Part {
    /// A split with two parts.
    Split {
        /// The direction from the first part to the second: `right` or `down`.
        split: Side,
        /// The first part's share of the space, from 0 to 1.
        share: f32,
        /// The left or upper part.
        first: Box<Part>,
        /// The right or lower part.
        second: Box<Part>,
    },
    /// A session.
    Session {
        /// The session's number when it was saved.
        id: u64,
    },
}

/// The place of a split's second part, relative to the first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// To the right of the first part.
    Right,
    /// Below the first part.
    Down,
}

/// The file for a name. `None` if the name is invalid.
fn file(home: &Path, name: &str) -> Option<PathBuf> {
    let is_name = !name.is_empty()
        && name.len() <= 128
        && !name.starts_with('.')
        && !name.contains(|char: char| matches!(char, '/' | '\\') || char.is_control());
    is_name.then(|| home.join(FOLDER).join(format!("{name}.json")))
}

/// Checks that a layout or a workspace may be saved under this name.
///
/// # Errors
/// The name is reserved.
pub fn check_name(name: &str) -> Result<(), WorkspaceError> {
    if name == LAST { Err(WorkspaceError::Reserved) } else { Ok(()) }
}

/// Why a layout was not saved or read.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The name can't be a file name.
    #[error("Invalid workspace name: {0:?}")]
    Name(String),
    /// The name is reserved.
    #[error(
        "Nothing can be saved as \"last\", because this name stands for the tabs of the last window. Choose another name"
    )]
    Reserved,
    /// There is no workspace with this name.
    #[error("Workspace '{0}' not found")]
    Missing(String),
    /// The workspace's file is invalid.
    #[error("Workspace '{name}' can't be used: {error}")]
    Broken {
        /// The workspace's name.
        name: String,
        /// Why the file is invalid.
        error: String,
    },
    /// A file could not be read or written.
    #[error("Workspaces can't be read or written: {0}")]
    Io(#[from] io::Error),
}

impl Workspace {
    /// The current layout of a mux.
    pub fn of(mux: &Mux, name: &str) -> Self {
        let sessions = mux.panes().into_iter().map(|pane| Session {
            id: pane.id().0,
            title: pane.title(),
            named: pane.has_name(),
            cwd: pane.cwd_uri(),
            program: None,
        });
        let layout = mux.layout();
        let tabs = layout
            .tabs
            .iter()
            .map(|tab| Tab { title: tab.title.clone(), panes: Part::of(&tab.root) });
        Self {
            name: name.to_owned(),
            sessions: sessions.collect(),
            saved_at: super::now(),
            tabs: tabs.collect(),
        }
    }

    /// Saves the workspace. Replaces a workspace with the same name.
    pub fn write(&self, home: &Path) -> Result<(), WorkspaceError> {
        let bad = || WorkspaceError::Name(self.name.clone());
        let file = file(home, &self.name).ok_or_else(bad)?;
        check_name(&self.name)?;
        private::create_folder(&home.join(FOLDER))?;
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::from)?;
        private::write(&file, &text)?;
        Ok(())
    }

    /// Reads a workspace.
    pub fn read(home: &Path, name: &str) -> Result<Self, WorkspaceError> {
        let file = file(home, name).ok_or_else(|| WorkspaceError::Name(name.to_owned()))?;
        let text = match private::read(&file, LONGEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(WorkspaceError::Missing(name.to_owned()));
            }
            text => text?,
        };
        serde_json::from_slice(&text).map_err(|error| WorkspaceError::Broken {
            name: name.to_owned(),
            error: error.to_string(),
        })
    }

    /// When the workspace with this name was saved. `None` if there is none.
    pub fn saved(home: &Path, name: &str) -> Option<SystemTime> {
        fs::metadata(file(home, name)?).ok()?.modified().ok()
    }

    /// The names of the workspaces in the folder, sorted.
    pub fn names(home: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(home.join(FOLDER)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().to_str()?.strip_suffix(".json")?.to_owned();
            (!name.starts_with('.')).then_some(name)
        };
        let mut names: Vec<String> = entries.filter_map(|entry| name(entry.ok()?)).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Reopens the tabs after those already open, each session with a shell in its directory. Skips sessions that
    /// can't be opened, and logs them. Returns the numbers of the new sessions.
    pub fn open(&self, mux: &Mux) -> Vec<u64> {
        let mut opening = Opening { workspace: self, mux, opened: Vec::new() };
        if self.tabs.is_empty() {
            for session in &self.sessions {
                opening.tab(None, &Part::Session { id: session.id });
            }
        }
        for tab in &self.tabs {
            opening.tab(tab.title.as_deref(), &tab.panes);
        }
        opening.opened
    }
}

impl Part {
    /// The part for a node of a tab's layout.
    pub fn of(node: &Node) -> Self {
        match node {
            Node::Pane(pane) => Self::Session { id: pane.0 },
            Node::Split { axis, ratio, first, second } => Self::Split {
                split: match axis {
                    Axis::Horizontal => Side::Right,
                    Axis::Vertical => Side::Down,
                },
                share: *ratio,
                first: Box::new(Self::of(first)),
                second: Box::new(Self::of(second)),
            },
        }
    }

    /// The part with only the sessions for which `is_there` returns true. If a part of a split is empty, the other part
    /// gets its space. `None` if no session is left.
    pub fn of_some(self, is_there: &impl Fn(u64) -> bool) -> Option<Self> {
        match self {
            Self::Session { id } => is_there(id).then_some(Self::Session { id }),
            Self::Split { split, share, first, second } => {
                match (first.of_some(is_there), second.of_some(is_there)) {
                    (Some(first), Some(second)) => {
                        let (first, second) = (Box::new(first), Box::new(second));
                        Some(Self::Split { split, share, first, second })
                    }
                    (first, second) => first.or(second),
                }
            }
        }
    }

    /// The first session of the part: at the left or top of each split.
    fn first(&self) -> u64 {
        match self {
            Self::Split { first, .. } => first.first(),
            Self::Session { id } => *id,
        }
    }
}

/// Reopens the sessions of a workspace.
struct Opening<'a> {
    workspace: &'a Workspace,
    mux: &'a Mux,
    opened: Vec<u64>,
}

impl Opening<'_> {
    fn session(&self, id: u64) -> Option<&Session> {
        self.workspace.sessions.iter().find(|session| session.id == id)
    }

    fn spawn(&self, id: u64) -> Spawn {
        let cwd = self.session(id).and_then(|session| local_path(&session.cwd));
        // If the directory no longer exists, the shell starts in the home directory.
        Spawn { cwd: cwd.filter(|cwd| cwd.is_dir()), ..Spawn::default() }
    }

    /// Records that a pane was opened for the session with this number.
    fn add(&mut self, pane: &Pane, id: u64) -> PaneId {
        if let Some(session) = self.session(id).filter(|session| session.named) {
            pane.set_name(&session.title);
        }
        self.opened.push(pane.id().0);
        pane.id()
    }

    fn tab(&mut self, title: Option<&str>, panes: &Part) {
        if self.opened.len() >= MOST {
            return;
        }
        let spawn = self.spawn(panes.first());
        let pane = match self.mux.open_tab_in_background(spawn, None, OnExit::Close) {
            Ok(pane) => self.add(&pane, panes.first()),
            Err(error) => {
                tracing::warn!(%error, "a tab of a workspace is left out");
                return;
            }
        };
        let layout = self.mux.layout();
        let Some(tab) = layout.tab_of(pane).map(|index| layout.tabs[index].id) else { return };
        if let Some(title) = title {
            let _ = self.mux.rename_tab(tab, title);
        }
        self.split(panes, tab, pane, &mut Vec::new());
    }

    /// Splits `pane`, which shows the first session of `part`. `path` is the part's position in its tab.
    fn split(&mut self, part: &Part, tab: TabId, pane: PaneId, path: &mut Vec<bool>) {
        // Deeper than any layout that fits on a screen.
        const DEEPEST: usize = 64;
        let Part::Split { split, share, first, second } = part else { return };
        if self.opened.len() >= MOST || path.len() >= DEEPEST {
            return;
        }
        let axis = match split {
            Side::Right => Axis::Horizontal,
            Side::Down => Axis::Vertical,
        };
        // Gives the new pane the focus within its tab, without activating the tab.
        let new = match self.mux.split_again(pane, axis, self.spawn(second.first()), OnExit::Close)
        {
            Ok(new) => self.add(&new, second.first()),
            Err(error) => {
                tracing::warn!(%error, "a session of a workspace is left out");
                return self.split(first, tab, pane, path);
            }
        };
        let _ = self.mux.set_ratio(tab, path, share.clamp(0.05, 0.95));
        for (part, pane, is_second) in [(first, pane, false), (second, new, true)] {
            path.push(is_second);
            self.split(part, tab, pane, path);
            path.pop();
        }
    }
}
