//! The project's files, as the tidy checks read them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A text file of the project.
pub struct SourceFile {
    /// The file's path from the top of the project. It uses `/` as separator.
    pub path: String,
    /// The file's text.
    pub text: String,
}

/// The project's text files, without build output, version control and binary assets.
pub struct Tree {
    /// The top folder.
    pub root: PathBuf,
    /// Every text file, sorted by path.
    pub files: Vec<SourceFile>,
}

impl Tree {
    /// Reads the tree from which this crate was built.
    ///
    /// # Panics
    ///
    /// If a file can't be read.
    pub fn read() -> Self {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf();
        let mut files = Vec::new();
        read_folder(&root, "", &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { root, files }
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// A file's text.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|file| file.path == path);
        &file.unwrap_or_else(|| panic!("{path} is missing")).text
    }

    /// The folders at the top, without dot folders and build output.
    pub fn top_folders(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.root)
            .expect("the project can be listed")
            .map(|entry| entry.expect("an entry"))
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.') && name != "target")
            .collect();
        names.sort();
        names
    }
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).expect("the project can be listed") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        // `.git` is a folder in a clone and a file in a work tree. npm's packages are not part of the project.
        if path == "target" || path == ".git" || name == "node_modules" {
            continue;
        }
        let kind = entry.file_type().expect("a file type");
        if kind.is_dir() {
            read_folder(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file() {
            // Files that are not UTF-8 are fonts, pictures or recordings.
            if let Ok(text) = String::from_utf8(fs::read(entry.path()).expect("a readable file")) {
                files.push(SourceFile { path, text });
            }
        }
    }
}
