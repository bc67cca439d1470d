//! The commands and options of `unterm-cli`.

use std::path::PathBuf;

use crate::import::Terminal;
use clap::{ArgMatches, FromArgMatches, Parser, Subcommand};
use unterm_control::languages;

use crate::cli::{
    agent::AgentCommand,
    generated::Shell,
    hooks::HooksCommand,
    inbox::InboxCommand,
    local::{ConfigCommand, LangCommand, ThemeCommand},
    mcp_config::Client,
    ptywright::PtywrightCommand,
    resource_commands::{
        CaptureCommand, OrchestrateCommand, PolicyCommand, ProxyCommand, RecordCommand,
        SessionsCommand, TokenCommand, WorkspaceCommand,
    },
    search::SearchCommand,
    session::{ScreenCommand, SessionCommand},
    team::TeamArgs,
    transfer::TransferCommand,
    words::{Id, OnlyId},
};

/// Control a running Unterm.
#[derive(Parser)]
#[command(name = "unterm-cli", version, disable_help_subcommand = true)]
pub struct Args {
    /// Print results as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// Instance to use, by id (such as alpha) or title [default: the one that this pane belongs to, else the active one].
    #[arg(long, global = true, value_name = "NAME")]
    pub instance: Option<String>,
    /// Language for `lang list` and `lang current`, such as de-DE or de.
    ///
    /// Other commands accept this option, but ignore it: their output is in English.
    #[arg(long, global = true, value_name = "CODE", value_parser = language)]
    pub lang: Option<String>,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

impl Args {
    /// Builds the arguments of this program when it was called by a link named `ptywright`.
    pub fn of_ptywright(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            json: matches.get_flag("json"),
            instance: matches.get_one("instance").cloned(),
            lang: matches.get_one("lang").cloned(),
            command: Command::Ptywright(PtywrightCommand::from_arg_matches(matches)?),
        })
    }
}

/// Parses the code of a language, such as `de`. Returns the full code, such as `de-DE`.
fn language(code: &str) -> Result<String, String> {
    let codes = || languages::all().map(|(code, _)| code).collect::<Vec<_>>().join(", ");
    let found = languages::find(code).map(str::to_owned);
    found.ok_or_else(|| format!("unknown language; available: {}", codes()))
}

