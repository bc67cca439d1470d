//! Reads the files of a configuration: regular files only, with bounds on their size, number and depth.

use std::path::{Path, PathBuf};

use unterm_mux::private;

/// The longest file, in bytes.
const LONGEST: u64 = 1 << 20;
/// The most files of a configuration.
const MOST: usize = 64;
/// The most files that include each other in a chain.
const DEEPEST: usize = 8;

/// The files that have been read.
pub(super) struct Files {
    home: PathBuf,
    read: usize,
    /// The files that are being read: each includes the next.
    open: Vec<PathBuf>,
}

impl Files {
    /// No files yet. `home` stands for `~` in paths.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), read: 0, open: Vec::new() }
    }

    /// Reads a file. The caller calls [`Files::leave`] after it has converted the text.
    ///
    /// # Errors
    /// If the file can't be read, includes itself, or exceeds a limit.
    pub fn enter(&mut self, path: &Path) -> Result<String, String> {
        if self.open.len() >= DEEPEST {
            return Err(format!("more than {DEEPEST} files include each other"));
        }
        if self.read >= MOST {
            return Err(format!("the configuration has more than {MOST} files"));
        }
        let whole = std::fs::canonicalize(path).map_err(|error| error.to_string())?;
        if self.open.contains(&whole) {
            return Err("the file includes itself".to_owned());
        }
        let text = read(&whole)?;
        self.read += 1;
        self.open.push(whole);
        Ok(text)
    }

    /// Ends the file that was entered last.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// The path that a file names: below the home directory after `~/`, else beside the file.
    pub fn named(&self, name: &str, beside: &Path) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => beside.parent().unwrap_or(Path::new("/")).join(name),
        }
    }
}

/// Reads a regular file as UTF-8.
fn read(path: &Path) -> Result<String, String> {
    let text = private::read_text_of_anyone(path, LONGEST).map_err(|error| error.to_string())?;
    // Editors on Windows write a byte order mark.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}
