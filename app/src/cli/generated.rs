//! Commands, completion scripts and manual pages that are generated. Each method of the wire has a command, which is
//! generated from the method's schema.
//!
//! No method is mentioned here by name.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use clap::{
    Arg, ArgAction, ArgMatches, Command, CommandFactory, ValueEnum, builder::ValueParser,
    value_parser,
};
use serde_json::{Map, Value};
use unterm_control::{Entry, METHODS};

use crate::plain_words;

/// The command that contains a subcommand for each method.
pub const METHOD: &str = "method";

/// The shells that have completion scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// Nushell.
    Nushell,
    /// PowerShell.
    #[value(name = "powershell", alias = "pwsh")]
    Pwsh,
}

/// Adds a subcommand for each method. This takes some milliseconds, so call it only if a method is used.
pub fn with_methods(command: Command) -> Command {
    command.mut_subcommand(METHOD, |method| {
        method
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(METHODS.iter().map(method_command))
    })
}

fn method_command(entry: &'static Entry) -> Command {
    let schema = schema(entry);
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map_or_else(Vec::new, |required| required.iter().filter_map(Value::as_str).collect());
    let mut command = Command::new(entry.name).about(entry.doc);
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for (name, property) in &properties {
        // Skip `session_id`, which is an alias of `id`.
        if name == "session_id" && properties.contains_key("id") {
            continue;
        }
        // Leaking memory is acceptable here, because the program ends soon.
        let id: &'static str = name.clone().leak();
        let long: &'static str = name.replace('_', "-").leak();
        let arg = Arg::new(id).long(long).required(required.contains(&id));
        let arg = match property["description"].as_str() {
            Some(text) => {
                let text = text.replace('\n', " ");
                match choices(&schema, property) {
                    choices if choices.is_empty() => arg.help(text),
                    choices => arg.long_help(format!("{text}{choices}")).help(text),
                }
            }
            None => arg,
        };
        command = command.arg(match (kind(property), property["items"]["type"].as_str()) {
            (Some("boolean"), _) => arg
                .value_name("BOOL")
                .value_parser(value_parser!(bool))
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true"),
            (Some("integer"), _) => arg.value_name("N").value_parser(value_parser!(u64)),
            (Some("string"), _) => arg.value_name("TEXT").allow_hyphen_values(true),
            (Some("array"), Some("string")) => {
                arg.value_name("TEXT").allow_hyphen_values(true).action(ArgAction::Append)
            }
            (Some("array"), Some("integer")) => arg
                .value_name("N")
                .value_parser(value_parser!(u64))
                .value_delimiter(',')
                .action(ArgAction::Append),
            _ => arg.value_name("JSON").value_parser(ValueParser::new(json)),
        });
    }
    command
}

/// The JSON type of a parameter. An enumeration of strings counts as a string.
fn kind(property: &Value) -> Option<&str> {
    let is_text = |variant: &Value| variant["const"].is_string();
    match property["oneOf"].as_array() {
        Some(variants) if variants.iter().all(is_text) => Some("string"),
        _ => property["type"].as_str(),
    }
}

/// The possible values of a list parameter, for the help: the values of an enumeration, or the keys of objects with a
/// single key.
fn choices(schema: &Value, property: &Value) -> String {
    let items = &property["items"];
    let named = items["$ref"].as_str().and_then(|path| schema.pointer(path.strip_prefix('#')?));
    let items = named.unwrap_or(items);
    if let Some(values) = items["enum"].as_array() {
        let values: Vec<_> = values.iter().filter_map(Value::as_str).collect();
        return format!("\n\nPossible values: {}", values.join(", "));
    }
    let mut lines = String::new();
    for variant in items["oneOf"].as_array().into_iter().flatten() {
        let about = variant["description"].as_str().unwrap_or_default();
        for (key, value) in variant["properties"].as_object().into_iter().flatten() {
            let kind = value["type"].as_str().unwrap_or("any");
            lines.push_str(&format!("\n  {{\"{key}\": {kind}}}  {about}"));
        }
    }
    if lines.is_empty() { lines } else { format!("\n\nPossible values:{lines}") }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| plain_words::of_json(&error))
}

/// Returns the method that a command line calls, and the method's parameters. `None` if the command is not `method`.
pub fn request(matches: &ArgMatches) -> Option<(&'static str, Value)> {
    let (METHOD, matches) = matches.subcommand()? else { return None };
    let (name, matches) = matches.subcommand()?;
    let entry = METHODS.iter().find(|entry| entry.name == name)?;
    let schema = schema(entry);
    let is_list = |id: &str| schema["properties"][id]["type"] == "array";
    let mut params = Map::new();
    for id in matches.ids() {
        let id = id.as_str();
        let value = if let Ok(Some(flag)) = matches.try_get_one::<bool>(id) {
            Value::from(*flag)
        } else if let Ok(Some(mut numbers)) = matches.try_get_many::<u64>(id) {
            match is_list(id) {
                true => numbers.copied().collect(),
                false => numbers.next().map_or(Value::Null, |number| Value::from(*number)),
            }
        } else if let Ok(Some(value)) = matches.try_get_one::<Value>(id) {
            value.clone()
        } else if let Ok(Some(texts)) = matches.try_get_many::<String>(id) {
            let texts: Vec<&String> = texts.collect();
            match is_list(id) {
                true => texts.into_iter().cloned().collect(),
                false => texts.first().map_or(Value::Null, |text| Value::from(text.as_str())),
            }
        } else {
            continue;
        };
        // Skip global options, which are not parameters of the method.
        if !matches!(id, "json" | "instance" | "lang") {
            params.insert(id.to_owned(), value);
        }
    }
    Some((entry.name, params.into()))
}

