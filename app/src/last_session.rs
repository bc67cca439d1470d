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
    fn what_was_written_is_read_and_rubbish_is_not() {
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
