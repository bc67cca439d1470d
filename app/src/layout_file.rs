//! Layout files: tabs, their splits, and the directory and program of each pane. Unterm opens and
//! saves them.
//!
//! Owns the file format, and converts a layout to panes of a mux and back. Never saves the state of programs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use unterm_control::{
    Layouts, did_you_mean,
    workspace::{self, MissingFolder, Side as SavedSide, TabPart, Workspace},
};
use unterm_mux::{Axis, Mux, Node, OnExit, PaneId, PaneTree, Spawn, Tab};

use crate::{plain_words, toml_files};

/// The folder of named layouts in Unterm's home directory.
const FOLDER: &str = "layouts";
/// The maximum size of a layout file, in bytes.
const LONGEST: u64 = 4 << 20;
/// The maximum number of panes in a layout. A larger number is surely a mistake.
const PANES: usize = 200;

/// The tabs of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayoutFile {
    /// Number of the active tab, from 1.
    #[serde(default)]
    active: usize,
    tabs: Vec<TabFile>,
}

/// A tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TabFile {
    /// The title that the user gave the tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    panes: PaneFile,
}

/// A pane, or a split with two parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Keys")]
enum PaneFile {
    Split {
        split: Side,
        /// The first part's share of the space, from 0 to 1.
        share: f32,
        first: Box<PaneFile>,
        second: Box<PaneFile>,
    },
    Pane {
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<PathBuf>,
        #[serde(skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Whether the pane has its tab's focus; the default is the first pane.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        focused: bool,
    },
}

/// All keys of a pane or a split, so that unknown keys are errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    split: Option<Side>,
    share: Option<f32>,
    first: Option<Box<PaneFile>>,
    second: Option<Box<PaneFile>>,
    cwd: Option<PathBuf>,
    program: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    focused: bool,
}

impl TryFrom<Keys> for PaneFile {
    type Error = &'static str;

    fn try_from(keys: Keys) -> Result<Self, Self::Error> {
        let Keys { split, share, first, second, cwd, program, args, focused } = keys;
        let share = share.unwrap_or(HALF);
        match (split, first, second) {
            (None, None, None) => Ok(Self::Pane { cwd, program, args, focused }),
            (Some(_), ..) if cwd.is_some() || program.is_some() || !args.is_empty() || focused => {
                Err("what is split has no cwd, program, args or focused: its parts have")
            }
            (Some(_), ..) if !(0.0..=1.0).contains(&share) => Err("share must be between 0 and 1"),
            (Some(split), Some(first), Some(second)) => {
                Ok(Self::Split { split, share, first, second })
            }
            _ => Err("what is split has the keys split, first and second"),
        }
    }
}

/// The side of the first part on which the second part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Right,
    Down,
}

/// The default share of the first part.
const HALF: f32 = 0.5;

