//! Changes the configuration file for other parts of Unterm. The rest of the file stays unchanged, including its
//! comments.

use std::{fs, path::Path};

use anyhow::{Context, Result, anyhow, bail};
use toml_edit::{Document, DocumentMut, InlineTable, Item, TableLike, Value};
use unterm_mux::private;

use super::{
    Config, FILE, ThemeChoice, keys,
    parse::{parse, text},
    reference,
    settings::LONGEST,
};
use crate::action::{Keys, Takes};

/// A change of a key: the key's path and its new value. The path consists of the names of the section and of the key.
/// Without a value, the key is removed.
pub type Edit = (Vec<String>, Option<Value>);

/// Sets a key of the configuration file in `home`. `key` is the path of the key: the name of its section, then its own
/// name.
///
/// # Errors
/// Fails if the file already contains an error, if the value is not valid, or if the file can't be written. The file
/// then stays unchanged.
pub fn set(home: &Path, key: &[&str], value: Value) -> Result<()> {
    change(home, &[(key.iter().map(|name| (*name).to_owned()).collect(), Some(value))])
}

/// Changes several keys at once. `theme.light` and `theme.dark` can be set even if the file names one theme for both
/// appearances. The other appearance then keeps this theme.
///
/// # Errors
/// Fails in the same cases as [`set`]. Then no key is changed.
pub fn change(home: &Path, edits: &[Edit]) -> Result<()> {
    let edits: Vec<Edit> = edits.iter().cloned().map(without_empty_argument).collect();
    update(home, |_| Ok(edits), |_, _| Ok(()))
}

/// Removes an empty argument from a key binding, if the action does not need one: `new_tab:` becomes `new_tab`.
fn without_empty_argument((key, value): Edit) -> Edit {
    let bare = match (&key[..], value.as_ref().and_then(Value::as_str)) {
        ([section, _], Some(text)) if section == "keys" => text.strip_suffix(':'),
        _ => None,
    };
    let is_optional = |name: &&str| {
        keys::find(name).is_ok_and(|entry| matches!(entry.takes, Takes::Optional { .. }))
    };
    match bare.filter(is_optional).map(Value::from) {
        Some(bare) => (key, Some(bare)),
        None => (key, value),
    }
}

/// Sets only those keys that the file does not already set. Before the file changes, calls `keep` with the path of the
/// file and its text. Returns for each key whether it was set.
///
/// # Errors
/// Fails in the same cases as [`set`], and if `keep` fails. Then no key is changed.
pub fn add(
    home: &Path,
    keys: &[(Vec<String>, Value)],
    keep: impl FnOnce(&Path, &str) -> Result<()>,
) -> Result<Vec<bool>> {
    let mut added = Vec::new();
    let missing = |text: &str| -> Result<Vec<Edit>> {
        let document = Document::parse(text)?;
        for (key, _) in keys {
            added.push(!is_set(document.as_table(), key)?);
        }
        let missing = keys.iter().zip(&added).filter(|(_, added)| **added);
        Ok(missing.map(|((key, value), _)| (key.clone(), Some(value.clone()))).collect())
    };
    update(home, missing, keep)?;
    Ok(added)
}

/// Whether the file sets a key. A key of the keyboard may be spelled differently.
fn is_set(table: &dyn TableLike, key: &[String]) -> Result<bool> {
    let (sections, last) = named(table, key)?;
    let mut table = table;
    for section in sections {
        match table.get(section).and_then(Item::as_table_like) {
            Some(inner) => table = inner,
            None => return Ok(false),
        }
    }
    Ok(table.contains_key(&last))
}

