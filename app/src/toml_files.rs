//! Files in TOML that people name, each kind in a folder of its own: themes and layouts.
//!
//! Owns how such a folder is listed, and where in a file an error is; never what a file means.

use std::path::Path;

/// Names of the files in a folder; none where it can't be read.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

/// The line of a file's text, from 1, that an error is in.
pub(crate) fn line(text: &str, error: &toml_edit::de::Error) -> usize {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.matches('\n').count() + 1
}
