//! The name by which this process was called. A release ships the command line as a link to `unterm`.

use std::{ffi::OsStr, path::Path};

/// The name of the command line.
pub const NAME: &str = "unterm-cli";

/// Whether this process was called by this name.
pub fn is_called_as(name: &str) -> bool {
    let called = std::env::args_os().next();
    called.as_deref().map(Path::new).and_then(Path::file_stem) == Some(OsStr::new(name))
}
