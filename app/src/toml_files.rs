//! TOML files that are named by the user, such as themes and layouts. Each kind of file has its own folder.
//!
//! Owns the listing of such a folder, and finds the line of an error. Never interprets the content of a file.

use std::path::Path;

/// The names of the files in a folder. Empty if the folder can't be read.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

/// The line of an error in the text of a file, counted from 1.
pub(crate) fn line(text: &str, error: &toml_edit::de::Error) -> usize {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.matches('\n').count() + 1
}