/// The schema of a method's parameters.
fn schema(entry: &Entry) -> Value {
    serde_json::to_value(entry.params_schema()).unwrap_or_default()
}

/// Returns a completion script. A script that lists every option would take half a megabyte, and the shell would read
/// it at each start. Therefore all scripts except Nushell's call `unterm-cli complete` at each press of Tab.
pub fn completions(shell: Shell, mut command: Command) -> Result<String> {
    let script = match shell {
        Shell::Bash => include_str!("../../../assets/completions/unterm-cli.bash"),
        Shell::Zsh => include_str!("../../../assets/completions/unterm-cli.zsh"),
        Shell::Fish => include_str!("../../../assets/completions/unterm-cli.fish"),
        Shell::Pwsh => include_str!("../../../assets/completions/unterm-cli.ps1"),
        Shell::Nushell => {
            let (name, mut out) = (command.get_name().to_owned(), Vec::new());
            command.build();
            let mut command = without_help(command);
            clap_complete::generate(clap_complete_nushell::Nushell, &mut command, name, &mut out);
            return Ok(String::from_utf8(out)?);
        }
    };
    Ok(script.to_owned())
}

/// Removes the help of all options. Otherwise, a Nushell script would repeat the help of global options for every
/// command.
fn without_help(command: Command) -> Command {
    command
        .mut_args(|arg| arg.help(None::<&str>).long_help(None::<&str>))
        .mut_subcommands(without_help)
}

/// The manual page of this program.
pub fn manual(command: Command) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command).render(&mut out)?;
    Ok(out)
}

/// Writes the manual pages into a folder: the page of this program, the pages of its commands, and the page of the
/// terminal.
pub fn manuals(command: Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for command in [command, crate::args::Args::command()] {
        clap_mangen::generate_to(command, folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::args::Args;

    fn parse(line: &[&str]) -> Option<(&'static str, Value)> {
        let command = with_methods(Args::command());
        let line = ["unterm-cli"].iter().chain(line);
        request(&command.try_get_matches_from(line).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn every_method_is_a_command() {
        let command = with_methods(Args::command());
        command.clone().debug_assert();
        let method = command.find_subcommand(METHOD).unwrap();
        for entry in METHODS {
            assert!(method.find_subcommand(entry.name).is_some(), "{}", entry.name);
        }
    }

    #[test]
    fn the_help_lists_the_wait_conditions() {
        let command = with_methods(Args::command());
        let line = ["unterm-cli", "method", "session.wait", "--help"];
        let help = command.try_get_matches_from(line).unwrap_err().to_string();
        for key in ["stable_ms", "command_done", "secret"] {
            assert!(help.contains(&format!("{{\"{key}\": ")), "{key} is not in\n{help}");
        }
    }

    #[test]
    fn options_are_parameters() {
        assert_eq!(
            parse(&["method", "exec.run_wait", "--id", "3", "--command", "-x", "--timeout-ms=5"]),
            Some(("exec.run_wait", json!({"id": 3, "command": "-x", "timeout_ms": 5})))
        );
        assert_eq!(
            parse(&[
                "--json",
                "method",
                "orchestrate.broadcast",
                "--command=a",
                "--sessions=1",
                "--sessions=2"
            ]),
            Some(("orchestrate.broadcast", json!({"command": "a", "sessions": ["1", "2"]})))
        );
        assert_eq!(
            parse(&["method", "workspace.restore", "--name=x", "--recreate"]),
            Some(("workspace.restore", json!({"name": "x", "recreate": true})))
        );
        assert_eq!(
            parse(&["--lang=de", "method", "token.create", "--name=x", "--scope=read"]),
            Some(("token.create", json!({"name": "x", "scope": "read"})))
        );
        assert_eq!(
            parse(&["method", "session.create", "--env", r#"{"A":"1"}"#]),
            Some(("session.create", json!({"env": {"A": "1"}})))
        );
        assert_eq!(
            parse(&["method", "token.create", "--name=x", "--panes=0,3", "--panes", "7"]),
            Some(("token.create", json!({"name": "x", "panes": [0, 3, 7]})))
        );
        assert_eq!(parse(&["info"]), None);
        let command = with_methods(Args::command());
        assert!(command.try_get_matches_from(["unterm-cli", "method", "exec.run"]).is_err());
    }

    #[test]
    fn no_script_slows_the_start_of_a_shell() {
        for shell in Shell::value_variants() {
            let script = completions(*shell, Args::command()).unwrap();
            assert!(script.contains("unterm-cli"), "{shell:?}");
            assert!(script.len() < 50_000, "{shell:?}: {} bytes", script.len());
        }
    }

    #[test]
    fn each_command_has_a_page_of_the_manual() {
        let page = String::from_utf8(manual(Args::command()).unwrap()).unwrap();
        assert!(page.contains(".TH unterm\\-cli 1") || page.contains(".TH unterm-cli 1"), "{page}");
        let folder = tempfile::tempdir().unwrap();
        manuals(Args::command(), folder.path()).unwrap();
        for name in ["unterm.1", "unterm-cli.1", "unterm-cli-session-create.1"] {
            assert!(folder.path().join(name).is_file(), "{name}");
        }
    }
}
