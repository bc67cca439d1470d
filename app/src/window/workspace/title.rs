//! Titles of windows and tabs.

use std::path::{Path, PathBuf};

use unterm_mux::Pane;

use crate::config::TITLE_FIELDS;
use crate::window::workspace::closing::is_shell;

/// What separates the parts of a window's title.
const SEPARATOR: &str = " — ";

/// What a window's title is made of. Empty: unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Naming<'a> {
    /// The instance's title, or else its id.
    pub(crate) instance: &'a str,
    pub(crate) project: &'a str,
    /// The tab's title, or else that of its focused pane.
    pub(crate) title: &'a str,
    pub(crate) program: &'a str,
    pub(crate) directory: &'a str,
    /// The number of the active tab, from 1.
    pub(crate) tab: &'a str,
}

impl<'a> Naming<'a> {
    /// In the order of [`TITLE_FIELDS`].
    fn values(&self) -> [&'a str; TITLE_FIELDS.len()] {
        [self.instance, self.project, self.title, self.program, self.directory, self.tab]
    }

    fn value(&self, field: &str) -> Option<&'a str> {
        let index = TITLE_FIELDS.iter().position(|one| *one == field)?;
        Some(self.values()[index])
    }

    /// A part of the format with its values; `None` if it names values, and all are empty.
    fn fill(&self, part: &str) -> Option<String> {
        let mut pieces = part.split('{');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        let (mut is_named, mut is_known) = (false, false);
        for piece in pieces {
            let field =
                piece.split_once('}').and_then(|(name, rest)| Some((self.value(name)?, rest)));
            match field {
                Some((value, rest)) => {
                    is_named = true;
                    is_known |= !value.is_empty();
                    text.push_str(value);
                    text.push_str(rest);
                }
                None => {
                    text.push('{');
                    text.push_str(piece);
                }
            }
        }
        (!is_named || is_known).then_some(text)
    }
}

/// The window's title in this format. A part between two dashes is left out if its values are all empty.
pub(crate) fn window_title(format: &str, naming: &Naming<'_>) -> String {
    let parts = format.split(SEPARATOR).filter_map(|part| naming.fill(part));
    let title = parts.collect::<Vec<_>>().join(SEPARATOR);
    if title.trim().is_empty() { "Unterm".to_owned() } else { title }
}

/// A pane's title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneTitle {
    pub(crate) text: String,
    /// The directory, if the title is its name. Tabs of different directories with the same name show more of it.
    pub(crate) place: Option<PathBuf>,
}

/// A pane's title for its tab, in this order: the name given to the pane; while a program runs, the title that it set, its
/// command line, or its name; at the prompt, the title that the shell set, or the directory's name.
pub(crate) fn of_pane(pane: &Pane, cwd: Option<&Path>) -> PaneTitle {
    let plain = |text: String| PaneTitle { text, place: None };
    if pane.has_name()
        && let Some(name) = pane.own_title()
    {
        return plain(name);
    }
    let (has_blocks, line) = command_line(pane);
    let foreground = pane.foreground();
    let name = foreground.as_ref().map(|front| base(&front.name).to_owned());
    // A shell with a script is a program.
    let is_script = foreground.as_ref().is_some_and(|front| front.is_root)
        && pane.command().is_some_and(|(_, args)| args.iter().any(|arg| !is_plain(arg)));
    let runs = match has_blocks {
        true => line.is_some(),
        false => name.as_deref().is_some_and(|name| !is_shell(name) || is_script),
    };
    if runs {
        // A program that is the pane's own, such as that of `-e`, has set the pane's own title.
        let own = if has_blocks { pane.foreground_title() } else { pane.own_title() };
        let line = line.filter(|line| !line.is_empty());
        return plain(own.or(line).or(name).unwrap_or_else(|| pane.title()));
    }
    if let Some(title) = pane.own_title() {
        return plain(title);
    }
    match cwd {
        Some(cwd) if has_blocks || name.is_some() => PaneTitle {
            text: place(cwd, std::env::home_dir().as_deref()),
            place: Some(cwd.to_owned()),
        },
        _ => plain(pane.title()),
    }
}

/// Whether a shell with this argument still waits for commands.
fn is_plain(argument: &str) -> bool {
    matches!(argument, "-l" | "-i" | "-li" | "-il" | "--login" | "--interactive")
}

/// Whether the pane's shell marks its commands, and the first line of the one that runs; empty if it was not reported.
fn command_line(pane: &Pane) -> (bool, Option<String>) {
    let term = pane.term();
    let Some(last) = term.commands().next_back() else { return (false, None) };
    let line = last.is_running().then(|| {
        let mut lines = last.shown().unwrap_or_default().lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty()).unwrap_or_default().to_owned();
        if lines.next().is_some() { first + " …" } else { first }
    });
    (true, line)
}

pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn place(cwd: &Path, home: Option<&Path>) -> String {
    match cwd.file_name() {
        _ if Some(cwd) == home => "~".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => cwd.to_string_lossy().into_owned(),
    }
}

/// The project of a directory: its nearest ancestor, itself included, that contains `.git`.
pub(crate) fn project(directory: &Path) -> Option<PathBuf> {
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists())?;
    Some(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_called_by_its_last_part() {
        let home = Some(Path::new("/home/me"));
        let called = |cwd: &str| place(Path::new(cwd), home);
        assert_eq!(called("/home/me"), "~");
        assert_eq!(called("/home/me/src"), "src");
        assert_eq!(called("/"), "/");
    }

    #[test]
    fn a_window_has_the_documented_title_without_empty_parts() {
        const FORM: &str = "Unterm — {instance} — {project} — {title}";
        let titled = |format: &str, instance, project, title| {
            window_title(
                format,
                &Naming { instance, project, title, tab: "3", ..Naming::default() },
            )
        };
        assert_eq!(titled(FORM, "alpha", "atlas", "vim"), "Unterm — alpha — atlas — vim");
        assert_eq!(titled(FORM, "Mine", "", "vim"), "Unterm — Mine — vim");
        assert_eq!(titled(FORM, "", "", ""), "Unterm");
        // A title of a program can't add parts of its own.
        for title in ["{project}", "{program}", "{tab} {"] {
            assert_eq!(titled(FORM, "alpha", "", title), format!("Unterm — alpha — {title}"));
        }
        assert_eq!(titled("{title} ({project})", "alpha", "atlas", "vim"), "vim (atlas)");
        assert_eq!(titled("{tab}: {title} — {program}", "alpha", "", ""), "3: ");
        assert_eq!(titled("{program}", "alpha", "", "vim"), "Unterm");
    }
}
