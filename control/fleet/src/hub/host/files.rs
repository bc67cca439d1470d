//! The files in one folder of the hub's host.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufRead, BufReader, Read as _, Write as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fchmod, fstat, open, openat, openat2,
        readlinkat, renameat, unlinkat,
    },
    io::Errno,
};
use serde_json::json;

use super::pattern;
use crate::random::random_hex;

/// The maximum number of bytes of a reply.
const MOST_BYTES: usize = 200_000;
/// The maximum number of bytes of a line. A longer line counts as several lines, so that it can be read in parts.
const LONGEST_READ: usize = 50_000;
/// The maximum number of links that are followed to a file to write.
const MOST_LINKS: usize = 8;
/// The maximum number of files that a search looks at.
const MOST_FILES: usize = 20_000;
/// The maximum number of results of a search.
const MOST_RESULTS: usize = 1000;
/// The maximum depth of nested folders.
const DEEPEST: usize = 40;
/// The maximum time of a search.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum number of bytes of a file that is searched.
const LONGEST_FILE: u64 = 8 << 20;
/// The maximum number of bytes of a line in a result.
const LONGEST_LINE: usize = 500;

/// A folder whose paths can't lead out of it.
pub struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// Opens the folder.
    pub fn open(path: &Path) -> Result<Self> {
        let path = path.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { folder: open(&path, flags, Mode::empty())?, path })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a path in the folder. The kernel refuses a path that leads out of the folder, also through a link.
    fn at(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        let relative = path.strip_prefix(&self.path).unwrap_or(path);
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        // Opening a pipe must not block the hub.
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = openat2(&self.folder, relative, flags, mode, how);
        match opened {
            Err(Errno::XDEV) => {
                bail!("{}: outside of the folder that agents may use", path.display())
            }
            opened => opened.with_context(|| path.display().to_string()),
        }
    }

    fn file(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<File> {
        let file = self.at(path, flags, mode)?;
        let kind = FileType::from_raw_mode(fstat(&file)?.st_mode);
        ensure!(kind == FileType::RegularFile, "{}: not a file", path.display());
        Ok(File::from(file))
    }

    /// Reads at most `limit` lines of a file, after the first `offset` lines. A line has at most [`LONGEST_READ`]
    /// bytes.
    pub fn read(&self, path: &str, offset: usize, limit: usize) -> Result<String> {
        let file = self.file(Path::new(path), OFlags::RDONLY, Mode::empty())?;
        let mut reader = BufReader::new(file);
        let (mut content, mut lines, mut is_cut, mut number) = (String::new(), 0, false, 0);
        let mut line = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        while read_line(&mut reader, &mut line)? {
            number += 1;
            if number <= offset {
                ensure!(Instant::now() < deadline, "{path}: reading took too long");
                continue;
            }
            let text = String::from_utf8_lossy(&line);
            // An invalid byte becomes a character of three bytes, but a single line still fits in the reply.
            if lines == limit || content.len() + text.len() > MOST_BYTES {
                is_cut = true;
                break;
            }
            content.push_str(&text);
            lines += 1;
        }
        let reply = json!({
            "path": path, "offset": offset, "lines": lines, "has_more": is_cut, "content": content,
        });
        Ok(reply.to_string())
    }

    /// Creates or replaces a file in one step: no reader sees a part of the new content, and if the file can't be
    /// written, the old file remains. Another name of the old file (a hard link) keeps the old content. Keeps the
    /// permissions.
    pub fn write(&self, path: &str, content: &str) -> Result<String> {
        let (folder, name) = self.place(Path::new(path))?;
        let temporary = format!(".{}.unterm", random_hex::<16>()?);
        let new = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let looks = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mode = match openat(&folder, &name, looks | OFlags::CLOEXEC, Mode::empty()) {
            Err(Errno::NOENT) => None,
            old => {
                let old = fstat(&old.with_context(|| path.to_owned())?)?.st_mode;
                let is_file = FileType::from_raw_mode(old) == FileType::RegularFile;
                ensure!(is_file, "{path}: not a file");
                Some(Mode::from_raw_mode(old & 0o777))
            }
        };
        let creates = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let create = || -> Result<()> {
            let mut file = File::from(openat(&folder, &temporary, creates, new)?);
            file.write_all(content.as_bytes())?;
            if let Some(mode) = mode {
                fchmod(&file, mode)?;
            }
            file.sync_all()?;
            Ok(renameat(&folder, &temporary, &folder, &name)?)
        };
        if let Err(error) = create() {
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
            return Err(error.context(path.to_owned()));
        }
        Ok(json!({"path": path, "bytes": content.len()}).to_string())
    }

    /// The folder and the name of a file to write. If the path is a link: the folder and the name of the file to which
    /// it leads.
    fn place(&self, path: &Path) -> Result<(OwnedFd, OsString)> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let name =
                path.file_name().with_context(|| format!("{}: not a file", path.display()))?;
            let name = name.to_owned();
            let above = path.parent().unwrap_or(Path::new("")).to_owned();
            let folder = self.at(&above, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
            match readlinkat(&folder, &name, Vec::new()) {
                Ok(target) => path = above.join(OsStr::from_bytes(target.as_bytes())),
                Err(Errno::INVAL | Errno::NOENT) => return Ok((folder, name)),
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
        bail!("{}: too many links", path.display())
    }

    /// The files in a folder and its subfolders whose paths match a pattern.
    pub fn glob(&self, pattern: &str, path: &str) -> Result<String> {
        let matcher = pattern::glob(pattern)?;
        let mut matches = Vec::new();
        let is_cut = self.walk(Path::new(path), |below| {
            if matcher.is_match(&*below.to_string_lossy()) {
                matches.push(below.display().to_string());
            }
            Ok(matches.len() < MOST_RESULTS)
        })?;
        matches.sort();
        Ok(json!({"path": path, "matches": matches, "has_more": is_cut}).to_string())
    }

    /// The lines that match a regular expression, of the files in a folder and its subfolders.
    pub fn grep(&self, pattern: &str, path: &str, filter: &str) -> Result<String> {
        let matcher = pattern::regex(pattern)?;
        let filter = match filter {
            "" => None,
            // A filter without a folder applies to names of files.
            name if !name.contains('/') => Some(pattern::glob(&format!("**/{name}"))?),
            path => Some(pattern::glob(path)?),
        };
        let start = Path::new(path);
        let mut matches = Vec::new();
        let mut bytes = 0;
        let mut search = |below: &Path| -> Result<bool> {
            if filter.as_ref().is_some_and(|filter| !filter.is_match(&*below.to_string_lossy())) {
                return Ok(true);
            }
            // A file may have been deleted, or may not be readable.
            let Ok(file) = self.file(&start.join(below), OFlags::RDONLY, Mode::empty()) else {
                return Ok(true);
            };
            let mut content = Vec::new();
            if file.take(LONGEST_FILE).read_to_end(&mut content).is_err() || content.contains(&0) {
                return Ok(true);
            }
            for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
                if !matcher.is_match(line) {
                    continue;
                }
                let line = String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]);
                bytes += line.len();
                if matches.len() == MOST_RESULTS || bytes > MOST_BYTES {
                    return Ok(false);
                }
                let file = below.display().to_string();
                matches.push(json!({"file": file, "line": index + 1, "text": line}));
            }
            Ok(true)
        };
        let is_cut = self.walk(start, &mut search)?;
        Ok(json!({"path": path, "matches": matches, "has_more": is_cut}).to_string())
    }

    /// Calls `visit` with the path of each file in a folder and its subfolders, relative to the folder, until `visit`
    /// returns false. Does not follow links. Returns whether files may be missing.
    fn walk(&self, start: &Path, mut visit: impl FnMut(&Path) -> Result<bool>) -> Result<bool> {
        let deadline = Instant::now() + PATIENCE;
        let mut folders = vec![PathBuf::new()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let opened = self.at(&start.join(&folder), flags, Mode::empty());
            let opened = match opened {
                // The folder to search must exist. Its subfolders may have been deleted.
                Err(error) if seen == 0 && folder.as_os_str().is_empty() => return Err(error),
                Err(_) => continue,
                Ok(opened) => opened,
            };
            let mut names = Vec::new();
            for entry in Dir::read_from(&opened)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name != "." && name != ".." {
                    names.push((name, entry.file_type()));
                }
            }
            names.sort_by(|(a, _), (b, _)| a.cmp(b));
            for (name, kind) in names {
                seen += 1;
                if seen > MOST_FILES || Instant::now() > deadline {
                    return Ok(true);
                }
                let below = folder.join(name);
                match kind {
                    FileType::Directory if below.components().count() < DEEPEST => {
                        folders.push(below);
                    }
                    FileType::RegularFile if !visit(&below)? => return Ok(true),
                    _ => {}
                }
            }
        }
        Ok(false)
    }
}

