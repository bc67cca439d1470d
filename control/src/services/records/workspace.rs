//! Saved layouts: the title and directory of each session, and the splits of each tab.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::SystemTime,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, Mux, MuxError, Node, OnExit, PaneId, PaneTree, Spawn, local_path, private};

use crate::plain_words;

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
    pub panes: TabPart,
}

/// A part of a tab: a session, or a split with two parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TabPart {
    /// A split with two parts.
    Split {
        /// The direction from the first part to the second: `right` or `down`.
        split: Side,
        /// The first part's share of the space, from 0 to 1.
        share: f32,
        /// The left or upper part.
        first: Box<TabPart>,
        /// The right or lower part.
        second: Box<TabPart>,
    },
    /// A session.
    Session {
        /// The session's number when it was saved.
        id: u64,
    },
}

/// The position of a split's second part, relative to the first part.
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
    /// The current layout of a mux, without the windows of tmux, which tmux itself keeps.
    pub fn of(mux: &Mux, name: &str) -> Self {
        let panes = mux.panes();
        let in_tmux: Vec<PaneId> =
            panes.iter().filter(|pane| pane.is_in_tmux()).map(|pane| pane.id()).collect();
        let own = panes.into_iter().filter(|pane| !pane.is_in_tmux());
        let sessions = own.map(|pane| Session {
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
            .filter(|tab| !in_tmux.iter().any(|pane| tab.root.contains(*pane)))
            .map(|tab| Tab { title: tab.title.clone(), panes: TabPart::of(&tab.root) });
        Self {
            name: name.to_owned(),
            sessions: sessions.collect(),
            saved_at: crate::services::now(),
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
            error: plain_words::of_json(&error),
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

    /// Reopens the tabs after those already open, each session with a shell in its directory, or in the nearest folder
    /// above it that exists. Skips sessions that can't be opened, and logs them.
    pub fn open(&self, mux: &Mux) -> Reopened {
        let mut opening = Opening { workspace: self, mux, opened: Reopened::default() };
        if self.tabs.is_empty() {
            for session in &self.sessions {
                opening.tab(None, &TabPart::Session { id: session.id });
            }
        }
        for tab in &self.tabs {
            opening.tab(tab.title.as_deref(), &tab.panes);
        }
        opening.opened
    }
}

impl TabPart {
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
}

/// The result of [`Workspace::open`].
#[derive(Debug, Default)]
pub struct Reopened {
    /// The numbers of the new sessions.
    pub sessions: Vec<u64>,
    /// The directories that no longer exist.
    pub missing: Vec<MissingFolder>,
}

/// A directory that no longer exists. Its message is for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingFolder {
    /// The directory.
    pub wanted: PathBuf,
    /// The nearest existing folder above the missing directory.
    pub nearest: Option<PathBuf>,
}

impl std::fmt::Display for MissingFolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} no longer exists; its pane starts in ", self.wanted.display())?;
        match &self.nearest {
            Some(nearest) => write!(f, "{}", nearest.display()),
            None => f.write_str("the home directory"),
        }
    }
}

/// The directory, if it exists. Otherwise, the nearest existing folder above it, and a message about the missing
/// directory.
pub fn nearest_folder(directory: &Path) -> (Option<PathBuf>, Option<MissingFolder>) {
    let nearest = directory.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned);
    let missing = nearest.as_deref() != Some(directory);
    let missing =
        missing.then(|| MissingFolder { wanted: directory.to_owned(), nearest: nearest.clone() });
    (nearest, missing)
}

/// Reopens the sessions of a workspace.
struct Opening<'a> {
    workspace: &'a Workspace,
    mux: &'a Mux,
    opened: Reopened,
}

impl Opening<'_> {
    fn session(&self, id: u64) -> Option<&Session> {
        self.workspace.sessions.iter().find(|session| session.id == id)
    }

    fn tab(&mut self, title: Option<&str>, panes: &TabPart) {
        let mut ids = Vec::new();
        let Some(tree) = self.tree(panes, 0, &mut ids) else { return };
        // A failure is logged, and the session is left out.
        let replace = |error: &MuxError, _: &Spawn| {
            tracing::warn!(%error, "a session of a workspace is left out");
            None
        };
        let Ok(opened) = self.mux.open_tree(tree, false, OnExit::Close, replace) else { return };
        if let Some(title) = title {
            let _ = self.mux.rename_tab(opened.tab, title);
        }
        for (pane, id) in opened.panes.iter().zip(ids) {
            let Some(pane) = pane else { continue };
            if let Some(session) = self.session(id).filter(|session| session.named) {
                pane.set_name(&session.title);
            }
            self.opened.sessions.push(pane.id().0);
        }
    }

    /// The panes to open for a part at this depth. Adds the numbers of its sessions to `ids`. `None` if there are too
    /// many sessions.
    fn tree(&mut self, part: &TabPart, depth: usize, ids: &mut Vec<u64>) -> Option<PaneTree> {
        // This limit is deeper than any layout that fits on a screen.
        const DEEPEST: usize = 64;
        match part {
            TabPart::Session { id } => {
                if self.opened.sessions.len() + ids.len() >= MOST {
                    return None;
                }
                ids.push(*id);
                let cwd = self.session(*id).and_then(|session| local_path(&session.cwd));
                let (cwd, missing) = cwd.map_or((None, None), |cwd| nearest_folder(&cwd));
                self.opened.missing.extend(missing);
                Some(PaneTree::Pane(Spawn { cwd, ..Spawn::default() }))
            }
            TabPart::Split { first, .. } if depth >= DEEPEST => self.tree(first, depth, ids),
            TabPart::Split { split, share, first, second } => {
                let first = self.tree(first, depth + 1, ids);
                let second = self.tree(second, depth + 1, ids);
                match (first, second) {
                    (Some(first), Some(second)) => Some(PaneTree::Split {
                        axis: match split {
                            Side::Right => Axis::Horizontal,
                            Side::Down => Axis::Vertical,
                        },
                        ratio: *share,
                        first: Box::new(first),
                        second: Box::new(second),
                    }),
                    (first, second) => first.or(second),
                }
            }
        }
    }
}
