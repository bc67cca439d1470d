//! Finds and opens the files of recordings. The log and the index are in Unterm's home. The page is in the project, in
//! a folder that git ignores.
//!
//! A project may come from an untrusted source. Below the project's folder, links are never followed, and only regular
//! files of this user are read, up to a maximum size.

use std::{
    fs::File,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use unterm_mux::private::{self, Folder};

use super::{
    log::{self, Event},
    record::Record,
};

/// The folder of Unterm's files in a project.
const IN_PROJECT: &str = ".unterm";
/// The folder of recordings in `IN_PROJECT` and in Unterm's home.
const SESSIONS: &str = "sessions";
/// The maximum size of a page that is read, in bytes.
const LONGEST_PAGE: u64 = 64 << 20;

/// The day on which a recording started, as a folder name.
fn date(record: &Record) -> &str {
    record.started_at.get(..10).unwrap_or("undated")
}

/// The folder of a recording, relative to Unterm's home.
fn own_folder(record: &Record) -> PathBuf {
    let slug = record.project_slug.as_deref().unwrap_or("_orphan");
    Path::new(SESSIONS).join(slug).join(date(record))
}

/// The folder of a recording's page, relative to its project.
fn project_folder(record: &Record) -> PathBuf {
    Path::new(IN_PROJECT).join(SESSIONS).join(date(record))
}

/// Opens or creates the folder of pages in a project. A `.gitignore` excludes the folder from git, because a page
/// contains typed text. Fails if the folder has a `.gitignore` that git does not read, such as a link.
fn open_in_project(project: &Path, below: &Path) -> io::Result<Folder> {
    let top = Folder::open(project)?.make(Path::new(IN_PROJECT))?;
    if !top.has(".gitignore") {
        match top.create(".gitignore") {
            Ok(mut file) => file.write_all(b"*\n")?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    top.file(".gitignore")?;
    let below = below.strip_prefix(IN_PROJECT).map_err(io::Error::other)?;
    top.make(below)
}

/// Opens or creates Unterm's home.
fn open_home(home: &Path) -> io::Result<Folder> {
    private::create_folder(home)?;
    Folder::open(home)
}

/// The file name of a recording without its extension. `number` distinguishes recordings that start in the same second.
fn stem(record: &Record, number: u32) -> String {
    let time = record.started_at.get(11..19).unwrap_or_default().replace(':', "");
    let again = if number == 1 { String::new() } else { format!("-{number}") };
    format!("tab-{}-{time}{again}", record.tab_id)
}

/// The folder for a recording's page in its project, with its path. `None` if there is no usable project.
fn in_project(record: &Record) -> Option<(Folder, PathBuf)> {
    let project = Path::new(record.project_path.as_ref()?);
    let below = project_folder(record);
    match open_in_project(project, &below) {
        Ok(folder) => Some((folder, project.join(below))),
        Err(error) => {
            let project = project.display();
            tracing::warn!(%error, %project, "pages of recordings are not kept in this project");
            None
        }
    }
}

/// Creates a recording's log, and chooses an unused path for its page.
pub(super) fn create_log(home: &Path, record: &mut Record) -> io::Result<File> {
    let below = own_folder(record);
    let own = open_home(home)?.make(&below)?;
    let project = in_project(record);
    for number in 1..1000 {
        let (log, page) = (stem(record, number) + ".log", stem(record, number) + ".md");
        let (pages, path) = match &project {
            Some((folder, path)) => (folder, path.clone()),
            None => (&own, home.join(&below)),
        };
        if pages.has(&page) {
            continue;
        }
        match own.create(&log) {
            Ok(file) => {
                record.log_path = home.join(&below).join(log);
                record.md_path = path.join(page);
                return Ok(file);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Writes an export: a page that has no log.
pub(super) fn write_export(home: &Path, record: &Record, page: &[u8]) -> io::Result<PathBuf> {
    let below = own_folder(record);
    let (folder, path) = match in_project(record) {
        Some(found) => found,
        None => (open_home(home)?.make(&below)?, home.join(&below)),
    };
    let names = (1..1000).map(|number| stem(record, number) + ".md");
    let name = names.into_iter().find(|name| !folder.has(name));
    let name = name.ok_or(io::Error::from(ErrorKind::AlreadyExists))?;
    folder.write(&name, page)?;
    Ok(path.join(name))
}

/// Writes a recording's page to the path in its record. If it can't be written to the project any longer, writes it to
/// Unterm's home.
///
/// # Errors
/// The page can't be written to Unterm's home either.
pub(super) fn write_page(home: &Path, record: &mut Record, page: &[u8]) -> io::Result<()> {
    let name = file_name(&record.md_path)?.to_owned();
    let project = record.project_path.as_ref().map(Path::new);
    let below = project.and_then(|project| record.md_path.strip_prefix(project).ok());
    if let (Some(project), Some(below)) = (project, below.and_then(Path::parent))
        && below.starts_with(Path::new(IN_PROJECT).join(SESSIONS))
    {
        match open_in_project(project, below).and_then(|folder| folder.write(&name, page)) {
            Ok(()) => return Ok(()),
            Err(error) => {
                let path = record.md_path.display();
                tracing::warn!(%error, %path, "a page goes to Unterm's home instead");
            }
        }
    }
    let below = own_folder(record);
    open_home(home)?.make(&below)?.write(&name, page)?;
    record.md_path = home.join(below).join(name);
    Ok(())
}

/// Reads a recording's page.
pub(super) fn read_page(home: &Path, record: &Record) -> io::Result<String> {
    let (folder, name) = find(home, record, &record.md_path)?;
    let page = folder.read(name, LONGEST_PAGE)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Reads a recording's log.
pub(super) fn read_log(home: &Path, record: &Record) -> io::Result<Vec<Event>> {
    let (folder, name) = find(home, record, &record.log_path)?;
    log::read(folder.file(name)?)
}

/// Removes the log of a recording that never started.
pub(super) fn remove_log(home: &Path, record: &Record) {
    if let Ok((folder, name)) = find(home, record, &record.log_path) {
        let _ = folder.remove(name);
    }
}

fn file_name(path: &Path) -> io::Result<&str> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.ok_or_else(|| io::Error::other(format!("{} is no file's path", path.display())))
}

/// The folder and the name of a recording's file. The file must be in a folder of recordings, in Unterm's home or in
/// the project.
fn find<'p>(home: &Path, record: &Record, path: &'p Path) -> io::Result<(Folder, &'p str)> {
    let project = record.project_path.as_ref().map(Path::new);
    let in_project = Path::new(IN_PROJECT).join(SESSIONS);
    let places = [(Some(home), Path::new(SESSIONS)), (project, &in_project)];
    for (base, prefix) in places {
        let Some(base) = base else { continue };
        let below = path.strip_prefix(base).ok().filter(|below| below.starts_with(prefix));
        if let Some(folder) = below.and_then(Path::parent) {
            return Ok((Folder::open(base)?.below(folder)?, file_name(path)?));
        }
    }
    Err(io::Error::other(format!("{} is in no folder of recordings", path.display())))
}
