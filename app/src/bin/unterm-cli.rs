//! The command line of a running instance, for people and scripts.
//!
//! Parses a command, calls its method and prints the result.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

#[path = "../cli/areas.rs"]
mod areas;
#[path = "../cli/args.rs"]
mod args;
#[path = "../cli/complete.rs"]
mod complete;
#[path = "../cli/fields.rs"]
mod fields;
#[path = "../cli/generated.rs"]
mod generated;
#[path = "../cli/local.rs"]
mod local;
#[path = "../cli/mcp_config.rs"]
mod mcp_config;
#[path = "../cli/own_pane.rs"]
mod own_pane;
#[path = "../cli/relay/mod.rs"]
mod relay;
#[path = "../cli/report.rs"]
mod report;
#[path = "../cli/session.rs"]
mod session;
#[path = "../cli/show.rs"]
mod show;
#[path = "../cli/ssh.rs"]
mod ssh;
#[path = "../cli/tty.rs"]
mod tty;
#[path = "../cli/watch.rs"]
mod watch;

use std::{io::Write, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::{CommandFactory, FromArgMatches};
use serde_json::{Value, json};
use unterm_control::client::{self, Client, ClientError};

use args::{Args, Command, InstanceCommand, McpCommand, SettingsCommand};
use own_pane::OwnPane;
use report::Report;
use session::Named;

fn main() -> ExitCode {
    let (args, method) = match parse() {
        Ok(parsed) => parsed,
        // Help and the version succeed. Every error exits with status 1.
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    match run(&args, method) {
        Ok(code) => code,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints a line to standard error. `eprintln!` panics if that fails, as on a full disk.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A method of the table, with its parameters.
type Called = Option<(&'static str, Value)>;

/// Parses the command line. Methods become commands only where one is used, since that takes a while.
fn parse() -> Result<(Args, Called), clap::Error> {
    let mut command = Args::command();
    if std::env::args_os().any(|arg| arg == generated::METHOD) {
        command = generated::with_methods(command);
    }
    let matches = command.try_get_matches()?;
    let args = Args::from_arg_matches(&matches)?;
    Ok((args, generated::request(&matches)))
}

fn run(args: &Args, method: Called) -> Result<ExitCode> {
    let home = unterm_control::home();
    match &args.command {
        Command::Ssh { args } => return ssh::run(&home, args),
        Command::Mcp { toolset, command: None } => {
            relay::relay(&home, args.instance.as_deref(), toolset.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    if let Some(report) = local(args, &home)? {
        return print(args, &report);
    }
    let client = match connect(args, &home) {
        // An empty list is a list.
        Err(error) if is_list(args, &method) && is_not_running(&error) => {
            let none = json!({"instances": []});
            return print(args, &Report::new(show::text("instance.list", &none), none));
        }
        connected => connected?,
    };
    if let Command::Watch { id, events, count } = &args.command {
        let watch = watch::Watch { events, session: *id, count: *count, json: args.json };
        watch::run(&client, &watch)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (method, params) = match method {
        Some(called) => called,
        None => request(&args.command, &client)?,
    };
    let mut result = client.call_by_name(method, params)?;
    if let Command::Screenshot { output: Some(output), .. } = &args.command {
        let path = result["image"]["path"].as_str().unwrap_or_default().to_owned();
        std::fs::copy(&path, output).with_context(|| output.display().to_string())?;
        result["image"]["path"] = output.to_string_lossy().into();
    }
    if let Command::Settings(SettingsCommand::Open { print_only: false }) = &args.command {
        let file = result["file"].as_str().unwrap_or_default();
        unterm::open_settings(Path::new(file)).map_err(anyhow::Error::msg)?;
        // The address has been used by now.
        return print(args, &Report::new(String::new(), json!({"opened": true})));
    }
    let complaint = show::complaint(method, &result);
    let text = show::text(method, &result);
    let code = print(args, &Report::new(text, result))?;
    match complaint {
        None => Ok(code),
        Some(why) => {
            if !why.is_empty() {
                complain(&why);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Runs a command that needs no running instance; `None` for other commands.
fn local(args: &Args, home: &Path) -> Result<Option<Report>> {
    let whole = || generated::with_methods(Args::command());
    let instance = args.instance.as_deref();
    let report = match &args.command {
        Command::Config(command) => local::config(command, home)?,
        Command::Theme(command) => local::theme(command, home)?,
        Command::Lang(command) => local::language(command, home, args.lang.as_deref())?,
        Command::Mcp { toolset, command: Some(McpCommand::Config { client, write }) } => {
            mcp_config::config(*client, instance, toolset.as_deref(), *write)?
        }
        Command::Mcp { command: Some(McpCommand::Tty), .. } => {
            let path = tty::path(home)?;
            Report::new(format!("{path}\n"), json!({ "tty": path }))
        }
        Command::ShellCompletion { shell } => {
            Report::of_text("script", generated::completions(*shell, Args::command())?)
        }
        Command::Complete { shell, words } => {
            let candidates = complete::candidates(Args::command(), words, home);
            Report::of_text("candidates", complete::lines(*shell, &candidates))
        }
        Command::Man { out: None } => {
            Report::of_text("page", String::from_utf8(generated::manual(whole())?)?)
        }
        Command::Man { out: Some(folder) } => {
            generated::manuals(whole(), folder)?;
            Report::new(String::new(), json!({ "folder": folder }))
        }
        _ => return Ok(None),
    };
    Ok(Some(report))
}

/// Connects to the named instance, else to the one whose pane this program runs in, else to the active one.
fn connect(args: &Args, home: &Path) -> Result<Client, ClientError> {
    if let Some(name) = &args.instance {
        return Client::connect_to(&client::find_by_name(home, name)?);
    }
    let own = OwnPane::of_environment();
    // A program can outlive the instance that started it.
    match own.map(|own| client::find_by_name(home, &own.instance)) {
        Some(Ok(endpoint)) => Client::connect_to(&endpoint),
        _ => Client::connect(home),
    }
}

/// Whether the command asks for the list of instances.
fn is_list(args: &Args, method: &Called) -> bool {
    let is_called = |name: &str| name == "instance.list";
    args.instance.is_none()
        && match &args.command {
            Command::Instance(InstanceCommand::List) => true,
            Command::Call { method, .. } => is_called(method),
            _ => method.as_ref().is_some_and(|(name, _)| is_called(name)),
        }
}

fn is_not_running(error: &ClientError) -> bool {
    matches!(error, ClientError::NotRunning { .. })
}

/// Prints a report as text or, if asked, as JSON.
fn print(args: &Args, report: &Report) -> Result<ExitCode> {
    if args.json {
        write_out(&(serde_json::to_string_pretty(&report.json)? + "\n"))?;
    } else if report.is_failure {
        complain(report.text.trim_end());
    } else {
        write_out(&report.text)?;
    }
    Ok(if report.is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints. A closed pipe, as of `| head`, is not an error.
fn write_out(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The method that a command calls, and its parameters.
fn request<'a>(command: &'a Command, client: &Client) -> Result<(&'a str, Value)> {
    use InstanceCommand as I;

    let mut session = |id: &dyn Named| match id.given() {
        Some(id) => Ok(id),
        None => default_session(client),
    };
    Ok(match command {
        // Done without an instance, or before.
        Command::Config(_)
        | Command::Theme(_)
        | Command::Lang(_)
        | Command::Ssh { .. }
        | Command::Mcp { .. }
        | Command::Method
        | Command::ShellCompletion { .. }
        | Command::Complete { .. }
        | Command::Man { .. }
        | Command::Watch { .. } => bail!("this command has no method"),
        Command::Record(command) => command.request(&mut session)?,
        Command::Sessions(command) => command.request(),
        Command::Screenshot { id: Some(id), .. } => {
            ("capture.window", json!({"title": id.to_string()}))
        }
        Command::Screenshot { region: true, .. } => {
            ("capture.select", json!({"interactive": true}))
        }
        Command::Screenshot { .. } => ("capture.screen", json!({})),
        Command::Capture(command) => command.request(),
        Command::Workspace(command) => command.request(),
        Command::Proxy(command) => command.request(),
        Command::Orchestrate(command) => command.request(&mut session)?,
        Command::Policy(command) => command.request(),
        Command::Token(command) => {
            if let areas::TokenCommand::Create { panes, .. } = command {
                refuse_missing_sessions(panes, client)?;
            }
            command.request()
        }
        Command::Audit { id, limit } => {
            let id = id.map(|id| id.to_string());
            ("session.audit_log", json!({"session_id": id, "limit": limit}))
        }
        Command::Selftest { id } => {
            ("selftest.run", json!({"session_id": id.given().map(|id| id.to_string())}))
        }
        Command::Settings(SettingsCommand::Open { print_only }) => {
            ("settings.open", json!({"redirect": !print_only}))
        }
        Command::Session(command) => command.request(&mut session)?,
        Command::Exec { id, command } => {
            ("exec.run", json!({"id": session(id)?, "command": command.join(" ")}))
        }
        Command::Run { id, timeout, command } => {
            if !timeout.is_finite() || *timeout < 0.0 {
                bail!("--timeout must be a number of seconds, 0 or more, not {timeout}");
            }
            let timeout = (timeout * 1000.0) as u64;
            let command = command.join(" ");
            let id = session(id)?;
            refuse_own_session(id, client)?;
            ("exec.run_wait", json!({"id": id, "command": command, "timeout_ms": timeout}))
        }
        Command::Send { id, enter, input } => {
            let mut input = input.join(" ");
            if *enter {
                input.push('\r');
            }
            ("session.input", json!({"id": session(id)?, "input": input}))
        }
        Command::Cancel { id } => ("exec.cancel", json!({"id": session(id)?})),
        Command::Signal { id, signal } => {
            let name = signal.to_ascii_uppercase();
            let has_key = ["INT", "TSTP", "QUIT", "EOF"].contains(&name.trim_start_matches("SIG"));
            let method = if has_key { "signal.send" } else { "session.signal" };
            (method, json!({"id": session(id)?, "signal": signal}))
        }
        Command::Status { id } => ("exec.status", json!({"id": session(id)?})),
        Command::Screen(command) => command.request(&mut session)?,
        Command::Action { name, argument: None } if name == "list" => ("action.list", json!({})),
        Command::Action { name, argument } => {
            // `new-tab` is written like an option.
            let name = name.replace('-', "_");
            ("action.run", json!({"name": name, "argument": argument}))
        }
        Command::Instance(I::List) => ("instance.list", json!({})),
        Command::Instance(I::Info) => ("instance.info", json!({})),
        Command::Instance(I::SetTitle { title }) => ("instance.set_title", json!({"title": title})),
        Command::Instance(I::Focus) => ("instance.focus", json!({})),
        Command::Info => ("server.info", json!({})),
        Command::Health => ("server.health", json!({})),
        Command::Capabilities => ("server.capabilities", json!({})),
        Command::System => ("system.info", json!({})),
        Command::Call { method, params } => {
            let params = match params {
                Some(params) => serde_json::from_str(params).context("PARAMS is not valid JSON")?,
                None => json!({}),
            };
            (method, params)
        }
    })
}

/// Fails for the session that this program runs in, whose shell is busy until this program ends.
fn refuse_own_session(id: u64, client: &Client) -> Result<()> {
    let Some(own) = OwnPane::of_environment().filter(|own| own.session == id) else {
        return Ok(());
    };
    if own.is_of(&client.call_by_name("instance.info", json!({}))?) {
        bail!(
            "session {id} is the pane that this command runs in, and its shell waits for this command to end; \
             name another session with --id, or open one with `unterm-cli session create`"
        );
    }
    Ok(())
}

/// Fails for sessions that don't exist: such a number may later belong to a session that the token was not meant for.
fn refuse_missing_sessions(ids: &[u64], client: &Client) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let list = client.call_by_name("session.list", json!({}))?;
    let all = list["sessions"].as_array().into_iter().flatten();
    let there: Vec<_> = all.filter_map(|session| session["id"].as_u64()).collect();
    let Some(missing) = ids.iter().find(|id| !there.contains(id)) else { return Ok(()) };
    let there = match there.as_slice() {
        [] => "no session is open".to_owned(),
        there => {
            let ids: Vec<_> = there.iter().map(u64::to_string).collect();
            format!("open sessions: {}", ids.join(", "))
        }
    };
    bail!("session {missing} does not exist; open it before you create a token for it ({there})")
}

/// The session to use if none is named: the pane that this program runs in, else the only one.
fn default_session(client: &Client) -> Result<u64> {
    let list = client.call_by_name("session.list", json!({}))?;
    let all: Vec<_> = list["sessions"].as_array().into_iter().flatten().collect();
    if let Some(own) = OwnPane::of_environment()
        && all.iter().any(|session| session["id"] == own.session)
        && own.is_of(&client.call_by_name("instance.info", json!({}))?)
    {
        return Ok(own.session);
    }
    let live: Vec<_> = all.iter().copied().filter(|session| session["is_dead"] == false).collect();
    // A session whose program has ended is used only if there is no other.
    match if live.len() == 1 { &live } else { &all }.as_slice() {
        [session] => session["id"].as_u64().context("the session has no number"),
        [] => bail!("no session is open; open one with `unterm-cli session create`"),
        sessions => {
            let ids: Vec<_> = sessions.iter().map(|session| session["id"].to_string()).collect();
            bail!("several sessions are open; name one with --id: {}", ids.join(", "))
        }
    }
}