/// Applies the changes that `select` returns for the text of the file. Calls `keep` before writing the file.
fn update(
    home: &Path,
    select: impl FnOnce(&str) -> Result<Vec<Edit>>,
    keep: impl FnOnce(&Path, &str) -> Result<()>,
) -> Result<()> {
    // Hold a lock, so that changes by several processes are made one after the other.
    private::create_folder(home)?;
    let _turn = unterm_control::lock(home).with_context(|| home.display().to_string())?;
    let file = home.join(FILE);
    let bytes = match private::read_of_anyone(&file, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    let mut text = text(&bytes)
        .and_then(|text| parse(text, home).map(|_| text.to_owned()))
        .map_err(|problems| anyhow!("{}:{}; fix this first", file.display(), problems[0]))?;
    let old = text.clone();
    let edits = select(&text)?;
    one_spelling_each(&edits)?;
    for (key, value) in &edits {
        text = match value {
            Some(value) => with(&with_pair(text, key)?, key, value.clone())?,
            None => without(&text, key)?,
        };
    }
    let before = parse(&old, home).unwrap_or_default();
    match parse(&text, home) {
        Err(problems) => bail!("{}", problems[0].message),
        // If the configured shell was already unusable, that must only prevent changes of the shell, not other
        // changes.
        Ok(now)
            if now.shell != before.shell
                || (now.env != before.env && before.shell_error().is_none()) =>
        {
            if let Some(error) = now.shell_error() {
                bail!("{error}");
            }
        }
        Ok(_) => {}
    }
    if text != old {
        keep(&file, &old)?;
    }
    write(&file, &text).with_context(|| file.display().to_string())
}

/// Fails if two changes refer to the same key of the keyboard in different spellings, because one change would be
/// lost.
fn one_spelling_each(edits: &[Edit]) -> Result<()> {
    let mut seen = Vec::new();
    for (key, _) in edits {
        if let [section, keys] = &key[..]
            && section == "keys"
            && let Ok(parsed) = keys.parse::<Keys>()
        {
            if let Some((_, before)) = seen.iter().find(|(other, _)| *other == parsed) {
                bail!("{keys:?} is the same key as {before:?}; remove one of them");
            }
            seen.push((parsed, keys));
        }
    }
    Ok(())
}

/// Returns the path of a key's table, and the key's name in the file. A key of the keyboard keeps the spelling in the
/// file. A new key gets the usual spelling: `ctrl` for `control`, and `super` for `cmd`.
fn named<'a>(table: &dyn TableLike, key: &'a [String]) -> Result<(&'a [String], String)> {
    let Some((last, sections)) = key.split_last() else { bail!("the key has no name") };
    let mut name = last.clone();
    if let [section] = sections
        && section == "keys"
        && !keys::is_setting(last)
        && let Ok(keys) = last.parse::<Keys>()
    {
        let there = table.get(section).and_then(Item::as_table_like);
        let own = there.and_then(|there| {
            there.iter().map(|(own, _)| own).find(|own| own.parse().as_ref() == Ok(&keys))
        });
        name = own.map_or_else(|| keys.written(last), str::to_owned);
    }
    Ok((sections, name))
}

/// If `key` sets the theme of one appearance and the text names one theme for both, first changes the text to a pair
/// of themes.
fn with_pair(text: String, key: &[String]) -> Result<String> {
    if key.len() != 2 || key[0] != "theme" {
        return Ok(text);
    }
    match toml_edit::de::from_str::<Config>(&text)?.theme {
        ThemeChoice::Pair(_) => Ok(text),
        ThemeChoice::One(name) => {
            let pair: InlineTable = [("light", name.clone()), ("dark", name)].into_iter().collect();
            with(&text, &key[..1], pair.into())
        }
    }
}

fn with(text: &str, key: &[String], value: Value) -> Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let (sections, last) = named(document.as_table(), key)?;
    // The TOML library attaches comments at the end of a section to the next section, so it would insert a key in the
    // wrong place. Insert the text directly.
    if let [section] = sections {
        match document.get(section) {
            None => {
                let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                let blank = if text.trim().is_empty() { "" } else { "\n" };
                let heading = toml_edit::Key::new(section);
                return Ok(format!("{text}{gap}{blank}[{heading}]\n{}", line(&last, &value)));
            }
            Some(item) if item.as_table().is_some_and(|table| table.is_empty()) => {
                if let Some(text) = below_comments(text, section, &line(&last, &value)) {
                    return Ok(text);
                }
            }
            Some(_) => {}
        }
    }
    let mut table = document.as_table_mut() as &mut dyn TableLike;
    for section in sections {
        let item = table.entry(section).or_insert_with(toml_edit::table);
        table = item.as_table_like_mut().with_context(|| format!("{section} is not a section"))?;
    }
    match table.get_mut(&last).and_then(Item::as_value_mut) {
        Some(old) => {
            // Keep the comment after the value.
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(&last, Item::Value(value))),
    }
    Ok(document.to_string())
}

