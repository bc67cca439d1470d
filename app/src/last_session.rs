//! `last_session` in Unterm's home directory: the size, position and tabs of the last window.

use std::path::Path;

use serde::{Deserialize, Serialize};
use unterm_mux::private;

use crate::layout_file::LayoutFile;

const FILE: &str = "last_session";
/// The maximum size of the file, in bytes.
const LONGEST: u64 = 4 << 20;

/// The state of the last window. Lengths are in physical pixels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LastSession {
    /// The width without the frame.
    pub(crate) width: u32,
    /// The height without the frame.
    pub(crate) height: u32,
    /// The position of the window's frame on the screen, if the desktop reports it.
    #[serde(default)]
    pub(crate) place: Option<(i32, i32)>,
    #[serde(default)]
    pub(crate) maximized: bool,
    /// Whether the desktop preferred light colors. `None` if it did not report that.
    #[serde(default)]
    pub(crate) is_light: Option<bool>,
    /// The id of the process whose window is open. `None` after the window was closed.
    #[serde(default)]
    pub(crate) process: Option<u32>,
    /// The open tabs. Empty if the last program had ended.
    #[serde(default)]
    pub(crate) layout: LayoutFile,
    /// The tabs of earlier windows that ended without being closed, and whose tabs the user has not reopened.
    #[serde(default)]
    pub(crate) unopened: LayoutFile,
}

/// The tabs of earlier windows, until the user reopens them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unopened {
    pub(crate) layout: LayoutFile,
    /// Whether these windows ended without being closed. Their tabs are then saved again with the tabs of this window,
    /// so that they survive another unclean end.
    pub(crate) ended_unclean: bool,
    /// Whether the tabs come from several windows.
    pub(crate) are_several: bool,
}

impl LastSession {
    /// Reads the file. Returns `None` if the file is missing or not valid.
    pub(crate) fn read(home: &Path) -> Option<Self> {
        let text = private::read(&home.join(FILE), LONGEST);
        let text = text
            .map_err(|error| {
                if error.kind() != std::io::ErrorKind::NotFound {
                    tracing::warn!("{FILE} can't be used: {error}");
                }
            })
            .ok()?;
        serde_json::from_slice(&text)
            .map_err(|error| tracing::warn!("{FILE} can't be used: {error}"))
            .ok()
            .filter(|last: &Self| last.width > 0 && last.height > 0)
    }

    /// Whether the window ended without being closed, for example because its desktop ended. In this case, the file
    /// names a process that is not running any more. `running` lists the running processes.
    pub(crate) fn ended_unclean(&self, running: &[u32]) -> bool {
        self.process.is_some_and(|process| !running.contains(&process))
    }

    /// The tabs that the user can reopen. `None` if there are none. `is_open`: the new window opens the tabs of the last
    /// window itself. `running`: the running processes.
    pub(crate) fn unopened(&self, is_open: bool, running: &[u32]) -> Option<Unopened> {
        let ended_unclean = self.ended_unclean(running);
        let last = if is_open { LayoutFile::default() } else { self.layout.clone() };
        // A window that was closed leaves only its own tabs.
        let before = if ended_unclean { self.unopened.clone() } else { LayoutFile::default() };
        let are_several = before.tab_count() > 0 && last.tab_count() > 0;
        let layout = before.followed_by(&last);
        (layout.tab_count() > 0).then_some(Unopened { layout, ended_unclean, are_several })
    }

    pub(crate) fn write(&self, home: &Path) {
        let written = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::other)
            .and_then(|text| private::write(&home.join(FILE), &text));
        if let Err(error) = written {
            tracing::warn!("{FILE} can't be written: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_window_whose_process_is_gone_ended_unclean() {
        let of = |process| LastSession { process, ..LastSession::default() }.ended_unclean(&[7, 8]);
        assert!(!of(None), "it has closed");
        assert!(!of(Some(8)), "it is open");
        assert!(of(Some(9)));
    }

    #[test]
    fn tabs_that_were_never_reopened_survive_two_unclean_ends() {
        let layout = |folders: &[&str]| -> LayoutFile {
            let tabs: String = folders
                .iter()
                .map(|folder| format!("[[tabs]]\npanes = {{ cwd = '{folder}' }}\n"))
                .collect();
            toml_edit::de::from_str(&tabs).unwrap()
        };
        let last = |unopened: &[&str], process| LastSession {
            process,
            layout: layout(&["/b"]),
            unopened: if unopened.is_empty() { LayoutFile::default() } else { layout(unopened) },
            ..LastSession::default()
        };
        let of = |last: &LastSession, is_open| {
            let unopened = last.unopened(is_open, &[7])?;
            Some((unopened.layout.tab_count(), unopened.ended_unclean, unopened.are_several))
        };
        assert_eq!(of(&last(&[], Some(9)), false), Some((1, true, false)));
        assert_eq!(of(&last(&["/a"], Some(9)), false), Some((2, true, true)));
        // The new window opens the tabs of the last window itself, but not the tabs of earlier windows.
        assert_eq!(of(&last(&["/a"], Some(9)), true), Some((1, true, false)));
        assert_eq!(of(&last(&[], Some(9)), true), None);
        // The last window was closed or is open.
        assert_eq!(of(&last(&["/a"], None), false), Some((1, false, false)));
        assert_eq!(of(&last(&["/a"], Some(7)), false), Some((1, false, false)));
    }

    #[test]
    fn a_saved_session_is_read_and_an_invalid_file_is_not() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(LastSession::read(home.path()), None);
        let last = LastSession {
            width: 900,
            height: 600,
            place: Some((-10, 20)),
            maximized: true,
            is_light: Some(true),
            ..LastSession::default()
        };
        last.write(home.path());
        assert_eq!(LastSession::read(home.path()), Some(last));
        fs::write(home.path().join(FILE), "{\"width\": 0}").unwrap();
        assert_eq!(LastSession::read(home.path()), None);
    }
}
