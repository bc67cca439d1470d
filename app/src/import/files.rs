//! Reads the files of a configuration. Reads only regular files, and limits their size, number and nesting.

use std::path::{Path, PathBuf};

use unterm_mux::private;

/// The maximum size of a file, in bytes.
const LONGEST: u64 = 1 << 20;
/// The maximum number of files in a configuration.
const MOST: usize = 64;
/// The maximum length of a chain of files in which each file includes the next.
const DEEPEST: usize = 8;

/// The state of reading the files of a configuration.
pub(super) struct Files {
    home: PathBuf,
    read: usize,
    /// The files that are being read. Each file includes the next file of the list.
    open: Vec<PathBuf>,
}

impl Files {
    /// Starts with no files. `home` replaces `~` in paths.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), read: 0, open: Vec::new() }
    }

    /// Reads a file. After converting the text, the caller must call [`Files::leave`].
    ///
    /// # Errors
    /// Fails if the file can't be read, includes itself, or exceeds a limit.
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

    /// Ends reading the file that was entered last.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// The path of a file that another file names. A name that starts with `~/` is in the home directory. Any other
    /// relative name is relative to the file `beside`.
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
    // Editors on Windows may add a byte order mark at the start.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}
