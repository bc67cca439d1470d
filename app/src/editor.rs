//! The command line that opens a file at a line in the user's editor or pager. No shell is involved: the words become
//! arguments directly.

use std::path::{Path, PathBuf};

/// The arguments that open a file at a line, by the names of the programs that accept this form.
const FORMS: &[(&[&str], &[&str])] = &[
    (&["vi", "vim", "nvim", "nano", "emacsclient", "ne", "joe", "less"], &["+{line}", "{file}"]),
    (&["emacs", "kak", "micro"], &["+{line}:{column}", "{file}"]),
    (&["hx", "helix", "subl", "zed", "zeditor"], &["{file}:{line}:{column}"]),
    (&["code", "codium", "code-insiders", "cursor"], &["--goto", "{file}:{line}:{column}"]),
];

/// The program and arguments that open a file. `place` is `name`, `name:line` or `name:line:column`; a relative name
/// refers to `cwd`. `wanted` is the configured command. If it is empty, `$VISUAL`, `$EDITOR` or vi is used.
pub(crate) fn command(wanted: &str, place: &str, cwd: Option<&Path>) -> Vec<String> {
    let from_environment = || {
        let set = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok());
        set.filter(|editor| !editor.trim().is_empty()).unwrap_or_else(|| "vi".to_owned())
    };
    let editor = if wanted.trim().is_empty() { from_environment() } else { wanted.to_owned() };
    let home = std::env::var("HOME").ok();
    arguments(&editor, place, cwd, home.as_deref())
}

/// The path of the file in a `place` such as `name:line`.
pub(crate) fn file(place: &str, cwd: Option<&Path>) -> PathBuf {
    let (name, ..) = parts(place);
    let home = std::env::var("HOME").ok();
    resolved(name, cwd, home.as_deref())
}

fn resolved(name: &str, cwd: Option<&Path>, home: Option<&str>) -> PathBuf {
    let name = match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => PathBuf::from(name),
    };
    match cwd {
        Some(cwd) => cwd.join(name),
        None => name,
    }
}

fn arguments(editor: &str, place: &str, cwd: Option<&Path>, home: Option<&str>) -> Vec<String> {
    let (name, line, column) = parts(place);
    // A name that starts with a dash would be read as an option.
    let file = resolved(name, cwd, home).to_string_lossy().into_owned();
    let file = if file.starts_with('-') { format!("./{file}") } else { file };
    let mut words = words(editor);
    if !editor.contains("{file}") {
        let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let form = FORMS.iter().find(|(names, _)| names.contains(&program));
        match (line, form) {
            (Some(_), Some((_, form))) => words.extend(form.iter().map(|word| (*word).to_owned())),
            _ => words.push("{file}".to_owned()),
        }
    }
    let (line, column) = (line.unwrap_or("1"), column.unwrap_or("1"));
    for word in &mut words {
        // Replace the file name last, because it may contain text that looks like a placeholder.
        *word = word.replace("{line}", line).replace("{column}", column).replace("{file}", &file);
    }
    words
}

/// Splits a command into words. Quotes, backslashes and blanks have the same meaning as in a shell; all other
/// characters have no special meaning.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    // The current word. `None` between two words.
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some('"'), '\\') => {
                let next = chars.next();
                let kept = (!matches!(next, Some('"' | '\\' | '$' | '`'))).then_some('\\');
                word.get_or_insert_default().extend(kept.into_iter().chain(next));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Splits a `place` such as `name:line:column` into name, line and column.
fn parts(place: &str) -> (&str, Option<&str>, Option<&str>) {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((before, last)) = place.rsplit_once(':').filter(|(_, last)| number(last)) else {
        return (place, None, None);
    };
    match before.rsplit_once(':').filter(|(_, line)| number(line)) {
        Some((name, line)) => (name, Some(line), Some(last)),
        None => (before, Some(last), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(editor: &str, place: &str, expected: &[&str]) {
        assert_eq!(arguments(editor, place, Some(Path::new("/w")), Some("/h")), expected);
    }

    #[test]
    fn known_editors_are_told_the_line_in_their_way() {
        check("vim", "src/a.rs:12:3", &["vim", "+12", "/w/src/a.rs"]);
        check("/usr/bin/nvim -p", "~/x:7", &["/usr/bin/nvim", "-p", "+7", "/h/x"]);
        check("code -w", "/a/b:2:9", &["code", "-w", "--goto", "/a/b:2:9"]);
        check("hx", "a", &["hx", "/w/a"]);
        check("strange", "a:3", &["strange", "/w/a"]);
    }

    #[test]
    fn a_command_is_parted_as_a_shell_does() {
        check("emacsclient -nw -a ''", "x", &["emacsclient", "-nw", "-a", "", "/w/x"]);
        check(
            r#"vim -c 'set nu' "+a \"b\" \n""#,
            "x",
            &["vim", "-c", "set nu", r#"+a "b" \n"#, "/w/x"],
        );
        check(r"/my\ tools/ed  {file} ", "a b", &["/my tools/ed", "/w/a b"]);
    }

    #[test]
    fn a_command_of_the_users_own_says_where_the_parts_go() {
        check("ed -l {line} -c {column} {file}", "-x:3", &["ed", "-l", "3", "-c", "1", "/w/-x"]);
        check("vim", "a{line}:3", &["vim", "+3", "/w/a{line}"]);
    }
}
