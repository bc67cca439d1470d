//! Changes to the file by tools: one value at a time, everything else in it left as it is, comments too.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item, Value};

use super::{Config, FILE, parse::parse, reference};

/// Sets a key of the file in `home`, given as the names of its section and itself.
///
/// # Errors
/// When the file has an error already, the value is not allowed there, or the file can't be written; it is then as it
/// was.
pub fn set(home: &Path, key: &[&str], value: Value) -> Result<()> {
    let file = home.join(FILE);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    if let Err(problems) = parse(&text, home) {
        bail!("{}:{}; mend it first", file.display(), problems[0]);
    }
    let mut document: DocumentMut = text.parse()?;
    let Some((last, sections)) = key.split_last() else { bail!("no key was named") };
    let mut table = document.as_table_mut() as &mut dyn toml_edit::TableLike;
    for section in sections {
        let item = table.entry(section).or_insert_with(toml_edit::table);
        table = item.as_table_like_mut().with_context(|| format!("{section} is no section"))?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            // The comment behind the value stays.
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(last, Item::Value(value))),
    }
    let text = document.to_string();
    if let Err(problems) = parse(&text, home) {
        bail!("{}", problems[0].message);
    }
    write(&file, &text).with_context(|| file.display().to_string())
}

/// Makes the file where there is none: every key with its meaning and default, in comments.
///
/// # Errors
/// When it can't be written.
pub fn create(home: &Path) -> Result<()> {
    let file = home.join(FILE);
    if file.exists() {
        return Ok(());
    }
    let text: String = reference::print(&Config::default())
        .lines()
        .map(|line| match line {
            "" => "\n".to_owned(),
            line if line.starts_with('#') || line.starts_with('[') => format!("{line}\n"),
            line => format!("#{line}\n"),
        })
        .collect();
    write(&file, &text).with_context(|| file.display().to_string())
}

/// Writes the file whole, to the disk before it takes the old one's place.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    // Through a link, as people have who keep their files elsewhere.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    unterm_mux::private::write(&file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(text: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(FILE), text).unwrap();
        home
    }

    fn text(home: &tempfile::TempDir) -> String {
        fs::read_to_string(home.path().join(FILE)).unwrap()
    }

    #[test]
    fn a_value_changes_and_the_rest_stays_as_it_was() {
        let home = home("# mine\ntheme = \"nord\" # for now\n\n[font]\nsize = 9 # small\n");
        set(home.path(), &["theme"], "dracula".into()).unwrap();
        set(home.path(), &["font", "size"], 11.into()).unwrap();
        set(home.path(), &["cursor", "blink"], true.into()).unwrap();
        assert_eq!(
            text(&home),
            "# mine\ntheme = \"dracula\" # for now\n\n[font]\nsize = 11 # small\n\n[cursor]\nblink = true\n"
        );
    }

    #[test]
    fn what_is_not_allowed_leaves_the_file_as_it_was() {
        let home = home("theme = 'nord'\n");
        let error = set(home.path(), &["theme"], "nort".into()).unwrap_err().to_string();
        assert!(error.contains("did you mean \"nord\"?"), "{error}");
        assert!(set(home.path(), &["font", "sise"], 1.into()).is_err());
        assert_eq!(text(&home), "theme = 'nord'\n");
    }

    #[test]
    fn a_new_file_says_nothing_but_the_defaults_and_an_old_one_stays() {
        let empty = tempfile::tempdir().unwrap();
        create(empty.path()).unwrap();
        assert_eq!(parse(&text(&empty), empty.path()), Ok(Config::default()));
        let old = home("theme = 'nord'\n");
        create(old.path()).unwrap();
        assert_eq!(text(&old), "theme = 'nord'\n");
    }

    #[test]
    fn a_file_with_an_error_is_not_written_over() {
        let home = home("theme = ");
        let error = set(home.path(), &["theme"], "nord".into()).unwrap_err().to_string();
        assert!(error.contains("config.toml:1:"), "{error}");
        assert_eq!(text(&home), "theme = ");
    }
}