/// The line of the file that sets a key.
fn line(name: &str, value: &Value) -> String {
    format!("{} = {}\n", toml_edit::Key::new(name), value.clone().decorated("", ""))
}

/// Inserts the first key of a section that has only a heading and comments. The key is inserted below the comments.
fn below_comments(text: &str, section: &str, line: &str) -> Option<String> {
    let heading = format!("[{section}]");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = lines.iter().position(|line| line.trim() == heading)?;
    let is_comment = |line: &&&str| line.trim_start().starts_with('#');
    let end = at + 1 + lines[at + 1..].iter().take_while(is_comment).count();
    let before = lines[..end].concat();
    let gap = if before.ends_with('\n') { "" } else { "\n" };
    Some(format!("{before}{gap}{line}{}", lines[end..].concat()))
}

/// Removes a key, and the comment after its value. Comments in the lines above stay.
fn without(text: &str, key: &[String]) -> Result<String> {
    let document = Document::parse(text)?;
    let (sections, last) = named(document.as_table(), key)?;
    let mut table = document.as_table() as &dyn TableLike;
    for section in sections {
        match table.get(section).and_then(Item::as_table_like) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    let Some(item) = table.get(&last) else { return Ok(text.to_owned()) };
    let span = table.key(&last).and_then(toml_edit::Key::span).zip(item.span());
    if let Some((name, value)) = span.filter(|_| item.is_value()) {
        let start = text[..name.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
        let behind = text[value.end..end].trim();
        if text[start..name.start].trim().is_empty()
            && (behind.is_empty() || behind.starts_with('#'))
        {
            let text = text[..start].to_owned() + &text[end..];
            return Ok(sections.first().map_or(text.clone(), |name| without_heading(&text, name)));
        }
    }
    // Other keys are on the same line, so the library must remove the key.
    let mut document: DocumentMut = text.parse()?;
    let mut table = document.as_table_mut() as &mut dyn TableLike;
    for section in sections {
        let item = table.get_mut(section).and_then(Item::as_table_like_mut);
        table = item.with_context(|| format!("{section} is not a section"))?;
    }
    table.remove(&last);
    Ok(document.to_string())
}

/// Removes the heading of a section, if the section contains nothing else, not even a comment.
fn without_heading(text: &str, section: &str) -> String {
    let heading = format!("[{section}]");
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_blank = |line: &&&str| line.trim().is_empty();
    let Some(at) = lines.iter().position(|line| line.trim() == heading) else {
        return text.to_owned();
    };
    let next = at + 1 + lines[at + 1..].iter().take_while(is_blank).count();
    if lines.get(next).is_some_and(|line| !line.starts_with('[')) {
        return text.to_owned();
    }
    let above = at - usize::from(at > 0 && lines[at - 1].trim().is_empty());
    // Keep the blank lines below the heading, because they separate the next section.
    lines.drain(above..if next == lines.len() { next } else { at + 1 });
    let shorter = lines.concat();
    // If the removed line was not a heading but part of a multi-line text, the settings differ. Then keep the text.
    let config = |text: &str| toml_edit::de::from_str::<Config>(text).ok();
    if config(&shorter) == config(text) { shorter } else { text.to_owned() }
}

/// Creates the configuration file if it is missing. Its comments contain every key with its meaning and default.
///
/// # Errors
/// Fails if the file can't be written.
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

/// Writes the file. The new text is completely on the disk before it replaces the old text.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    // If the file is a symbolic link, for example to a dotfiles folder, write its target.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    private::write(&file, text.as_bytes())
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
    fn a_key_is_taken_out_and_the_comments_above_it_stay() {
        let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let home = home(
            "# mine\ntheme = \"nord\" # for now\n\n[font]\n# small eyes\nsize = 9\n[keys]\n\"shift+ctrl+t\" = \"none\"\n",
        );
        let edits = [
            (path(&["theme"]), None),
            (path(&["font", "size"]), None),
            (path(&["cursor", "blink"]), None),
            (path(&["keys", "ctrl+shift+t"]), Some("new_tab".into())),
        ];
        change(home.path(), &edits).unwrap();
        let now = "# mine\n\n[font]\n# small eyes\n[keys]\n\"shift+ctrl+t\" = \"new_tab\"\n";
        assert_eq!(text(&home), now);
        let edits = [
            (path(&["bell", "visual"]), Some(true.into())),
            (path(&["cursor", "blink"]), Some(true.into())),
            (path(&["bell", "visual"]), None),
        ];
        change(home.path(), &edits).unwrap();
        assert_eq!(text(&home), format!("{now}\n[cursor]\nblink = true\n"));
        change(home.path(), &[(path(&["cursor", "blink"]), None)]).unwrap();
        assert_eq!(text(&home), now, "a section with nothing in it goes, too");
        change(home.path(), &[(path(&["font", "size"]), Some(9.into()))]).unwrap();
        assert_eq!(text(&home), now.replace("eyes\n", "eyes\nsize = 9\n"));
        change(home.path(), &[(path(&["font", "size"]), None)]).unwrap();
        assert_eq!(text(&home), now);
        let edits =
            [(path(&["theme"]), Some("dracula".into())), (path(&["theme"]), Some(1.into()))];
        assert!(change(home.path(), &edits).is_err());
        assert_eq!(text(&home), now, "all of them or none");
        fs::write(home.path().join(FILE), "cursor = { blink = true, shape = \"bar\" }\n").unwrap();
        change(home.path(), &[(path(&["cursor", "blink"]), None)]).unwrap();
        assert_eq!(text(&home).replace(' ', ""), "cursor={shape=\"bar\"}\n");
    }

    #[test]
    fn only_missing_keys_are_added_and_the_old_text_stays() {
        let before = "theme = \"nord\"\n\n[keys]\n\"Shift+Ctrl+T\" = \"none\"\n";
        let home = home(before);
        let key = |names: &[&str], value: Value| {
            (names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), value)
        };
        let keys = [
            key(&["theme"], "dracula".into()),
            key(&["keys", "ctrl+shift+t"], "new_tab".into()),
            key(&["keys", "f5"], "search".into()),
            key(&["font", "size"], 13.into()),
        ];
        let mut kept = Vec::new();
        let mut keep = |file: &Path, text: &str| {
            kept.push((file.to_owned(), text.to_owned()));
            Ok(())
        };
        assert_eq!(add(home.path(), &keys, &mut keep).unwrap(), [false, false, true, true]);
        assert_eq!(text(&home), format!("{before}f5 = \"search\"\n\n[font]\nsize = 13\n"));
        assert_eq!(add(home.path(), &keys, &mut keep).unwrap(), [false; 4]);
        assert_eq!(kept, [(home.path().join(FILE), before.to_owned())], "nothing changed then");
        let refuse = |_: &Path, _: &str| bail!("no room for a backup");
        let now = text(&home);
        assert!(add(home.path(), &[key(&["bell", "mark"], false.into())], refuse).is_err());
        assert_eq!(text(&home), now);
    }

    #[test]
    fn changing_one_appearances_theme_keeps_the_other() {
        let home = home("theme = \"nord\" # for now\n");
        set(home.path(), &["theme", "light"], "daylight".into()).unwrap();
        set(home.path(), &["theme", "dark"], "dracula".into()).unwrap();
        let now = "theme = { light = \"daylight\", dark = \"dracula\" } # for now\n";
        assert_eq!(text(&home), now);
        assert!(set(home.path(), &["theme", "dark"], "nort".into()).is_err());
        assert_eq!(text(&home), now);
        fs::write(home.path().join(FILE), "[font]\nsize = 9.0\n").unwrap();
        assert!(set(home.path(), &["theme", "dark"], "nort".into()).is_err());
        assert_eq!(text(&home), "[font]\nsize = 9.0\n");
        set(home.path(), &["theme", "dark"], "nord".into()).unwrap();
        let theme = parse(&text(&home), home.path()).unwrap().theme;
        assert_eq!((theme.pick(Some(true)), theme.pick(Some(false))), ("catppuccin-mocha", "nord"));
    }

    #[test]
    fn an_invalid_change_leaves_the_file_unchanged() {
        let home = home("theme = 'nord'\n");
        let error = set(home.path(), &["theme"], "nort".into()).unwrap_err().to_string();
        assert!(error.contains("did you mean \"nord\"?"), "{error}");
        assert!(set(home.path(), &["font", "sise"], 1.into()).is_err());
        assert_eq!(text(&home), "theme = 'nord'\n");
    }

    #[test]
    fn a_missing_shell_is_refused_and_blocks_nothing_else() {
        let home = home("theme = 'nord'\n");
        let set = |key: &[&str], value: &str| set(home.path(), key, value.into());
        for program in ["/nonexistent/sh", "no-such-shell", "/etc/passwd", "/"] {
            let error = set(&["shell", "program"], program).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("cannot start shell.program {program:?}")),
                "{error}"
            );
        }
        assert_eq!(text(&home), "theme = 'nord'\n");
        set(&["shell", "program"], "/bin/sh").unwrap();
        let error = set(&["env", "PATH"], "/nonexistent").err();
        assert!(error.is_none(), "a whole path needs none: {error:?}");
        let gone = "[shell]\nprogram = '/nonexistent/sh'\n[env]\nPATH = '/nonexistent'\n";
        fs::write(home.path().join(FILE), gone).unwrap();
        set(&["theme"], "nord").unwrap();
        set(&["shell", "program"], "sh").unwrap_err();
        change(home.path(), &[(vec!["env".into(), "PATH".into()], None)]).unwrap();
        set(&["shell", "program"], "").unwrap();
    }

    #[test]
    fn a_key_has_the_usual_modifiers_and_unknown_ones_are_refused() {
        let home = home("");
        let set = |key: &str, action: &str| set(home.path(), &["keys", key], action.into());
        set("control+t", "new_tab:").unwrap();
        assert_eq!(text(&home), "[keys]\n\"ctrl+t\" = \"new_tab\"\n");
        set("Ctrl+T", "close_tab").unwrap();
        set("cmd+t", "new_tab").unwrap();
        let now = "[keys]\n\"ctrl+t\" = \"close_tab\"\n\"super+t\" = \"new_tab\"\n";
        assert_eq!(text(&home), now);
        let error = set("hyper+t", "new_tab").unwrap_err().to_string();
        assert!(error.contains("\"hyper\" in \"hyper+t\" is no modifier"), "{error}");
        let edit = |key: &str| (vec!["keys".to_owned(), key.to_owned()], Some("new_tab".into()));
        let twice = change(home.path(), &[edit("control+u"), edit("ctrl+u")]).unwrap_err();
        assert!(twice.to_string().contains("is the same key as"), "{twice}");
        assert_eq!(text(&home), now);
    }

    #[test]
    fn a_new_file_has_the_defaults_and_an_old_one_stays() {
        let empty = tempfile::tempdir().unwrap();
        create(empty.path()).unwrap();
        assert_eq!(parse(&text(&empty), empty.path()), Ok(Config::default()));
        let old = home("theme = 'nord'\n");
        create(old.path()).unwrap();
        assert_eq!(text(&old), "theme = 'nord'\n");
    }

    #[test]
    fn a_file_that_is_no_text_is_named_with_what_is_wrong() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        fs::write(&file, b"theme = 'nord'\n# \xe9").unwrap();
        let error = set(home.path(), &["theme"], "nord".into()).unwrap_err().to_string();
        let wanted = format!("{}:2:3: the file is not valid UTF-8; save it as", file.display());
        assert!(error.starts_with(&wanted), "{error}");
    }

    #[test]
    fn a_file_with_an_error_is_not_written_over() {
        let home = home("theme = ");
        let error = set(home.path(), &["theme"], "nord".into()).unwrap_err().to_string();
        assert!(error.contains("config.toml:1:"), "{error}");
        assert_eq!(text(&home), "theme = ");
    }
}
