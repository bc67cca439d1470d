//! The index of recordings, which all instances share.

use std::{
    io::{self, ErrorKind},
    path::Path,
};

use unterm_mux::private;

use super::record::{MessageResult, Record};
use crate::{plain_words, registry};

/// The maximum size of an index that is read, in bytes.
const LONGEST_INDEX: u64 = 256 << 20;
pub(super) fn replace_row(rows: &mut Vec<Record>, row: &Record) {
    match rows.iter_mut().find(|known| known.unterm_session_id == row.unterm_session_id) {
        Some(known) => *known = row.clone(),
        None => rows.push(row.clone()),
    }
}

/// Changes the index while holding its lock.
pub(super) fn index(home: &Path, change: impl FnOnce(&mut Vec<Record>)) -> MessageResult<()> {
    let folder = home.join("sessions");
    let path = folder.join("index.json");
    let named = |error: io::Error| format!("{}: {error}", path.display());
    private::create_folder(&folder).map_err(named)?;
    let _lock = registry::lock(&folder).map_err(named)?;
    let mut rows = rows(home)?;
    let before = rows.clone();
    change(&mut rows);
    if rows == before {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&rows).map_err(|error| error.to_string())?;
    private::write(&path, &text).map_err(named)
}

/// Every recording in the index.
///
/// # Errors
/// The index can't be read. The message contains its path and the reason.
pub fn rows(home: &Path) -> MessageResult<Vec<Record>> {
    let path = home.join("sessions/index.json");
    match private::read(&path, LONGEST_INDEX) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
        Ok(text) => serde_json::from_slice(&text)
            .map_err(|error| format!("{}: {}", path.display(), plain_words::of_json(&error))),
    }
}
