//! `unterm-cli hooks run`: starts an agent with hooks that report what it is doing, for this start only.
//!
//! Claude Code merges the hooks of `--settings` with those of the user's files, and accepts the settings themselves in
//! place of a file (<https://code.claude.com/docs/en/cli-reference>, <https://code.claude.com/docs/en/hooks>). So there is
//! no file to write or to remove, and the agent replaces this process.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};
use unterm_mux::quote;

use crate::own_program;

/// Commands about the hooks of agents.
#[derive(Subcommand)]
pub enum HooksCommand {
    /// Start an agent with hooks that report what it is doing. Changes no file.
    Run {
        /// Agent and its arguments: claude.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

/// The option of Claude Code with which settings are given for one start.
const SETTINGS: &str = "--settings";
/// The number of seconds after which Claude Code stops a hook.
const TIMEOUT: u64 = 5;

/// The events of Claude Code: the event, the matcher of its subjects (empty: all), and the words of `agent state`.
///
/// A hook does not learn whether the user gave a permission, so `PostToolUse` reports that Claude Code works again. It
/// is reported after the tool has ended.
const EVENTS: &[(&str, &str, &[&str])] = &[
    ("SessionStart", "", &["idle"]),
    ("UserPromptSubmit", "", &["working"]),
    (
        "PreToolUse",
        "AskUserQuestion",
        &["needs-you", "--kind", "question", "Claude asks a question"],
    ),
    (
        "PermissionRequest",
        "",
        &["needs-you", "--kind", "permission", "Claude asks for a permission"],
    ),
    (
        "Notification",
        "permission_prompt",
        &["needs-you", "--kind", "permission", "Claude asks for a permission"],
    ),
    (
        "Notification",
        "elicitation_dialog",
        &["needs-you", "--kind", "question", "Claude asks a question"],
    ),
    ("PostToolUse", "", &["working"]),
    ("PostToolUseFailure", "", &["working"]),
    ("Stop", "", &["done"]),
    ("StopFailure", "", &["failed", "Claude's request failed"]),
];

/// Replaces this process with an agent.
///
/// # Errors
/// Fails if Unterm knows no hooks for the program, if the arguments already contain settings, or if the program can't
/// be started.
pub fn run(command: &HooksCommand) -> Result<ExitCode> {
    let HooksCommand::Run { command } = command;
    let (program, args) = command.split_first().context("name an agent to start: claude")?;
    let name = Path::new(program).file_name().unwrap_or_default();
    if name != "claude" {
        bail!("{program}: hooks are known for claude only");
    }
    let is_settings = |arg: &String| arg.split('=').next() == Some(SETTINGS);
    if args.iter().any(is_settings) {
        bail!(
            "{SETTINGS} can be given only once, and the hooks need it; put your settings into .claude/settings.local.json"
        );
    }
    let own = own_program::beside("unterm-cli")?;
    let settings = settings(&own.to_string_lossy()).to_string();
    let error = Command::new(program).arg(SETTINGS).arg(settings).args(args).exec();
    Err(error).with_context(|| format!("cannot start {program}"))
}

/// The settings with the hooks. `own`: the path of `unterm-cli`.
fn settings(own: &str) -> Value {
    let mut hooks = json!({});
    for (event, matcher, words) in EVENTS {
        let words = ["agent", "state", "--app", "claude-code"].iter().chain(*words);
        let words = std::iter::once(own).chain(words.copied()).map(quote::posix);
        let command = words.collect::<Vec<_>>().join(" ");
        let hook = json!({"type": "command", "command": command, "timeout": TIMEOUT});
        let mut group = json!({"hooks": [hook]});
        if !matcher.is_empty() {
            group["matcher"] = json!(matcher);
        }
        match hooks[*event].as_array_mut() {
            Some(groups) => groups.push(group),
            None => hooks[*event] = json!([group]),
        }
    }
    json!({ "hooks": hooks })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Args;

    #[test]
    fn every_hook_is_a_valid_command() {
        let settings = settings("/opt/my programs/unterm-cli");
        let hooks = settings["hooks"].as_object().unwrap();
        assert_eq!(hooks["Notification"].as_array().unwrap().len(), 2);
        for (event, _, words) in EVENTS {
            let words =
                ["unterm-cli", "agent", "state", "--app", "claude-code"].iter().chain(*words);
            assert!(Args::try_parse_from(words).is_ok(), "{event}");
        }
        let stop = &hooks["Stop"][0];
        assert_eq!(stop.get("matcher"), None);
        let command = stop["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(
            command,
            "'/opt/my programs/unterm-cli' 'agent' 'state' '--app' 'claude-code' 'done'"
        );
    }

    #[test]
    fn only_known_agents_start_and_only_with_one_set_of_settings() {
        let why = |words: &[&str]| {
            let command = words.iter().map(|word| (*word).to_owned()).collect();
            run(&HooksCommand::Run { command }).unwrap_err().to_string()
        };
        assert!(why(&["vim"]).contains("claude only"));
        assert!(why(&["claude", "--settings", "mine.json"]).contains("only once"));
        assert!(why(&["claude", "--settings=mine.json"]).contains("only once"));
    }
}
