//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use unterm_control::languages;

use crate::{
    areas::{
        CaptureCommand, OrchestrateCommand, PolicyCommand, ProxyCommand, RecordCommand,
        SessionsCommand, TokenCommand, WorkspaceCommand,
    },
    generated::Shell,
    local::{ConfigCommand, LangCommand, ThemeCommand},
    mcp_config::Client,
    session::{Id, OnlyId, ScreenCommand, SessionCommand},
};

/// Drives a running Unterm.
#[derive(Parser)]
#[command(name = "unterm-cli", version)]
pub struct Args {
    /// Print results as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// The instance to drive, by its id (such as alpha) or its title; else the active one.
    #[arg(long, global = true, value_name = "NAME")]
    pub instance: Option<String>,
    /// The language that `lang list` and `lang current` take for the one in use, by its code, such as `de-DE` or `de`. Every
    /// command accepts it and prints English all the same: the settings page has languages, and `lang set` chooses one.
    #[arg(long, global = true, value_name = "CODE", value_parser = language)]
    pub lang: Option<String>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The full code of a language.
fn language(code: &str) -> Result<String, String> {
    let codes = || languages::all().map(|(code, _)| code).collect::<Vec<_>>().join(", ");
    let found = languages::find(code).map(str::to_owned);
    found.ok_or_else(|| format!("there is no such language; there are {}", codes()))
}

/// What to do about agents.
#[derive(Subcommand)]
pub enum McpCommand {
    /// Print the entry by which an agent's program finds this one, for the toolset and the instance that are named.
    Config {
        /// The agent's program.
        #[arg(value_enum)]
        client: Client,
        /// Merge it into that program's own file, and keep the file as it was beside it, under a new name each time.
        #[arg(long)]
        write: bool,
    },
    /// Print the terminal this runs in, such as /dev/pts/3: a hook for the start of an agent's session.
    Tty,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Preferences: the file config.toml.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Themes: the colours of every pane.
    #[command(subcommand)]
    Theme(ThemeCommand),
    /// Language of the settings page.
    #[command(subcommand)]
    Lang(LangCommand),
    /// Log in to another machine with the shell integration of this pane; takes what ssh takes. A command is run as ssh runs it.
    Ssh {
        /// Options and the host, as for ssh.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Speak the Model Context Protocol on stdin and stdout, for agents: with a running instance, or one started for it.
    Mcp {
        /// The tools that are offered: unterm, if nothing is said.
        #[arg(long, global = true, value_name = "NAME")]
        toolset: Option<String>,
        /// Something else to do.
        #[command(subcommand)]
        command: Option<McpCommand>,
    },
    /// The settings page of a running instance.
    #[command(subcommand)]
    Settings(SettingsCommand),
    /// Sessions: the panes of the terminal.
    #[command(subcommand)]
    Session(SessionCommand),
    /// Type a command and Enter, and don't wait.
    Exec {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// The command, as the session's shell reads it; behind `--` it may hold options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Run a command, wait for its end and print its output; fails if the command does.
    Run {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// How long to wait, in seconds; the command is left running.
        #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
        timeout: f64,
        /// The command, as the session's shell reads it; behind `--` it may hold options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Type text as it is.
    Send {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// Press Enter behind it.
        #[arg(long)]
        enter: bool,
        /// The text; behind `--` it may begin with a dash.
        #[arg(required = true)]
        input: Vec<String>,
    },
    /// Press Ctrl+C.
    Cancel {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Type the control character of a signal: SIGINT, SIGTSTP, SIGQUIT or EOF; or send another one, such as SIGTERM, to its foreground programs.
    Signal {
        /// The session.
        #[command(flatten)]
        id: Id,
        /// The signal.
        signal: String,
    },
    /// Say whether a session is idle or runs something.
    Status {
        /// The session.
        #[command(flatten)]
        id: OnlyId,
    },
    /// What is on the screen, and in its history.
    #[command(subcommand)]
    Screen(ScreenCommand),
    /// Do something in the window, as its key would; `action list` lists what there is, also without a window.
    Action {
        /// The action's name, such as new_tab, or list.
        name: String,
        /// What it is given, for one that takes something: `action activate_tab 2`.
        #[arg(allow_hyphen_values = true)]
        argument: Option<String>,
    },
    /// Record sessions.
    #[command(subcommand)]
    Record(RecordCommand),
    /// The recordings that are over.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Save the picture of the display, a region or a session, and print where it is.
    Screenshot {
        /// Of a session.
        #[arg(long)]
        id: Option<u64>,
        /// Of a region that the person drags out, where there is a window.
        #[arg(long, conflicts_with = "id")]
        region: bool,
        /// Leave the window where it is, as always: a picture of the display shows it.
        #[arg(long)]
        include_window: bool,
        /// Into this file.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Pictures, and the clipboard.
    #[command(subcommand)]
    Capture(CaptureCommand),
    /// Saved layouts.
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// The proxy that programs are told of.
    #[command(subcommand)]
    Proxy(ProxyCommand),
    /// Several sessions at once.
    #[command(subcommand)]
    Orchestrate(OrchestrateCommand),
    /// Rules on what may be entered.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Tokens for agents: what an agent may do that brings one.
    #[command(subcommand)]
    Token(TokenCommand),
    /// What callers have done, newest first.
    Audit {
        /// Only in this session.
        #[arg(long)]
        id: Option<u64>,
        /// How many entries to print.
        #[arg(long, default_value_t = 50)]
        limit: u64,
    },
    /// Ask an instance for what it can do; fails if something is wrong.
    Selftest {
        /// A session to look at too.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Print what happens, a line each, until it is stopped.
    Watch {
        /// Only in this session.
        #[arg(long)]
        id: Option<u64>,
        /// Only events of this kind; may be given several times. Without it all but output.
        #[arg(long = "event", value_name = "KIND")]
        events: Vec<String>,
        /// End after so many.
        #[arg(long)]
        count: Option<u64>,
    },
    /// The running instances of Unterm.
    #[command(subcommand)]
    Instance(InstanceCommand),
    /// Name and version of the server.
    Info,
    /// Whether the server works, with ports and sizes.
    Health,
    /// Every method there is.
    Capabilities,
    /// Version, platform and host name.
    System,
    /// Call any method, its parameters as options; `method METHOD --help` tells of them.
    Method,
    /// Print a script that completes this program's commands in a shell.
    ShellCompletion {
        /// The shell.
        #[arg(long, value_enum)]
        shell: Shell,
    },
    /// Print this manual as a page for man, or write one for each command.
    Man {
        /// Into this folder, such as ~/.local/share/man/man1.
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Call any method.
    Call {
        /// The method, such as session.list.
        method: String,
        /// Its parameters as a JSON object.
        params: Option<String>,
    },
}

/// The settings page.
#[derive(Subcommand)]
pub enum SettingsCommand {
    /// Open it in the browser.
    Open {
        /// Print its address, which opens it once within a minute, and open nothing.
        #[arg(long)]
        print_only: bool,
    },
}

/// What to ask of instances.
#[derive(Subcommand)]
pub enum InstanceCommand {
    /// List the instances that run.
    List,
    /// The instance that answers, with its token.
    Info,
    /// Give it a title of its own; without one it gets its usual title back.
    SetTitle {
        /// The title.
        title: Option<String>,
    },
    /// Bring its window to the front.
    Focus,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::Value;

    use super::*;
    use crate::session::Named;

    fn parse(line: &str) -> Args {
        Args::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn the_definitions_are_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_may_stand_before_and_behind_a_command() {
        for line in [
            "unterm-cli --json run --id 3 --timeout 0.5 echo hi",
            "unterm-cli run echo hi --timeout 0.5 --id 3 --json",
            "unterm-cli run --timeout 0.5 --json --id 3 -- echo hi",
        ] {
            let args = parse(line);
            assert!(args.json, "{line}");
            let Command::Run { id, timeout, command } = args.command else { panic!("{line}") };
            assert_eq!((id.id, timeout, command.join(" ").as_str()), (Some(3), 0.5, "echo hi"));
        }
        let Command::Exec { command, .. } = parse("unterm-cli exec -- ls -la").command else {
            panic!("another command")
        };
        assert_eq!(command, ["ls", "-la"]);
    }

    #[test]
    fn a_language_is_one_of_ours() {
        assert_eq!(parse("unterm-cli --lang de lang current").lang.as_deref(), Some("de-DE"));
        assert_eq!(parse("unterm-cli proxy status --lang zh_TW").lang.as_deref(), Some("zh-TW"));
        let error = Args::try_parse_from(["unterm-cli", "--lang", "tlh", "lang", "list"]);
        assert!(error.err().unwrap().to_string().contains("de-DE, fr-FR"));
    }

    #[test]
    fn a_program_takes_what_follows_it() {
        let args = parse("unterm-cli session create --cols 80 --env A=b=c sh -c --rows");
        let Command::Session(SessionCommand::Create { cols, env, program, .. }) = args.command
        else {
            panic!("another command")
        };
        assert_eq!((cols, program.len()), (Some(80), 3));
        assert_eq!(env, [("A".to_owned(), Value::from("b=c"))]);
        assert!(Args::try_parse_from(["unterm-cli", "session", "create", "--env", "A"]).is_err());
    }

    #[test]
    fn a_session_is_named_either_way_and_not_both() {
        for line in ["unterm-cli session destroy 4", "unterm-cli session destroy --id 4"] {
            let Command::Session(SessionCommand::Destroy { id }) = parse(line).command else {
                panic!("another command")
            };
            assert_eq!(id.given(), Some(4));
        }
        let both = ["unterm-cli", "screen", "text", "4", "--id", "5"];
        assert!(Args::try_parse_from(both).is_err());
    }
}