impl LayoutFile {
    /// Reads a layout by its name in the folder, or by its path.
    ///
    /// # Errors
    /// If the layout is missing or invalid.
    pub(crate) fn read(home: &Path, name: &str) -> Result<Self> {
        let file = file(home, name);
        if is_workspace_newer(home, name, &file) {
            return Ok(Self::of_workspace(&Workspace::read(home, name)?));
        }
        let text = match unterm_mux::private::read_text_of_anyone(&file, LONGEST) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let names = Self::names(home);
                let near = did_you_mean(name, names.iter().map(String::as_str));
                bail!("{}: there is no such layout{near}", file.display());
            }
            text => text.with_context(|| file.display().to_string())?,
        };
        let layout: Self = toml_edit::de::from_str(&text).map_err(|error| {
            let line = toml_files::line(&text, &error);
            let why = plain_words::of_file(error.message());
            anyhow::anyhow!("{}:{line}: {why}", file.display())
        })?;
        let panes: usize = layout.tabs.iter().map(|tab| tab.panes.count()).sum();
        if panes > PANES {
            bail!("{}: {panes} panes are too many; the maximum is {PANES}", file.display());
        }
        Ok(layout)
    }

    /// The names of all layouts: files in the folder, and workspaces that `workspace save` wrote.
    pub(crate) fn names(home: &Path) -> Vec<String> {
        let mut names = toml_files::names(&home.join(FOLDER));
        names.extend(Workspace::names(home).unwrap_or_default());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Converts a workspace that `workspace save` wrote.
    fn of_workspace(saved: &Workspace) -> Self {
        let tab = |title: Option<String>, panes: &TabPart| TabFile {
            title,
            panes: PaneFile::of_part(saved, panes),
        };
        let tabs = match saved.tabs.as_slice() {
            // Workspaces that other programs wrote list only sessions, and no tabs.
            [] => saved
                .sessions
                .iter()
                .map(|session| tab(None, &TabPart::Session { id: session.id }))
                .collect(),
            tabs => tabs.iter().map(|saved| tab(saved.title.clone(), &saved.panes)).collect(),
        };
        Self { active: 1, tabs }
    }

    /// Converts the layout to the reply of `workspace.restore`. Numbers the panes from 0.
    fn to_workspace(&self, name: &str, saved_at: String) -> Workspace {
        let mut sessions = Vec::new();
        let tab = |tab: &TabFile| workspace::Tab {
            title: tab.title.clone(),
            panes: tab.panes.to_part(&mut sessions),
        };
        let tabs = self.tabs.iter().map(tab).collect();
        Workspace { name: name.to_owned(), sessions, saved_at, tabs }
    }

    /// Writes the layout under a name and returns its path.
    ///
    /// # Errors
    /// If the name is not valid for a file or reserved, or the file can't be written.
    pub(crate) fn write(&self, home: &Path, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            bail!(
                "{name:?} can't be a layout's name: a name must not contain a slash or begin with a dot"
            );
        }
        workspace::check_name(name)?;
        let file = file(home, name);
        std::fs::create_dir_all(home.join(FOLDER))?;
        let text = toml_edit::ser::to_string_pretty(self)?;
        unterm_mux::private::write(&file, text.as_bytes())
            .with_context(|| file.display().to_string())?;
        Ok(file)
    }

    /// The layout of a mux, without the windows of tmux. `with_programs` includes the programs that panes were opened
    /// with, except a shell.
    pub(crate) fn of(mux: &Mux, with_programs: bool) -> Self {
        let layout = mux.layout();
        let is_own = |tab: &&Tab| !mux.pane(tab.focused).is_some_and(|pane| pane.is_in_tmux());
        let before = layout.tabs.iter().take(layout.active).filter(is_own).count();
        let tabs = layout.tabs.iter().filter(is_own).map(|tab| {
            // If a tab has only one pane, that pane has the focus anyway.
            let focused = Some(tab.focused).filter(|_| matches!(tab.root, Node::Split { .. }));
            let panes = PaneFile::of(mux, &tab.root, with_programs, focused);
            TabFile { title: tab.title.clone(), panes }
        });
        let tabs: Vec<TabFile> = tabs.collect();
        Self { active: (before + 1).min(tabs.len().max(1)), tabs }
    }

    pub(crate) fn tab_count(&self) -> usize {
        self.tabs.len()
    }

    /// This layout, followed by the tabs of another layout that this layout does not contain. Each tab of this layout
    /// stands for at most one equal tab of the other, so that several equal tabs of a window all stay. The active tab is
    /// that of the other layout. Leaves out tabs if there would be too many panes.
    pub(crate) fn followed_by(mut self, other: &Self) -> Self {
        let front = other.active.saturating_sub(1);
        let mut panes: usize = self.tabs.iter().map(|tab| tab.panes.count()).sum();
        let mut own: Vec<usize> = (0..self.tabs.len()).collect();
        for (i, tab) in other.tabs.iter().enumerate() {
            let more = tab.panes.count();
            let equal = own.iter().position(|at| self.tabs[*at] == *tab);
            let at = match equal.map(|equal| own.remove(equal)) {
                Some(at) => at,
                None if panes + more <= PANES => {
                    panes += more;
                    self.tabs.push(tab.clone());
                    self.tabs.len() - 1
                }
                None => continue,
            };
            if i == front {
                self.active = at + 1;
            }
        }
        self
    }

    /// Opens the layout in a mux. If a program can't be started, a shell replaces it. If the shell can't be
    /// started either, the pane is left out. If a directory no longer exists, the pane starts in the nearest folder
    /// above it that exists. Returns what differs from the layout, as messages for users.
    pub(crate) fn open(&self, mux: &Mux) -> Vec<String> {
        let mut ids = Vec::new();
        let mut faults = Vec::new();
        for tab in &self.tabs {
            let mut opening = Opening::default();
            let tree = tab.panes.tree(&mut opening);
            for folder in opening.missing {
                faults.push(folder.to_string());
            }
            let opened = mux.open_tree(tree, true, OnExit::Close, |error, spawn| {
                tracing::warn!("a part of the layout can't be started: {error}");
                faults.push(error.to_string());
                let shell = Spawn { program: None, args: Vec::new(), ..spawn.clone() };
                spawn.program.is_some().then_some(shell)
            });
            let Ok(opened) = opened else { continue };
            let focused = opening.focused.and_then(|number| opened.panes[number].as_ref());
            if let Some(pane) = focused.or(opened.panes.iter().flatten().next()) {
                let _ = mux.focus(pane.id());
            }
            if let Some(title) = &tab.title {
                let _ = mux.rename_tab(opened.tab, title);
            }
            ids.push(opened.tab);
        }
        if let Some(front) = ids.get(self.active.saturating_sub(1)) {
            let _ = mux.activate_tab(*front);
        }
        faults
    }
}

