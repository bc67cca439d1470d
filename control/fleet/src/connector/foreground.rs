//! Finds the AI program in the foreground of a terminal. Many such programs are scripts. Their process has the name of
//! an interpreter, and the script is in the process's arguments.

use std::{collections::HashMap, fs, path::Path};

use rustix::fs::{major, minor, stat};

use super::programs;

/// Programs that run scripts.
const INTERPRETERS: [&str; 9] =
    ["bash", "bun", "deno", "env", "node", "python", "python3", "sh", "uv"];

/// The leaders of the foreground process groups of all terminals. They are read from the system once.
#[derive(Default)]
pub struct Foregrounds {
    /// The process ids, by the numbers of the terminals. `None` before the system was read.
    leaders: Option<HashMap<u64, u32>>,
}

impl Foregrounds {
    /// The AI program in the foreground of a terminal. `process`: the name of the foreground process.
    pub fn ai(&mut self, process: &str, tty: &str) -> Option<&'static str> {
        if let Some(ai) = programs::of_process(process) {
            return Some(ai);
        }
        if !is_interpreter(process) || tty.is_empty() {
            return None;
        }
        let leaders = self.leaders.get_or_insert_with(look);
        let leader = leaders.get(&number(Path::new(tty))?)?;
        let arguments = fs::read(format!("/proc/{leader}/cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&arguments);
        of_arguments(arguments.split('\0'))
    }
}

fn is_interpreter(process: &str) -> bool {
    let name = process.rsplit('/').next().unwrap_or_default();
    // A name may contain a version, such as python3.12.
    let plain = name.split('.').next().unwrap_or_default();
    INTERPRETERS.contains(&plain)
}

/// The AI program that a process with these arguments runs. The process is either that program itself, or an
/// interpreter of its script.
fn of_arguments<'a>(arguments: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let mut arguments = arguments.peekable();
    let own = arguments.next()?;
    if let Some(ai) = programs::of_process(own) {
        return Some(ai);
    }
    let script = arguments.find(|argument| !argument.starts_with('-'))?;
    is_interpreter(own).then(|| programs::of_process(script)).flatten()
}

/// The number of a terminal, in the form in which the kernel lists it for processes.
fn number(tty: &Path) -> Option<u64> {
    let device = stat(tty).ok()?.st_rdev;
    let (major, minor) = (u64::from(major(device)), u64::from(minor(device)));
    Some((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12))
}

fn look() -> HashMap<u64, u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return HashMap::new() };
    let leader = |entry: fs::DirEntry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let (terminal, group) = terminal_of(&fs::read_to_string(entry.path().join("stat")).ok()?)?;
        (group == i64::from(id)).then_some((terminal, id))
    };
    processes.flatten().filter_map(leader).collect()
}

/// The terminal of a process and its foreground process group, from `/proc/PID/stat` (proc(5)).
fn terminal_of(stat: &str) -> Option<(u64, i64)> {
    // The process's name is in parentheses, and may contain any characters.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(4);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_recognized_by_their_interpreters_arguments() {
        let of = |arguments: &[&str]| of_arguments(arguments.iter().copied());
        assert_eq!(of(&["claude"]), Some("claude"));
        assert_eq!(of(&["node", "/usr/bin/claude", "--resume"]), Some("claude"));
        assert_eq!(of(&["node", "--no-warnings", "/usr/bin/gemini"]), Some("gemini"));
        assert_eq!(of(&["/usr/bin/python3.12", "/usr/bin/aider"]), Some("aider"));
        assert_eq!(of(&["vim", "claude"]), None);
        assert_eq!(of(&["bash"]), None);
        assert_eq!(of(&[]), None);
        assert!(is_interpreter("/usr/bin/node") && !is_interpreter("vim"));
    }

    #[test]
    fn stat_is_parsed_whatever_the_process_name_contains() {
        let stat = "77 (a) (b c) S 1 77 77 34817 77 4194304 1 2 3";
        assert_eq!(terminal_of(stat), Some((34817, 77)));
        assert_eq!(terminal_of("77 (a"), None);
    }
}
