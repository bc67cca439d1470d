//! Titles of windows and tabs.

use std::path::{Path, PathBuf};

use unterm_mux::{Foreground, Pane};

use crate::config::TITLE_FIELDS;
use crate::running::is_shell;

/// The separator between the parts of a window's title.
const SEPARATOR: &str = " — ";

/// The values that a window's title may contain. A value is empty if it is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Naming<'a> {
    /// The title of the instance. If it has none, its id.
    pub(crate) instance: &'a str,
    pub(crate) project: &'a str,
    /// The title of the active tab. If the tab has no title, the title of its focused pane.
    pub(crate) title: &'a str,
    pub(crate) program: &'a str,
    pub(crate) directory: &'a str,
    /// The number of the active tab, counted from 1.
    pub(crate) tab: &'a str,
}

impl<'a> Naming<'a> {
    /// The values, in the order of [`TITLE_FIELDS`].
    fn values(&self) -> [&'a str; TITLE_FIELDS.len()] {
        [self.instance, self.project, self.title, self.program, self.directory, self.tab]
    }

    fn value(&self, field: &str) -> Option<&'a str> {
        let index = TITLE_FIELDS.iter().position(|one| *one == field)?;
        Some(self.values()[index])
    }

    /// Fills in the values of a part of the format. Returns `None` if the part contains values and all of them are
    /// empty.
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

/// The window's title in this format. A part between two dashes is left out if it contains values and all of them are
/// empty.
pub(crate) fn window_title(format: &str, naming: &Naming<'_>) -> String {
    let parts = format.split(SEPARATOR).filter_map(|part| naming.fill(part));
    let title = parts.collect::<Vec<_>>().join(SEPARATOR);
    if title.trim().is_empty() { "Unterm".to_owned() } else { title }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneTitle {
    pub(crate) text: String,
    /// The directory, if the title is the name of a directory. If tabs show different directories of equal name, they
    /// add parent directories.
    pub(crate) place: Option<PathBuf>,
    /// The pane's directory, if the title is neither a name that the user gave nor the name of the directory. Tabs with
    /// equal titles and different directories add the directory.
    pub(crate) directory: Option<PathBuf>,
}

impl PaneTitle {
    /// A title that the user gave.
    pub(crate) fn given(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// The title and the program of a pane, read together, so that the two never belong to different commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneNames {
    pub(crate) title: PaneTitle,
    /// The name of the foreground program without its folder.
    pub(crate) program: String,
}

impl PaneNames {
    /// Reads the title and the program of a pane in the directory `cwd`, which queries the operating system.
    pub(crate) fn read(pane: &Pane, cwd: Option<&Path>) -> Self {
        let front = pane.foreground();
        let program = pane.name_of_program(front.as_ref());
        Self { title: of_pane(pane, front.as_ref(), cwd), program }
    }
}

/// The title of a pane, for its tab. A name that was given to the pane comes first. While a program runs: the title
/// that the program set, or its command line, or its name. At the prompt: the title that the shell set, or the name of
/// the directory.
fn of_pane(pane: &Pane, foreground: Option<&Foreground>, cwd: Option<&Path>) -> PaneTitle {
    if pane.has_name()
        && let Some(name) = pane.own_title()
    {
        return PaneTitle::given(name);
    }
    let plain = |text: String| PaneTitle { text, place: None, directory: cwd.map(Path::to_owned) };
    let (has_blocks, line) = command_line(pane);
    let name = foreground.map(|front| base(&front.name).to_owned());
    let is_root = foreground.is_some_and(|front| front.is_root);
    // A shell that runs a script counts as a program, not as a shell.
    let is_script =
        is_root && pane.command().is_some_and(|(_, args)| args.iter().any(|arg| !is_plain(arg)));
    let runs = match has_blocks {
        // A shell marks a command before it starts the program. Until then, the foreground program is the shell
        // itself, which is no title for a command whose line is unknown.
        true => line.as_ref().is_some_and(|line| !line.is_empty() || !is_root),
        false => name.as_deref().is_some_and(|name| !is_shell(name) || is_script),
    };
    if runs {
        // Without command marks, the program itself has set the pane's title. An example is a program that `-e` started.
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
            directory: None,
        },
        _ => plain(name.unwrap_or_else(|| base(pane.process().program()).to_owned())),
    }
}

/// Whether a shell that was started with this argument still reads commands from the user.
fn is_plain(argument: &str) -> bool {
    matches!(argument, "-l" | "-i" | "-li" | "-il" | "--login" | "--interactive")
}

/// Whether the pane's shell marks its commands, and the first line of the running command. The line is empty if the
/// shell did not report it.
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

/// The project of a directory: the nearest directory that contains `.git`, among the directory itself and its
/// ancestors.
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
        // A program's title can't add parts to the window's title, even if it contains braces.
        for title in ["{project}", "{program}", "{tab} {"] {
            assert_eq!(titled(FORM, "alpha", "", title), format!("Unterm — alpha — {title}"));
        }
        assert_eq!(titled("{title} ({project})", "alpha", "atlas", "vim"), "vim (atlas)");
        assert_eq!(titled("{tab}: {title} — {program}", "alpha", "", ""), "3: ");
        assert_eq!(titled("{program}", "alpha", "", "vim"), "Unterm");
    }
}