/// Reads a line with its line end: at most [`LONGEST_READ`] bytes, and up to three more that complete a character.
/// Returns false at the end of the file.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    reader.by_ref().take(LONGEST_READ as u64).read_until(b'\n', line)?;
    let is_unfinished = |line: &[u8]| {
        let last = &line[line.len().saturating_sub(3)..];
        // Earlier bytes of a long line may be invalid, too, so only the last bytes are checked.
        (0..last.len()).any(|at| {
            let rest = std::str::from_utf8(&last[at..]);
            rest.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
    };
    while line.len() < LONGEST_READ + 3
        && line.len() >= LONGEST_READ
        && is_unfinished(line)
        && reader.by_ref().take(1).read_to_end(line)? == 1
    {}
    Ok(!line.is_empty())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use serde_json::Value;
    use tempfile::TempDir;

    use super::*;

    fn tree() -> (TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(root.join("src/a.rs"), "one\ntwo\nthree\n").unwrap();
        fs::write(root.join("src/deep/b.txt"), "two\n").unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        symlink("src/a.rs", root.join("inside")).unwrap();
        let root = Root::open(&root).unwrap();
        (folder, root)
    }

    fn value(reply: Result<String>) -> Value {
        serde_json::from_str(&reply.unwrap()).unwrap()
    }

    #[test]
    fn no_path_leaves_the_folder() {
        let (folder, root) = tree();
        for path in
            ["../secret", "out", "up/secret", "etc/passwd", "/etc/passwd", "src/../../secret"]
        {
            assert!(root.read(path, 0, 10).is_err(), "{path}");
            assert!(root.write(path, "x").is_err(), "{path}");
        }
        for path in ["..", "up", "/etc", "etc"] {
            assert!(root.glob("*", path).is_err() && root.grep("x", path, "").is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(folder.path().join("secret")).unwrap(), "secret");
        let why = root.read("out", 0, 1).unwrap_err().to_string();
        assert_eq!(why, "out: outside of the folder that agents may use");
        assert_eq!(value(root.read("inside", 0, 1))["content"], "one\n");
    }

    #[test]
    fn files_are_read_by_lines_and_written_whole() {
        let (_folder, root) = tree();
        let read = value(root.read("src/a.rs", 1, 1));
        assert_eq!((&read["content"], &read["has_more"]), (&json!("two\n"), &json!(true)));
        let absolute = root.path().join("src/a.rs").display().to_string();
        assert_eq!(value(root.read(&absolute, 2, 9))["content"], "three\n");
        assert_eq!(value(root.write("src/a.rs", "new"))["bytes"], 3);
        assert_eq!(value(root.read("src/a.rs", 0, 9))["content"], "new");
        assert!(root.read("src", 0, 1).is_err() && root.read("none", 0, 1).is_err());
    }

    #[test]
    fn a_long_line_is_read_in_pieces_and_none_is_lost() {
        let (_folder, root) = tree();
        for text in [
            "é".repeat(150_000),
            format!("x{}\nshort\n{}", "🦀".repeat(70_000), "y".repeat(50_000)),
            format!("{}\n\nend\n", "z".repeat(49_999)),
            "line\n".repeat(60_000),
        ] {
            fs::write(root.path().join("long"), &text).unwrap();
            let (mut content, mut offset) = (String::new(), 0);
            loop {
                let read = value(root.read("long", offset, 2000));
                let part = read["content"].as_str().unwrap();
                assert!(part.len() <= MOST_BYTES);
                content.push_str(part);
                offset += read["lines"].as_u64().unwrap() as usize;
                if read["has_more"] != true {
                    break;
                }
                assert!(read["lines"].as_u64() > Some(0), "a reply without progress");
            }
            assert!(content == text, "{} and {} bytes", content.len(), text.len());
        }
        fs::write(root.path().join("long"), [0xff; 400_000]).unwrap();
        let read = value(root.read("long", 0, 2000));
        assert_eq!((&read["lines"], &read["has_more"]), (&json!(1), &json!(true)));
    }

    #[test]
    fn a_file_is_replaced_atomically_and_hard_links_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;

        let (folder, root) = tree();
        let path = |name: &str| root.path().join(name);
        // Another name of a file, inside or outside of the folder, keeps the old content.
        fs::hard_link(folder.path().join("secret"), path("linked")).unwrap();
        let mut reader = File::open(path("src/a.rs")).unwrap();
        fs::set_permissions(path("src/a.rs"), fs::Permissions::from_mode(0o750)).unwrap();
        root.write("linked", "new").unwrap();
        root.write("inside", "new").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("secret")).unwrap(), "secret");
        assert_eq!(fs::read_to_string(path("linked")).unwrap(), "new");
        // Writing to a link replaces the file that the link leads to.
        assert!(path("inside").is_symlink());
        assert_eq!(fs::read_to_string(path("src/a.rs")).unwrap(), "new");
        let mode = fs::metadata(path("src/a.rs")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o750);
        let mut old = String::new();
        reader.read_to_string(&mut old).unwrap();
        assert_eq!(old, "one\ntwo\nthree\n", "a reader of the old file");
        symlink("self", path("self")).unwrap();
        symlink("deep/new", path("src/to-be")).unwrap();
        root.write("src/to-be", "made").unwrap();
        assert_eq!(fs::read_to_string(path("src/deep/new")).unwrap(), "made");
        for name in ["self", "src", "", "..", "none/new", "etc/new"] {
            assert!(root.write(name, "x").is_err(), "{name:?}");
        }
        let names = fs::read_dir(root.path()).unwrap().flatten();
        assert!(
            !names.into_iter().any(|name| name.file_name().to_string_lossy().ends_with(".unterm"))
        );
    }

    #[test]
    fn searches_find_names_and_lines() {
        let (_folder, root) = tree();
        assert_eq!(value(root.glob("**/*.rs", "."))["matches"], json!(["src/a.rs"]));
        assert_eq!(value(root.glob("*.txt", "src/deep"))["matches"], json!(["b.txt"]));
        let found = value(root.grep("^tw", ".", ""));
        assert_eq!(
            found["matches"],
            json!([
                {"file": "src/a.rs", "line": 2, "text": "two"},
                {"file": "src/deep/b.txt", "line": 1, "text": "two"},
            ])
        );
        let filtered = value(root.grep("two", ".", "*.txt"));
        assert_eq!(filtered["matches"].as_array().unwrap().len(), 1);
        assert!(root.grep("(", ".", "").is_err());
    }

    #[test]
    fn a_pipe_does_not_make_the_hub_wait() {
        let (_folder, root) = tree();
        let pipe = root.path().join("pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
        assert!(root.read("pipe", 0, 1).is_err() && root.write("pipe", "x").is_err());
        assert_eq!(value(root.grep("two", ".", ""))["matches"].as_array().unwrap().len(), 2);
    }
}
