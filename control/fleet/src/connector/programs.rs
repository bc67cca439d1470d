//! The AI programs of this machine: the installed programs with their versions, and the running programs.

use std::{
    collections::{BTreeMap, HashMap},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, SystemTime},
};

use tokio::process::Command;

use crate::protocol::Program;

/// AI programs. Each has a name that agents see, and the name of its program file.
const KNOWN: [(&str, &str); 14] = [
    ("aider", "aider"),
    ("amp", "amp"),
    ("claude", "claude"),
    ("codex", "codex"),
    ("copilot", "copilot"),
    ("crush", "crush"),
    ("cursor", "cursor-agent"),
    ("gemini", "gemini"),
    ("goose", "goose"),
    ("llama.cpp", "llama-cli"),
    ("llama.cpp", "llama-server"),
    ("ollama", "ollama"),
    ("opencode", "opencode"),
    ("qwen", "qwen"),
];

/// The maximum time until a program reports its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of characters of a version.
const LONGEST: usize = 40;

/// The AI program whose process has this name.
pub fn of_process(process: &str) -> Option<&'static str> {
    let name = process.rsplit('/').next().unwrap_or_default();
    KNOWN.iter().find(|(_, file)| *file == name).map(|(ai, _)| *ai)
}

/// The installed programs, with the versions that they reported.
#[derive(Default)]
pub struct Programs {
    /// The versions, by path. Each is stored with the time of the file's last change.
    versions: HashMap<PathBuf, (Option<SystemTime>, String)>,
}

impl Programs {
    /// Finds the AI programs on the PATH. Starts a program only to request its version, once for each change of its
    /// file.
    pub async fn scan(&mut self, running: impl Iterator<Item = &str>) -> BTreeMap<String, Program> {
        let running: Vec<&str> = running.collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut found = BTreeMap::new();
        for (ai, file) in KNOWN {
            let mut all = std::env::split_paths(&path).map(|folder| folder.join(file));
            let Some(binary) = all.find(|path| is_program(path)) else { continue };
            let version = self.version(&binary).await;
            let running = running.contains(&ai);
            let binary = binary.display().to_string();
            found.entry(ai.to_owned()).or_insert(Program { binary, version, running });
        }
        found
    }

    async fn version(&mut self, binary: &Path) -> String {
        let changed = binary.metadata().and_then(|file| file.modified()).ok();
        if let Some((at, version)) = self.versions.get(binary)
            && *at == changed
        {
            return version.clone();
        }
        let version = ask_version(binary).await;
        self.versions.insert(binary.to_owned(), (changed, version.clone()));
        version
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

async fn ask_version(binary: &Path) -> String {
    let output = Command::new(binary)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(PATIENCE, output).await {
        Ok(Ok(output)) => version_in(&String::from_utf8_lossy(&output.stdout)),
        _ => String::new(),
    }
}

/// The first word with a digit and a dot, such as `2.1.109` in `2.1.109 (Claude Code)`.
fn version_in(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_version =
        |word: &&str| word.contains('.') && word.contains(|c: char| c.is_ascii_digit());
    let word = line.split_whitespace().find(is_version).unwrap_or_default();
    let word = word.trim_start_matches('v').trim_end_matches([',', ';']);
    unterm_control::escaped(&word.chars().take(LONGEST).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_recognized_by_their_process_names() {
        assert_eq!(of_process("claude"), Some("claude"));
        assert_eq!(of_process("/usr/bin/llama-cli"), Some("llama.cpp"));
        assert_eq!(of_process("bash"), None);
        assert_eq!(of_process(""), None);
    }

    #[test]
    fn versions_are_found_in_program_output() {
        for (text, version) in [
            ("2.1.109 (Claude Code)\n", "2.1.109"),
            ("codex-cli 0.46.0", "0.46.0"),
            ("ollama version is 0.12.3\n", "0.12.3"),
            ("tool v1.2,\nother 3.4", "1.2"),
            ("none.\n", ""),
            ("", ""),
        ] {
            assert_eq!(version_in(text), version, "{text}");
        }
    }

    #[tokio::test]
    async fn a_programs_version_is_queried_once_per_file_change() {
        use std::fs;
        let folder = tempfile::tempdir().unwrap();
        let (program, count) = (folder.path().join("tool"), folder.path().join("count"));
        let script = format!("#!/bin/sh\necho >> {}\necho tool 1.2\n", count.display());
        fs::write(&program, script).unwrap();
        assert!(!is_program(&program));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_program(&program));
        let mut programs = Programs::default();
        for _ in 0..3 {
            assert_eq!(programs.version(&program).await, "1.2");
        }
        assert_eq!(fs::read(count).unwrap().len(), 1);
    }
}
