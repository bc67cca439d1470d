//! Replays of screens. A replay is a file with a pane's screen, and the state that the rules for agents' screens should
//! find in it. `unterm-cli explain --save` writes a replay, its user corrects `state`, and `unterm-cli agent check`
//! reads it.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use unterm_control::{
    ScreenRules,
    client::Client,
    methods::{
        params::SessionOnly,
        replay::{Replay, ReplayReply},
    },
};
use unterm_mux::private;

use crate::cli::report::{complain, write_out};

/// The maximum size of a replay, in bytes.
const LONGEST: u64 = 4 << 20;

/// Saves the input of the rules for a pane as a replay.
pub fn save(client: &Client, pane: u64, file: &Path) -> Result<()> {
    let replay = client.call::<Replay>(SessionOnly::of(pane))?;
    let text = serde_json::to_string_pretty(&replay)? + "\n";
    private::write(file, text.as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Applies the rules to replays, and prints the results. Fails if a result differs from the replay's `state`.
pub fn check(files: &[PathBuf], home: &Path) -> ExitCode {
    let rules = ScreenRules::new(home);
    let mut code = ExitCode::SUCCESS;
    for file in files {
        match of_file(&rules, file) {
            Ok((line, true)) => {
                if write_out(&line).is_err() {
                    return ExitCode::FAILURE;
                }
            }
            Ok((line, false)) => {
                complain(line.trim_end());
                code = ExitCode::FAILURE;
            }
            Err(error) => {
                complain(&format!("{}: {error:#}", file.display()));
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

/// The rules' result for a replay, as a line, and whether it equals the replay's `state`.
fn of_file(rules: &ScreenRules, file: &Path) -> Result<(String, bool)> {
    let text = private::read_text_of_anyone(file, LONGEST)?;
    let replay: ReplayReply = serde_json::from_str(&text).context("it is no replay")?;
    let expected = replay.state.clone();
    let decision = rules.decide(&replay.programs, &replay.input());
    let read = replay.with_decision(decision.as_ref());
    let word = |word: Option<&str>| word.unwrap_or("nothing").to_owned();
    let is_right = read.state == expected;
    let mut line = format!("{}: {}", file.display(), word(read.state.as_deref()));
    if let Some(rule) = &read.rule {
        line.push_str(&format!(" by {rule}"));
    }
    if !is_right {
        line.push_str(&format!(", not {}", word(expected.as_deref())));
    }
    Ok((line + "\n", is_right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_right_if_the_rules_read_its_state() {
        let home = tempfile::tempdir().unwrap();
        let rules = ScreenRules::new(home.path());
        let file = home.path().join("replay.json");
        let of = |state: &str| {
            let screen = "[\"• Working (3s • esc to interrupt)\", \"\", \"› \"]";
            let text = format!("{{\"programs\": [\"codex\"], \"screen\": {screen}{state}}}");
            std::fs::write(&file, text).unwrap();
            let (line, is_right) = of_file(&rules, &file).unwrap();
            (line.split_once(": ").unwrap().1.to_owned(), is_right)
        };
        let working = "working by codex/interruptible";
        assert_eq!(of(", \"state\": \"working\""), (format!("{working}\n"), true));
        assert_eq!(of(", \"state\": \"blocked\""), (format!("{working}, not blocked\n"), false));
        assert_eq!(of(""), (format!("{working}, not nothing\n"), false));
        std::fs::write(&file, "[]").unwrap();
        assert!(of_file(&rules, &file).is_err());
    }
}
