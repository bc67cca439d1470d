//! Files that pagers show.
//!
//! Owns each file. When the pager's pane is closed, the owner is dropped and deletes the file.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use unterm_mux::{PaneId, private};

/// The files that pagers show, by the pane of each pager.
pub(crate) type PagedFiles = HashMap<PaneId, PagedFile>;

/// The name of the folder for the files. The folder is in the user's runtime directory, which the system clears at
/// logout. If that directory is missing, the folder is in Unterm's home directory.
const FOLDER: &str = "pager";

/// A file that a pager shows. Dropping this value deletes the file.
#[derive(Debug)]
pub(crate) struct PagedFile(PathBuf);

impl PagedFile {
    /// Writes a file that only the user can read.
    pub(crate) fn write(home: &Path, name: &str, text: &str) -> Result<Self> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let runtime = runtime.filter(|folder| folder.is_absolute() && folder.is_dir());
        let folder = match runtime {
            Some(runtime) => runtime.join("unterm").join(FOLDER),
            None => home.join(FOLDER),
        };
        Self::write_in(&folder, name, text)
    }

    fn write_in(folder: &Path, name: &str, text: &str) -> Result<Self> {
        private::create_folder(folder).with_context(|| folder.display().to_string())?;
        let path = folder.join(name);
        let file = private::create_file(&path).with_context(|| path.display().to_string())?;
        // From here on, an error drops `written`, which deletes the file.
        let written = Self(path);
        std::io::Write::write_all(&mut &file, text.as_bytes())
            .with_context(|| written.0.display().to_string())?;
        Ok(written)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PagedFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!("{} stays: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_with_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        let file = PagedFile::write_in(&folder, "x", "text\n").unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "text\n");
        assert!(PagedFile::write_in(&folder, "x", "").is_err(), "nothing is overwritten");
        let path = file.path().to_owned();
        drop(file);
        assert!(!path.exists());
    }
}
