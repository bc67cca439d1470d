//! A layout as a file: tabs, how each is split, and where what runs. What a window opens with, and what it had.
//!
//! Owns the form of the file, and how a mux is brought to it and read back. Programs are named, never their state.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, Mux, Node, OnExit, PaneId, Spawn, TabId};

/// The folder of named layouts in Unterm's home directory.
const FOLDER: &str = "layouts";
/// Panes of one layout: more are a mistake.
const PANES: usize = 200;

/// A window's tabs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayoutFile {
    /// Number of the tab in front, from 1.
    #[serde(default)]
    active: usize,
    tabs: Vec<TabFile>,
}

/// One tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TabFile {
    /// What the person called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    panes: PaneFile,
}

/// A pane, or two parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum PaneFile {
    Split {
        split: Side,
        /// The first part's share.
        #[serde(default = "half")]
        share: f32,
        first: Box<PaneFile>,
        second: Box<PaneFile>,
    },
    Pane {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<PathBuf>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
    },
}

/// Where the second part lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Right,
    Down,
}

fn half() -> f32 {
    0.5
}

impl LayoutFile {
    /// Reads a named layout: of the folder, or at a path.
    ///
    /// # Errors
    /// When there is none, or it is not in its form.
    pub(crate) fn read(home: &Path, name: &str) -> Result<Self> {
        let file = file(home, name);
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let layout: Self =
            toml_edit::de::from_str(&text).with_context(|| file.display().to_string())?;
        let panes: usize = layout.tabs.iter().map(|tab| tab.panes.count()).sum();
        if panes > PANES {
            bail!("{}: {panes} panes are too many; {PANES} may be", file.display());
        }
        Ok(layout)
    }

    /// Writes it under a name and gives its file.
    ///
    /// # Errors
    /// When the name can't be a file's, or it can't be written.
    pub(crate) fn write(&self, home: &Path, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            bail!("{name:?} can't be a layout's name");
        }
        let file = file(home, name);
        std::fs::create_dir_all(home.join(FOLDER))?;
        let text = toml_edit::ser::to_string_pretty(self)?;
        unterm_mux::private::replace(&file, |file| {
            std::io::Write::write_all(file, text.as_bytes())
        })
        .with_context(|| file.display().to_string())?;
        Ok(file)
    }

    /// What a mux has now; `with_programs`: also what panes were asked to run, where that is not the person's shell.
    pub(crate) fn of(mux: &Mux, with_programs: bool) -> Self {
        let layout = mux.layout();
        let tabs = layout.tabs.iter().map(|tab| TabFile {
            title: tab.title.clone(),
            panes: PaneFile::of(mux, &tab.root, with_programs),
        });
        Self { active: layout.active + 1, tabs: tabs.collect() }
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.tabs.is_empty()
    }

    /// Opens it in a mux. What can't be opened is left out, and said in the log.
    pub(crate) fn open(&self, mux: &Mux) {
        let mut ids = Vec::new();
        for tab in &self.tabs {
            let pane = match mux.open_tab(tab.panes.spawn(), None, OnExit::Close) {
                Ok(pane) => pane.id(),
                Err(error) => {
                    tracing::warn!("a tab of the layout is left out: {error}");
                    continue;
                }
            };
            let layout = mux.layout();
            let Some(id) = layout.tab_of(pane).map(|index| layout.tabs[index].id) else { continue };
            tab.panes.open(mux, id, pane, &mut Vec::new());
            let _ = mux.focus(pane);
            if let Some(title) = &tab.title {
                let _ = mux.rename_tab(id, title);
            }
            ids.push(id);
        }
        if let Some(front) = ids.get(self.active.saturating_sub(1)) {
            let _ = mux.activate_tab(*front);
        }
    }
}

/// The file of a layout's name.
fn file(home: &Path, name: &str) -> PathBuf {
    match name.contains('/') {
        true => absolute(Path::new(name)),
        false => home.join(FOLDER).join(format!("{name}.toml")),
    }
}

