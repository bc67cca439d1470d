//! The titles of windows and of their tabs.

use std::path::{Path, PathBuf};

use unterm_mux::Pane;

/// `Unterm — <title override or instance id> — <project> — <pane title>`, without the parts that are empty.
pub(super) fn window_title(instance: &str, project: &str, pane: &str) -> String {
    let mut title = String::from("Unterm");
    for part in [instance, project, pane] {
        if !part.is_empty() {
            title.push_str(" — ");
            title.push_str(part);
        }
    }
    title
}

/// Tells a title that the shell has from one that a program left behind when it ended: vim that was killed, ssh whose
/// connection broke. kitty and ghostty have their shells' integration set the title at each prompt; here what a person sets
/// there stays, and only a program's own gives way.
#[derive(Debug, Default)]
pub(super) struct Titles {
    /// The title as it last was without a program in front.
    shells: String,
    /// The title that a program has given.
    programs: Option<String>,
}

impl Titles {
    /// Of a pane's title the one to be shown; `in_front`: a command runs, in another program than the pane's own.
    fn shown<'a>(&'a mut self, title: &'a str, in_front: bool) -> &'a str {
        if in_front {
            self.programs = (title != self.shells).then(|| title.to_owned());
        } else if self.programs.as_deref() == Some(title) {
            return &self.shells;
        } else {
            title.clone_into(&mut self.shells);
            self.programs = None;
        }
        title
    }

    /// What a pane's tab is called: its own title; for a shell that waits at its prompt and has set none, where it is, so
    /// that shells can be told apart (`~`, else the directory's name).
    pub(super) fn of_pane(&mut self, pane: &Pane, cwd: Option<&Path>) -> String {
        if pane.has_name() {
            return pane.title();
        }
        let (title, runs, waits) = {
            let term = pane.term();
            let last = term.commands().next_back();
            let (runs, waits) = last.map_or((false, false), |c| (c.is_running(), c.is_prompting()));
            (term.title().to_owned(), runs, waits)
        };
        // What a shell runs by itself before a prompt is no command, and may come right behind the shell's own title.
        let in_front = runs && pane.foreground().is_some_and(|program| !program.is_root);
        match (self.shown(&title, in_front), cwd) {
            ("", Some(cwd)) if waits => place(cwd, std::env::home_dir().as_deref()),
            ("", _) if title.is_empty() => pane.title(),
            ("", _) => base(pane.process().program()).to_owned(),
            (shown, _) => shown.to_owned(),
        }
    }
}

/// A program's name without its folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn place(cwd: &Path, home: Option<&Path>) -> String {
    match cwd.file_name() {
        _ if Some(cwd) == home => "~".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => cwd.to_string_lossy().into_owned(),
    }
}

/// The project a directory belongs to: the nearest directory from it upwards that holds a repository.
pub(super) fn project(directory: &Path) -> Option<PathBuf> {
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
    fn a_program_takes_its_title_with_it_and_a_shells_stays() {
        let mut titles = Titles::default();
        let mut shown = |title: &str, in_front: bool| titles.shown(title, in_front).to_owned();
        // Set at the prompt, also by a command of the shell's own.
        assert_eq!(shown("mine", false), "mine");
        assert_eq!(shown("mine", true), "mine");
        assert_eq!(shown("vim", true), "vim");
        // Ended or suspended, and back again.
        assert_eq!(shown("vim", false), "mine");
        assert_eq!(shown("vim", false), "mine");
        assert_eq!(shown("vim", true), "vim");
        // It put the old one back, as most do.
        assert_eq!(shown("mine", true), "mine");
        assert_eq!(shown("mine", false), "mine");
        // It took it away, and left nothing.
        assert_eq!(shown("", true), "");
        assert_eq!(shown("", false), "mine");
        // A shell that sets its own at each prompt.
        assert_eq!(shown("ssh", true), "ssh");
        assert_eq!(shown("~/src", false), "~/src");
        assert_eq!(shown("ssh", false), "ssh", "said anew by the shell");
    }

    #[test]
    fn empty_parts_leave_no_dash() {
        assert_eq!(window_title("alpha", "", "vim"), "Unterm — alpha — vim");
        assert_eq!(window_title("", "", ""), "Unterm");
        assert_eq!(window_title("alpha", "unterm", "zsh"), "Unterm — alpha — unterm — zsh");
    }
}