/// Commands about agents' programs.
#[derive(Subcommand)]
pub enum McpCommand {
    /// Print or write the configuration entry that lets an agent's program start this MCP server.
    Config {
        /// Program to configure.
        #[arg(value_enum)]
        client: Client,
        /// Merge the entry into the program's own file, and keep a backup of the file.
        #[arg(long)]
        write: bool,
    },
    /// Print the path of the current terminal, such as /dev/pts/3, for an agent's session-start hook.
    Tty,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Print a page of the manual, or the options of a command.
    ///
    /// Without a topic, lists the pages.
    Help {
        /// Topic, such as scripting, or a command, such as session create.
        topic: Vec<String>,
    },
    /// Check and locate the configuration file.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List, set and import themes.
    #[command(subcommand)]
    Theme(ThemeCommand),
    /// Convert another terminal's configuration into Unterm's, and list the settings that were left out.
    ///
    /// Prints the result. With `--write`, adds it to config.toml. Reads files only: runs no program and no Lua.
    Import {
        /// Terminal to import from.
        #[arg(value_enum)]
        terminal: Terminal,
        /// File to convert [default: the terminal's usual file].
        file: Option<PathBuf>,
        /// Add the settings that config.toml does not have, and keep a backup of it.
        #[arg(long)]
        write: bool,
    },
    /// Choose the language of the settings page.
    #[command(subcommand)]
    Lang(LangCommand),
    /// Log in with ssh, with shell integration on the remote host.
    ///
    /// With a remote command, runs plain ssh.
    Ssh {
        /// Install Unterm's terminfo entry on the remote host with its `tic`, and set TERM to unterm there.
        #[arg(long)]
        terminfo: bool,
        /// Options, host and command for ssh.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Copy files over the terminal, between this machine and the terminal's.
    ///
    /// For remote hosts: needs no other login, and works in each terminal with kitty's file transfer protocol (OSC 5113).
    #[command(subcommand)]
    Transfer(TransferCommand),
    /// Run a command of tmux on the panes of this Unterm, for programs that speak tmux.
    ///
    /// `unterm-cli tmux list-commands` lists the commands. `unterm-cli help tmux` describes sessions, windows and panes.
    #[command(disable_help_flag = true)]
    Tmux {
        /// Flags and command, as for tmux.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Start a program that finds this tmux first on its PATH.
    ///
    /// In a pane, also sets TMUX and TMUX_PANE, so that the program behaves as inside tmux.
    TmuxShim {
        /// Program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Serve a pipe of `tmux pipe-pane`, until the pane or the pipe's command ends.
    #[command(hide = true)]
    TmuxPipe {
        /// The pipe's ticket.
        ticket: String,
    },
    /// Connect this machine to a fleet's hub, and offer its panes there.
    ///
    /// Runs unterm-connect with these arguments. `unterm-cli connect --help` lists them.
    #[command(disable_help_flag = true)]
    Connect {
        /// The hub's invitation, needed only the first time, and options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run an MCP server (Model Context Protocol) on stdin and stdout, for agents.
    ///
    /// Connects to a running instance, or starts one.
    Mcp {
        /// Tools to offer: unterm, small (fewer words), iterm or tester [default: unterm].
        #[arg(long, global = true, value_name = "NAME")]
        toolset: Option<String>,
        /// Another command.
        #[command(subcommand)]
        command: Option<McpCommand>,
    },
    /// Drive programs with the ptywright protocol.
    ///
    /// A link named `ptywright` to this program takes the same arguments, without the word `ptywright`.
    #[command(subcommand)]
    Ptywright(PtywrightCommand),
    /// Show the tour of the window again.
    Tour,
    /// Open the settings page of a running instance.
    #[command(subcommand)]
    Settings(SettingsCommand),
    /// Manage panes.
    #[command(subcommand)]
    Session(SessionCommand),
    /// Type a command and press Enter, without waiting.
    Exec {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Command for the pane's shell; after `--` it can have options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Run a command, wait until it ends and print its output.
    ///
    /// Refuses if a program other than a shell would read the command. Exits with status 1 if the command fails or
    /// takes too long.
    Run {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Seconds to wait. The command keeps running afterwards.
        #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
        timeout: f64,
        /// Type the command even if a program runs. The shell runs it after the program has ended, unless the program reads it.
        #[arg(long)]
        type_ahead: bool,
        /// Command for the pane's shell; after `--` it can have options.
        #[arg(required = true)]
        command: Vec<String>,
    },
    /// Type text.
    Send {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Press Enter after the text.
        #[arg(long)]
        enter: bool,
        /// Text to type; after `--` it can start with a dash.
        #[arg(required = true)]
        input: Vec<String>,
    },
    /// Press Ctrl+C.
    Cancel {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Send a signal to the programs in the foreground.
    ///
    /// SIGINT, SIGTSTP, SIGQUIT and EOF are typed as control characters. Other signals, such as SIGTERM, are sent.
    Signal {
        /// The pane.
        #[command(flatten)]
        id: Id,
        /// Signal, such as SIGINT, EOF or TERM.
        signal: String,
    },
    /// Show whether a pane is idle or running a program.
    Status {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Show what the program in a pane is doing, and why: each source with its rule and its text.
    Explain {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
        /// Also save the pane's screen and title as a replay for `agent check`.
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
    /// List what needs you in all running instances, newest first.
    Inbox {
        /// Print each new entry as it appears, one per line.
        #[arg(long)]
        watch: bool,
        /// Also list entries that were dismissed or snoozed.
        #[arg(long, conflicts_with = "watch")]
        all: bool,
        /// Another command.
        #[command(subcommand)]
        command: Option<InboxCommand>,
    },
    /// Find a text in the panes of all running instances, with the command that printed it, newest first.
    Search(SearchCommand),
    /// Open several panes in one tiled tab that run the same command, such as agents on the same task.
    ///
    /// `unterm-cli team 3 --worktrees -- claude` gives each its own git worktree. In each pane, PORT and UNTERM_PORTS
    /// name ports of its own.
    Team(TeamArgs),
    /// Report what a program is doing, for hooks and scripts.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Start an agent with hooks that report what it is doing.
    #[command(subcommand)]
    Hooks(HooksCommand),
    /// Read the screen and the scrollback.
    #[command(subcommand)]
    Screen(ScreenCommand),
    /// Run an action of the window, as its key does.
    ///
    /// `action list` lists all actions with their keys.
    Action {
        /// Action, such as new_tab, or `list`.
        name: String,
        /// Argument of the action: `action activate_tab 2`.
        #[arg(allow_hyphen_values = true)]
        argument: Option<String>,
    },
    /// Compare a pane's terminal with the terminal that another instance would show after a crash. Exits with status 1
    /// if they differ.
    VerifyHandover {
        /// The pane.
        #[command(flatten)]
        id: OnlyId,
    },
    /// Close an instance's window and let its programs continue.
    ///
    /// `attach` shows them again. Needs the option sessions.keep, and Linux.
    Detach,
    /// Replace an instance by the program that is installed now, and let its programs continue.
    ///
    /// The instance keeps its name, its ports and its tokens. Needs the option sessions.keep, and Linux.
    Restart,
    /// Open a window with the programs that continue without one.
    Attach {
        /// Show only the programs of this instance, which has ended.
        instance: Option<String>,
        /// Open no window.
        #[arg(long)]
        headless: bool,
    },
    /// Record panes.
    #[command(subcommand)]
    Record(RecordCommand),
    /// List and print finished recordings.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Take a screenshot of the display, a region or a pane, and print the file's path.
    Screenshot {
        /// Capture this pane.
        #[arg(long)]
        id: Option<u64>,
        /// Let the user select a region, if there is a window.
        #[arg(long, conflicts_with = "id")]
        region: bool,
        /// Accepted for compatibility: pictures of the display always include the window.
        #[arg(long)]
        include_window: bool,
        /// File to write.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take pictures, and read the clipboard.
    #[command(subcommand)]
    Capture(CaptureCommand),
    /// Save and restore layouts.
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Manage the proxy for programs in new panes.
    #[command(subcommand)]
    Proxy(ProxyCommand),
    /// Drive several panes at once.
    #[command(subcommand)]
    Orchestrate(OrchestrateCommand),
    /// Manage the rules for what agents may type.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Manage the tokens of agents.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print what callers did, newest first.
    Audit {
        /// Only entries of this pane.
        #[arg(long)]
        id: Option<u64>,
        /// Number of entries to print.
        #[arg(long, default_value_t = 50)]
        limit: u64,
    },
    /// Check that an instance works. Exits with status 1 if a check fails.
    ///
    /// Checks a pane only if you specify one.
    Selftest {
        /// Pane to check.
        #[arg(long)]
        id: Option<u64>,
        /// Another way to write --id.
        #[arg(value_name = "SESSION", conflicts_with = "id")]
        session: Option<u64>,
    },
    /// Print events as they happen, one per line.
    Watch {
        /// Only events of this pane.
        #[arg(long)]
        id: Option<u64>,
        /// Only events of this kind; repeatable [default: all but output].
        #[arg(long = "event", value_name = "KIND")]
        events: Vec<String>,
        /// Print the state of each pane's program, and then each change, instead of events.
        #[arg(long, conflicts_with = "events")]
        states: bool,
        /// Stop after this many lines.
        #[arg(long)]
        count: Option<u64>,
    },
    /// List, name and focus running instances.
    #[command(subcommand)]
    Instance(InstanceCommand),
    /// Show the name and version of the server.
    Info,
    /// Show the state of the server, with its ports and sizes.
    Health,
    /// List all methods.
    Capabilities,
    /// Show version, platform and host name.
    System,
    /// Call a method, with its parameters as options.
    ///
    /// `method METHOD --help` describes a method's parameters.
    Method,
    /// Print a completion script for a shell.
    ///
    /// In ~/.bashrc: `source <(unterm-cli shell-completion bash)`
    ///
    /// In ~/.zshrc, after compinit: `source <(unterm-cli shell-completion zsh)`
    ///
    /// In ~/.config/fish/config.fish: `unterm-cli shell-completion fish | source`
    ShellCompletion {
        /// Shell to complete in.
        #[arg(value_enum, value_name = "SHELL", required_unless_present = "named_shell")]
        shell: Option<Shell>,
        /// Shell to complete in, as other programs name it.
        #[arg(long = "shell", value_enum, value_name = "SHELL", conflicts_with = "shell")]
        named_shell: Option<Shell>,
    },
    /// Print Unterm's terminfo entry. To install it: `unterm-cli terminfo | tic -x -`
    Terminfo,
    /// Print what can follow on a command line, for the completion scripts.
    #[command(hide = true)]
    Complete {
        /// Shell that asks.
        #[arg(long, value_enum)]
        shell: Shell,
        /// Words of the line after the program's name. The last word is to be completed.
        #[arg(last = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Print the manual page, or write a page for each command.
    Man {
        /// Folder to write pages to, such as ~/.local/share/man/man1.
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Call a method, with its parameters as JSON.
    Call {
        /// Method, such as session.list.
        method: String,
        /// Parameters as a JSON object.
        params: Option<String>,
    },
}

/// The settings page.
#[derive(Subcommand)]
pub enum SettingsCommand {
    /// Open the settings page in the browser.
    Open {
        /// Print the page's address instead. The address works once, and expires after a minute.
        #[arg(long)]
        print_only: bool,
    },
}

/// Commands about instances.
#[derive(Subcommand)]
pub enum InstanceCommand {
    /// List the running instances.
    List,
    /// Show an instance, with its token.
    Info,
    /// Set an instance's title.
    SetTitle {
        /// Title; without one, the usual title returns.
        title: Option<String>,
    },
    /// Bring an instance's window to the front.
    Focus,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::words::Named;

    fn parse(line: &str) -> Args {
        Args::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn the_definitions_are_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_may_precede_or_follow_a_command() {
        for line in [
            "unterm-cli --json run --id 3 --timeout 0.5 echo hi",
            "unterm-cli run echo hi --timeout 0.5 --id 3 --json",
            "unterm-cli run --timeout 0.5 --json --id 3 -- echo hi",
        ] {
            let args = parse(line);
            assert!(args.json, "{line}");
            let Command::Run { id, timeout, command, .. } = args.command else { panic!("{line}") };
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
        assert_eq!(env, [("A".to_owned(), "b=c".to_owned())]);
        assert!(Args::try_parse_from(["unterm-cli", "session", "create", "--env", "A"]).is_err());
    }

    #[test]
    fn options_after_a_host_belong_to_ssh() {
        for (line, own, of_ssh) in [
            ("unterm-cli ssh --terminfo -p 22 host", true, vec!["-p", "22", "host"]),
            ("unterm-cli ssh host --terminfo", false, vec!["host", "--terminfo"]),
        ] {
            let Command::Ssh { terminfo, args } = parse(line).command else { panic!("{line}") };
            assert_eq!((terminfo, args.iter().map(String::as_str).collect()), (own, of_ssh));
        }
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