/// A path in which `~` is the person's home.
fn absolute(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

impl PaneFile {
    fn of(mux: &Mux, node: &Node, with_programs: bool) -> Self {
        match node {
            Node::Pane(id) => {
                let pane = mux.pane(*id);
                let command = pane.as_ref().filter(|_| with_programs);
                let command = command.and_then(|pane| pane.command());
                let (program, args) = match command {
                    Some((program, args)) => (Some(program.to_owned()), args.to_vec()),
                    None => (None, Vec::new()),
                };
                Self::Pane { cwd: pane.and_then(|pane| pane.cwd_path()), program, args }
            }
            Node::Split { axis, ratio, first, second } => Self::Split {
                split: match axis {
                    Axis::Horizontal => Side::Right,
                    Axis::Vertical => Side::Down,
                },
                share: *ratio,
                first: Box::new(Self::of(mux, first, with_programs)),
                second: Box::new(Self::of(mux, second, with_programs)),
            },
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Pane { .. } => 1,
            Self::Split { first, second, .. } => first.count() + second.count(),
        }
    }

    /// What its first pane runs.
    fn spawn(&self) -> Spawn {
        match self {
            Self::Split { first, .. } => first.spawn(),
            Self::Pane { cwd, program, args } => Spawn {
                // One that is gone since means home.
                cwd: cwd.as_deref().map(absolute).filter(|cwd| cwd.is_dir()),
                program: program.clone(),
                args: args.clone(),
                ..Spawn::default()
            },
        }
    }

    /// Splits `pane`, which is its first one; `path`: where it lies in its tab.
    fn open(&self, mux: &Mux, tab: TabId, pane: PaneId, path: &mut Vec<bool>) {
        let Self::Split { split, share, first, second } = self else { return };
        let axis = match split {
            Side::Right => Axis::Horizontal,
            Side::Down => Axis::Vertical,
        };
        let new = match mux.split_again(pane, axis, second.spawn(), OnExit::Close) {
            Ok(new) => new.id(),
            Err(error) => {
                tracing::warn!("a pane of the layout is left out: {error}");
                return first.open(mux, tab, pane, path);
            }
        };
        let _ = mux.set_ratio(tab, path, *share);
        for (part, pane, is_second) in [(first, pane, false), (second, new, true)] {
            path.push(is_second);
            part.open(mux, tab, pane, path);
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::MuxOptions;

    use super::*;

    #[test]
    fn what_is_opened_from_a_file_is_what_the_file_says() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(FOLDER)).unwrap();
        let cwd = home.path().canonicalize().unwrap();
        let text = format!(
            "active = 1\n[[tabs]]\n[tabs.panes]\nsplit = 'right'\nshare = 0.25\n\
             first = {{ cwd = {cwd:?}, program = 'sh' }}\n\
             second = {{ split = 'down', first = {{ program = 'sh' }}, second = {{ program = 'sh' }} }}\n\
             [[tabs]]\ntitle = 'own'\npanes = {{ program = 'sh', args = ['-c', 'sleep 100'] }}\n"
        );
        std::fs::write(file(home.path(), "work"), text).unwrap();
        let layout = LayoutFile::read(home.path(), "work").unwrap();
        let mux = Mux::new(MuxOptions::default());
        layout.open(&mux);
        let now = mux.layout();
        assert_eq!((now.tabs.len(), now.active), (2, 0));
        assert_eq!(now.tabs[1].title.as_deref(), Some("own"));
        assert_eq!(LayoutFile::of(&mux, true).tabs[1].title.as_deref(), Some("own"));
        let Node::Split { ratio, second, .. } = &now.tabs[0].root else { panic!("no split") };
        assert_eq!(*ratio, 0.25);
        assert!(matches!(&**second, Node::Split { axis: Axis::Vertical, .. }));

        let read = LayoutFile::of(&mux, true);
        read.write(home.path(), "again").unwrap();
        assert_eq!(LayoutFile::read(home.path(), "again").unwrap(), read);
        let PaneFile::Split { first, .. } = &read.tabs[0].panes else { panic!("no split") };
        let PaneFile::Pane { cwd: kept, .. } = &**first else { panic!("no pane") };
        assert_eq!(kept.as_ref(), Some(&cwd));
        mux.shutdown();
        assert!(read.write(home.path(), "../x").is_err());
        assert!(LayoutFile::read(home.path(), "none").is_err());
    }
}
