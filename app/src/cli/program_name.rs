//! The name by which this process was called. In a release, the command line is a link to `unterm`.

use std::{ffi::OsStr, path::Path};

/// The name by which the command line is called.
pub const NAME: &str = "unterm-cli";

/// Whether this process was called by the name `name`.
pub fn is_called_as(name: &str) -> bool {
    let called = std::env::args_os().next();
    called.as_deref().map(Path::new).and_then(Path::file_stem) == Some(OsStr::new(name))
}
