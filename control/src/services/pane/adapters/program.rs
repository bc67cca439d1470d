//! The program that a plugin watches: the process group that was in the foreground when the plugin was attached.

use unterm_mux::Pane;

/// A process group of a pane. Without a number: all programs that run in the pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program(Option<i32>);

/// Whether a program is in the foreground of its pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPosition {
    /// The program, or a program that it started, is in the foreground.
    Foreground,
    /// Another program is in the foreground, such as the shell after Ctrl+Z.
    Background,
    /// The program has ended.
    Gone,
}

/// Programs that run a script. A plugin is chosen by the script's name instead of the interpreter's.
const INTERPRETERS: [&str; 6] = ["node", "bun", "deno", "python", "python3", "ruby"];

impl Program {
    /// The program in a pane's foreground.
    pub fn in_front(pane: &Pane) -> Self {
        Self(pane.process().group_in_front())
    }

    /// The program that a pane was opened with, and all programs that run in the pane later.
    pub fn of_pane() -> Self {
        Self(None)
    }

    /// Whether the program has ended.
    pub fn is_gone(self, pane: &Pane) -> bool {
        self.0.is_some_and(|group| !pane.process().has_group(group))
    }

    /// Whether the program is in the foreground, is in the background, or has ended.
    pub fn place(self, pane: &Pane) -> ProgramPosition {
        // An ended program's group can still count as the foreground group.
        if self.is_gone(pane) {
            return ProgramPosition::Gone;
        }
        let process = pane.process();
        let (Some(group), Some(front)) = (self.0, process.group_in_front()) else {
            return ProgramPosition::Foreground;
        };
        let starts_front = || process.groups_above(front).is_none_or(|it| it.contains(&group));
        if group == front || starts_front() {
            ProgramPosition::Foreground
        } else {
            ProgramPosition::Background
        }
    }
}

/// The names of the program in a pane's foreground: the name of its file, the name under which it was started, and the
/// name of the script that it runs.
pub fn names(pane: &Pane) -> Vec<String> {
    let executable = pane.foreground().map(|it| it.name);
    let arguments = pane.process().foreground_arguments().unwrap_or_default();
    names_of(executable.as_deref(), &arguments)
}

fn names_of(executable: Option<&str>, arguments: &[String]) -> Vec<String> {
    let mut arguments = arguments.iter().map(String::as_str);
    let mut names: Vec<_> = executable.into_iter().chain(arguments.next()).map(file_name).collect();
    if names.iter().any(|name| INTERPRETERS.contains(name)) {
        names.extend(arguments.find(|argument| !argument.starts_with('-')).map(file_name));
    }
    names.dedup();
    names.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The last part of a path, without the dash at the start of a login shell's name.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_start_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_names_of_its_file_its_call_and_its_script() {
        let names = |executable: &str, arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(|it| (*it).to_owned()).collect();
            names_of(Some(executable), &arguments)
        };
        assert_eq!(names("/usr/bin/bash", &["-bash"]), ["bash"]);
        let version = "/home/a/.local/share/claude/versions/2.1.0";
        assert_eq!(names(version, &["claude", "--resume"]), ["2.1.0", "claude"]);
        assert_eq!(
            names("/bin/node", &["node", "--no-warnings", "/bin/claude"]),
            ["node", "claude"]
        );
        assert_eq!(names("/usr/bin/vim", &["vim", "claude"]), ["vim"]);
        assert_eq!(names("cat", &[]), ["cat"]);
        assert!(names_of(None, &[]).is_empty());
    }
}
