//! `last_session` in Unterm's home directory: how large the last window was and where, and what was open in it.

use std::{fs, io::Write, path::Path};

use serde::{Deserialize, Serialize};

use crate::layout_file::LayoutFile;

const FILE: &str = "last_session";

/// The last window. Lengths are physical pixels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LastSession {
    /// Width of what is inside the frame.
    pub(crate) width: u32,
    /// Height of that.
    pub(crate) height: u32,
    /// Its place on the screen, with its frame, where the desktop tells.
    #[serde(default)]
    pub(crate) place: Option<(i32, i32)>,
    #[serde(default)]
    pub(crate) maximized: bool,
    /// Whether the desktop was light, where it told.
    #[serde(default)]
    pub(crate) is_light: Option<bool>,
    /// What was open; nothing where its last program had ended.
    #[serde(default)]
    pub(crate) layout: LayoutFile,
}

impl LastSession {
    /// Reads it; `None` where there is none, or none that can be used.
    pub(crate) fn read(home: &Path) -> Option<Self> {
        let text = fs::read(home.join(FILE)).ok()?;
        serde_json::from_slice(&text)
            .map_err(|error| tracing::warn!("{FILE} can't be used: {error}"))
            .ok()
            .filter(|last: &Self| last.width > 0 && last.height > 0)
    }

    /// Writes it.
    pub(crate) fn write(&self, home: &Path) {
        let written =
            serde_json::to_vec_pretty(self).map_err(std::io::Error::other).and_then(|text| {
                unterm_mux::private::replace(&home.join(FILE), |file| file.write_all(&text))
            });
        if let Err(error) = written {
            tracing::warn!("{FILE} can't be written: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
