//! Layouts saved under names: what each session was called and where it was, and how tabs were split.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, Mux, Node, OnExit, Pane, PaneId, Spawn, TabId, local_path, private};

/// The folder in Unterm's home directory.
const FOLDER: &str = "workspaces";
/// The most sessions that are opened again.
const MOST: usize = 200;
/// The longest file that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// A saved layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// Its name.
    pub name: String,
    /// Its sessions, in the order they were opened.
    pub sessions: Vec<Session>,
    /// RFC 3339, UTC.
    pub saved_at: String,
    /// Its tabs, left to right. Absent in files of other programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tabs: Vec<Tab>,
}

/// A session as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its number then.
    pub id: u64,
    /// Its title then.
    #[serde(default)]
    pub title: String,
    /// Somebody gave it that title, and it has it again when it is opened again; else its program did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// A `file://` URI, or empty.
    #[serde(default)]
    pub cwd: String,
}

/// A tab as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// The title that somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How it was split.
    pub panes: Part,
}

/// A session, or two parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Part {
    /// Two parts.
    Split {
        /// Where the second one is: `right` or `down`.
        split: Side,
        /// The first one's share of the space.
        share: f32,
        /// The left or upper one.
        first: Box<Part>,
        /// The right or lower one.
        second: Box<Part>,
    },
    /// A session, by its number then.
    Session {
        /// The number.
        id: u64,
    },
}

/// Where a second part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Right of the first.
    Right,
    /// Below the first.
    Down,
}

/// The file of a name; `None`: that is no name.
fn file(home: &Path, name: &str) -> Option<PathBuf> {
    let is_name = !name.is_empty()
        && name.len() <= 128
        && !name.starts_with('.')
        && !name.contains(|char: char| matches!(char, '/' | '\\') || char.is_control());
    is_name.then(|| home.join(FOLDER).join(format!("{name}.json")))
}

/// Why a layout was not saved or read.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The name can't be a file's.
    #[error("Invalid workspace name: {0:?}")]
    Name(String),
    /// There is none.
    #[error("Workspace '{0}' not found")]
    Missing(String),
    /// Its file can't be used.
    #[error("Workspace '{name}' can't be used: {error}")]
    Broken {
        /// The name.
        name: String,
        /// Why.
        error: String,
    },
    /// The disk.
    #[error("Workspaces can't be read or written: {0}")]
    Io(#[from] io::Error),
}

impl Workspace {
    /// What a mux has now.
    pub fn of(mux: &Mux, name: &str) -> Self {
        let sessions = mux.panes().into_iter().map(|pane| Session {
            id: pane.id().0,
            title: pane.title(),
            named: pane.has_name(),
            cwd: pane.cwd_uri(),
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

    /// Writes it; what was saved under its name before is replaced.
    pub fn write(&self, home: &Path) -> Result<(), WorkspaceError> {
        let bad = || WorkspaceError::Name(self.name.clone());
        let file = file(home, &self.name).ok_or_else(bad)?;
        private::create_folder(&home.join(FOLDER))?;
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::from)?;
        private::write(&file, &text)?;
        Ok(())
    }

    /// Reads one.
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

    /// The names there are, in order.
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

    /// Opens its tabs again, behind those there are, each session with a shell where it was; those that can't be opened
    /// are left out, and said in the log. Gives the new sessions' numbers.
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
    /// What a node of a tab's layout is.
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

    /// What is left of it with some sessions only, each in the whole space of those that are not there; `None`: nothing.
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

    /// The session in its first corner.
    fn first(&self) -> u64 {
        match self {
            Self::Split { first, .. } => first.first(),
            Self::Session { id } => *id,
        }
    }
}

/// Sessions being opened again.
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
        // One that is gone since means home.
        Spawn { cwd: cwd.filter(|cwd| cwd.is_dir()), ..Spawn::default() }
    }

    /// A pane was opened for the session of that number.
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

    /// Splits `pane`, which is the first of its part; `path`: where the part lies in its tab.
    fn split(&mut self, part: &Part, tab: TabId, pane: PaneId, path: &mut Vec<bool>) {
        // As deep as a layout that a person can see.
        const DEEPEST: usize = 64;
        let Part::Split { split, share, first, second } = part else { return };
        if self.opened.len() >= MOST || path.len() >= DEEPEST {
            return;
        }
        let axis = match split {
            Side::Right => Axis::Horizontal,
            Side::Down => Axis::Vertical,
        };
        // Splitting gives the new pane its tab's focus, and no more.
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