/// Properties of the panes of a tab that is to be opened.
#[derive(Default)]
struct Opening {
    /// The number of panes so far.
    count: usize,
    /// The number of the pane that gets the focus, in reading order from 0.
    focused: Option<usize>,
    missing: Vec<MissingFolder>,
}

/// The layout files of a home directory, for the control server.
pub(crate) struct LayoutFolder {
    /// Unterm's home directory.
    pub(crate) home: PathBuf,
}

impl Layouts for LayoutFolder {
    fn names(&self) -> Vec<String> {
        toml_files::names(&self.home.join(FOLDER))
    }

    fn read(&self, name: &str) -> Option<Result<Workspace, String>> {
        // Refuse paths: a caller may read layouts, but no other files.
        if name.contains(['/', '\\', '\0']) || name.starts_with('.') {
            return None;
        }
        let file = file(&self.home, name);
        let changed = std::fs::metadata(&file).and_then(|it| it.modified()).ok()?;
        if is_workspace_newer(&self.home, name, &file) {
            return None;
        }
        let saved_at = OffsetDateTime::from(changed).format(&Rfc3339).unwrap_or_default();
        let layout = LayoutFile::read(&self.home, name);
        Some(layout.map(|it| it.to_workspace(name, saved_at)).map_err(|error| format!("{error:#}")))
    }
}

/// Whether a workspace of this name exists and is newer than the layout file, or there is no such file. So a name
/// always selects the layout that was saved last.
fn is_workspace_newer(home: &Path, name: &str, file: &Path) -> bool {
    let changed = std::fs::metadata(file).and_then(|it| it.modified()).ok();
    Workspace::saved(home, name).is_some_and(|saved| changed.is_none_or(|changed| changed < saved))
}

/// The file of a layout.
fn file(home: &Path, name: &str) -> PathBuf {
    match name.contains('/') {
        true => absolute(Path::new(name)),
        false => home.join(FOLDER).join(format!("{name}.toml")),
    }
}

/// Replaces a leading `~` with the home directory.
fn absolute(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

impl PaneFile {
    fn of(mux: &Mux, node: &Node, with_programs: bool, focused: Option<PaneId>) -> Self {
        match node {
            Node::Pane(id) => {
                let pane = mux.pane(*id);
                let command = pane.as_ref().filter(|_| with_programs);
                let command = command.and_then(|pane| pane.command());
                let (program, args) = match command {
                    Some((program, args)) => (Some(program.to_owned()), args.to_vec()),
                    None => (None, Vec::new()),
                };
                let cwd = pane.and_then(|pane| pane.cwd_path());
                Self::Pane { cwd, program, args, focused: Some(*id) == focused }
            }
            Node::Split { axis, ratio, first, second } => Self::Split {
                split: match axis {
                    Axis::Horizontal => Side::Right,
                    Axis::Vertical => Side::Down,
                },
                share: *ratio,
                first: Box::new(Self::of(mux, first, with_programs, focused)),
                second: Box::new(Self::of(mux, second, with_programs, focused)),
            },
        }
    }

    /// Converts the part to its form in a workspace. Adds its panes to `sessions`.
    fn to_part(&self, sessions: &mut Vec<workspace::Session>) -> TabPart {
        match self {
            Self::Pane { cwd, program, .. } => {
                let id = sessions.len() as u64;
                let cwd = cwd.as_deref().map(|cwd| unterm_mux::file_uri(&absolute(cwd)));
                sessions.push(workspace::Session {
                    id,
                    title: String::new(),
                    named: false,
                    cwd: cwd.unwrap_or_default(),
                    program: program.clone(),
                });
                TabPart::Session { id }
            }
            Self::Split { split, share, first, second } => TabPart::Split {
                split: match split {
                    Side::Right => SavedSide::Right,
                    Side::Down => SavedSide::Down,
                },
                share: *share,
                first: Box::new(first.to_part(sessions)),
                second: Box::new(second.to_part(sessions)),
            },
        }
    }

    /// Converts a part of a workspace.
    fn of_part(saved: &Workspace, part: &TabPart) -> Self {
        match part {
            TabPart::Session { id } => {
                let session = saved.sessions.iter().find(|session| session.id == *id);
                let cwd = session.and_then(|session| unterm_mux::local_path(&session.cwd));
                Self::Pane { cwd, program: None, args: Vec::new(), focused: false }
            }
            TabPart::Split { split, share, first, second } => Self::Split {
                split: match split {
                    SavedSide::Right => Side::Right,
                    SavedSide::Down => Side::Down,
                },
                share: *share,
                first: Box::new(Self::of_part(saved, first)),
                second: Box::new(Self::of_part(saved, second)),
            },
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Pane { .. } => 1,
            Self::Split { first, second, .. } => first.count() + second.count(),
        }
    }

    /// The panes to open for this part.
    fn tree(&self, opening: &mut Opening) -> PaneTree {
        match self {
            Self::Pane { cwd, program, args, focused } => {
                if *focused {
                    opening.focused.get_or_insert(opening.count);
                }
                opening.count += 1;
                let (cwd, missing) = match cwd {
                    Some(cwd) => workspace::nearest_folder(&absolute(cwd)),
                    None => (None, None),
                };
                opening.missing.extend(missing);
                let (program, args) = (program.clone(), args.clone());
                PaneTree::Pane(Spawn { cwd, program, args, ..Spawn::default() })
            }
            Self::Split { split, share, first, second } => PaneTree::Split {
                axis: match split {
                    Side::Right => Axis::Horizontal,
                    Side::Down => Axis::Vertical,
                },
                ratio: *share,
                first: Box::new(first.tree(opening)),
                second: Box::new(second.tree(opening)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::MuxOptions;

    use super::*;

    #[test]
    fn a_layout_file_opens_the_tabs_that_it_describes() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(FOLDER)).unwrap();
        let cwd = home.path().canonicalize().unwrap();
        let text = format!(
            "active = 1\n[[tabs]]\n[tabs.panes]\nsplit = 'right'\nshare = 0.25\n\
             first = {{ cwd = {cwd:?}, program = 'sh' }}\n\
             second = {{ split = 'down', first = {{ program = 'sh', focused = true }}, second = {{ program = 'sh' }} }}\n\
             [[tabs]]\ntitle = 'own'\npanes = {{ program = 'sh', args = ['-c', 'sleep 100'] }}\n"
        );
        std::fs::write(file(home.path(), "work"), text).unwrap();
        let layout = LayoutFile::read(home.path(), "work").unwrap();
        let mux = Mux::new(MuxOptions::default());
        assert_eq!(layout.open(&mux), [""; 0]);
        let now = mux.layout();
        assert_eq!((now.tabs.len(), now.active), (2, 0));
        assert_eq!(now.tabs[1].title.as_deref(), Some("own"));
        assert_eq!(LayoutFile::of(&mux, true).tabs[1].title.as_deref(), Some("own"));
        let Node::Split { ratio, second, .. } = &now.tabs[0].root else { panic!("no split") };
        assert_eq!(*ratio, 0.25);
        assert!(matches!(&**second, Node::Split { axis: Axis::Vertical, .. }));
        assert_eq!(now.tabs[0].focused, now.tabs[0].panes()[1], "the one that says so");

        let read = LayoutFile::of(&mux, true);
        read.write(home.path(), "again").unwrap();
        assert_eq!(LayoutFile::read(home.path(), "again").unwrap(), read);
        let PaneFile::Split { first, .. } = &read.tabs[0].panes else { panic!("no split") };
        let PaneFile::Pane { cwd: kept, .. } = &**first else { panic!("no pane") };
        assert_eq!(kept.as_ref(), Some(&cwd));
        mux.shutdown();
        assert!(read.write(home.path(), "../x").is_err());
        let error = read.write(home.path(), "last").unwrap_err().to_string();
        assert!(error.contains("the tabs of the last window"), "{error}");
        let error = LayoutFile::read(home.path(), "agin").unwrap_err().to_string();
        assert!(error.ends_with("there is no such layout; did you mean \"again\"?"), "{error}");
    }

    #[test]
    fn a_shell_takes_the_place_of_a_program_that_is_gone() {
        let text =
            "tabs = [{ panes = { split = 'down', first = { program = '/gone' }, second = {} } }]";
        let layout: LayoutFile = toml_edit::de::from_str(text).unwrap();
        let mux = Mux::new(MuxOptions::default());
        let faults = layout.open(&mux);
        assert_eq!(mux.layout().tabs[0].panes().len(), 2);
        mux.shutdown();
        assert!(faults.len() == 1 && faults[0].contains("/gone"), "{faults:?}");
    }

    #[test]
    fn a_deleted_directory_is_named_and_replaced_by_the_nearest_one() {
        let home = tempfile::tempdir().unwrap();
        let there = home.path().canonicalize().unwrap();
        let gone = there.join("deleted/deeper");
        let pane = |cwd: &Path| format!("{{ cwd = {cwd:?}, program = 'cat' }}");
        let (first, second) = (pane(&gone), pane(&there));
        let text = format!(
            "tabs = [{{ panes = {{ split = 'right', first = {first}, second = {second} }} }}]"
        );
        let layout: LayoutFile = toml_edit::de::from_str(&text).unwrap();
        let mux = Mux::new(MuxOptions::default());
        let faults = layout.open(&mux);
        let again = LayoutFile::of(&mux, true);
        mux.shutdown();
        let PaneFile::Split { first, .. } = &again.tabs[0].panes else { panic!("no split") };
        let PaneFile::Pane { cwd, .. } = &**first else { panic!("no pane") };
        assert_eq!(cwd.as_ref(), Some(&there));
        let message =
            format!("{} no longer exists; its pane starts in {}", gone.display(), there.display());
        assert_eq!(faults, [message]);
    }

    #[test]
    fn the_tabs_of_two_layouts_are_joined_without_repetition() {
        let layout = |folders: &[&str], active| {
            let tab = |cwd: &&str| TabFile {
                title: None,
                panes: PaneFile::Pane {
                    cwd: Some(cwd.into()),
                    program: None,
                    args: Vec::new(),
                    focused: false,
                },
            };
            LayoutFile { active, tabs: folders.iter().map(tab).collect() }
        };
        let joined = layout(&["/a", "/b"], 1).followed_by(&layout(&["/b", "/c"], 2));
        assert_eq!(joined, layout(&["/a", "/b", "/c"], 3));
        assert_eq!(LayoutFile::default().followed_by(&joined), joined);
        assert_eq!(joined.clone().followed_by(&LayoutFile::default()), joined);
        // Equal tabs of one window all stay.
        let equal = layout(&["/a", "/a", "/b", "/a"], 4);
        assert_eq!(LayoutFile::default().followed_by(&equal), equal);
        assert_eq!(equal.clone().followed_by(&equal), equal);
        let joined_equal = layout(&["/a", "/c"], 1).followed_by(&equal);
        assert_eq!(joined_equal, layout(&["/a", "/c", "/a", "/b", "/a"], 5));
        let many: Vec<String> = (0..PANES + 50).map(|number| format!("/{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(joined.followed_by(&layout(&many, 1)).tab_count(), PANES);
    }

    #[test]
    fn an_invalid_layout_is_reported_with_its_line() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(FOLDER)).unwrap();
        for (panes, why) in [
            ("{ prgram = 'sh' }", "unknown key \"prgram\"; there are"),
            (
                "{ split = 'right', first = {} }",
                "what is split has the keys split, first and second",
            ),
            ("{ split = 'up', first = {}, second = {} }", "\"up\" is none of right, down"),
            (
                "{ split = 'down', share = 2, first = {}, second = {} }",
                "share must be between 0 and 1",
            ),
            ("{ split = 'down', cwd = '/', first = {}, second = {} }", "has no cwd"),
        ] {
            let text = format!("[[tabs]]\npanes = {panes}\n");
            std::fs::write(file(home.path(), "work"), text).unwrap();
            let error = LayoutFile::read(home.path(), "work").unwrap_err().to_string();
            assert!(error.contains("work.toml:2: ") && error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_saved_workspace_opens_as_a_layout() {
        let home = tempfile::tempdir().unwrap();
        let mux = Mux::new(MuxOptions::default());
        let spawn = || Spawn { program: Some("cat".into()), ..Spawn::default() };
        let pane = mux.open_tab(spawn(), None, OnExit::Close).unwrap();
        mux.split(pane.id(), Axis::Vertical, spawn(), OnExit::Close).unwrap();
        mux.open_tab(spawn(), None, OnExit::Close).unwrap();
        Workspace::of(&mux, "today").write(home.path()).unwrap();
        mux.shutdown();

        assert_eq!(LayoutFile::names(home.path()), ["today"]);
        let layout = LayoutFile::read(home.path(), "today").unwrap();
        assert_eq!(layout.tab_count(), 2);
        assert!(matches!(&layout.tabs[0].panes, PaneFile::Split { split: Side::Down, .. }));
        let error = LayoutFile::read(home.path(), "tody").unwrap_err().to_string();
        assert!(error.ends_with("there is no such layout; did you mean \"today\"?"), "{error}");
    }
}
