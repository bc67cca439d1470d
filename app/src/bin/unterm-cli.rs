//! The command line: one command for each method of a running instance, for people and scripts.
//!
//! Parses, calls, prints. Owns no behaviour of its own: what a command does is what its method does.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

#[path = "../cli/areas.rs"]
mod areas;
#[path = "../cli/args.rs"]
mod args;
#[path = "../cli/generated.rs"]
mod generated;
#[path = "../cli/local.rs"]
mod local;
#[path = "../cli/mcp_config.rs"]
mod mcp_config;
#[path = "../cli/relay/mod.rs"]
mod relay;
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
use unterm_control::client::{self, Client};

use args::{Args, Command, InstanceCommand, McpCommand, SettingsCommand};
use session::Named;

fn main() -> ExitCode {
    let (args, method) = match parse() {
        Ok(parsed) => parsed,
        // Help and the version are no errors; every error's code is 1.
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

/// Prints a line to standard error. `eprintln!` panics where that takes nothing, as on a full disk.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A method of the table, with its parameters.
type Called = Option<(&'static str, Value)>;

/// The command line. Methods are commands too, where somebody asks for one: to make them takes a while.
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
    let whole = || generated::with_methods(Args::command());
    let printed = match &args.command {
        Command::Config(command) => Some(local::config(command, &home)?),
        Command::Theme(command) => Some(local::theme(command, &home)?),
        Command::Lang(command) => Some(local::language(command, &home, args.lang.as_deref())?),
        Command::Ssh { args } => return ssh::run(&home, args),
        Command::Mcp { toolset, command: None } => {
            relay::relay(&home, args.instance.as_deref(), toolset.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Mcp { toolset, command: Some(McpCommand::Config { client, write }) } => {
            let instance = args.instance.as_deref();
            Some(mcp_config::config(*client, instance, toolset.as_deref(), *write)?)
        }
        Command::Mcp { command: Some(McpCommand::Tty), .. } => {
            let path = tty::path(&home)?;
            let reply = if args.json { json!({ "tty": path }).to_string() } else { path };
            Some(reply + "\n")
        }
        Command::ShellCompletion { shell } => {
            Some(String::from_utf8(generated::completions(*shell, &mut whole()))?)
        }
        Command::Man { out: None } => Some(String::from_utf8(generated::manual(whole())?)?),
        Command::Man { out: Some(folder) } => {
            generated::manuals(whole(), folder)?;
            Some(String::new())
        }
        _ => None,
    };
    if let Some(text) = printed {
        write_out(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut client = match &args.instance {
        Some(name) => Client::connect_to(&client::find_by_name(&home, name)?)?,
        None => Client::connect(&home)?,
    };
    if let Command::Watch { id, events, count } = &args.command {
        let watch = watch::Watch { events, session: *id, count: *count, json: args.json };
        watch::run(&mut client, &watch)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (method, params) = match method {
        Some(called) => called,
        None => request(&args.command, &mut client)?,
    };
    let mut result = client.call(method, params)?;
    if let Command::Screenshot { output: Some(output), .. } = &args.command {
        let path = result["image"]["path"].as_str().unwrap_or_default().to_owned();
        std::fs::copy(&path, output).with_context(|| output.display().to_string())?;
        result["image"]["path"] = output.to_string_lossy().into();
    }
    if let Command::Settings(SettingsCommand::Open { print_only: false }) = &args.command {
        let file = result["file"].as_str().unwrap_or_default();
        unterm::open_settings(Path::new(file)).map_err(anyhow::Error::msg)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match (args.json, show::text(method, &result)) {
        (false, Some(text)) => text,
        _ => serde_json::to_string_pretty(&result)? + "\n",
    };
    write_out(&text)?;
    if result["timed_out"] == true {
        complain("the command still runs");
    }
    if result["done"] == false {
        complain("there was nothing to do");
    }
    Ok(if has_failed(&args.command, &result) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints; a closed pipe (`| head`) is no failure of ours.
fn write_out(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether a command that was run did not end well, so that scripts can tell as they do for one of their own.
fn has_failed(command: &Command, result: &Value) -> bool {
    let is_nothing = matches!(command, Command::Action { .. }) && result["done"] == false;
    let is_wrong = match command {
        Command::Selftest { .. } => result["ok"] == false,
        Command::Policy(areas::PolicyCommand::Check { .. }) => result["allowed"] == false,
        Command::Token(areas::TokenCommand::Revoke { .. }) => result["revoked"] == false,
        Command::Orchestrate(areas::OrchestrateCommand::Wait { .. }) => result["matched"] == false,
        _ => false,
    };
    is_nothing
        || is_wrong
        || matches!(command, Command::Run { .. })
            && (result["timed_out"] == true
                || result["interrupted"] == true
                || result["exit_code"].as_i64().unwrap_or(0) != 0)
}

/// The method and the parameters a command stands for.
fn request<'a>(command: &'a Command, client: &mut Client) -> Result<(&'a str, Value)> {
    use InstanceCommand as I;

    // The session that is meant when none is named: the only one.
    let mut session = |id: &dyn Named| match id.given() {
        Some(id) => Ok(id),
        None => only_session(client),
    };
    Ok(match command {
        // Done before anything is asked of an instance.
        Command::Config(_)
        | Command::Theme(_)
        | Command::Lang(_)
        | Command::Ssh { .. }
        | Command::Mcp { .. }
        | Command::Method
        | Command::ShellCompletion { .. }
        | Command::Man { .. }
        | Command::Watch { .. } => bail!("this is done elsewhere"),
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
                bail!("--timeout: {timeout} is no number of seconds");
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
            // As other options are written, too.
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
                Some(params) => serde_json::from_str(params).context("PARAMS is no JSON")?,
                None => json!({}),
            };
            (method, params)
        }
    })
}

/// Fails for the session this program itself runs in: its shell is busy until this program ends.
fn refuse_own_session(id: u64, client: &mut Client) -> Result<()> {
    let own = |name| std::env::var(name).unwrap_or_default();
    if own("UNTERM_PANE") != id.to_string() {
        return Ok(());
    }
    if client.call("instance.info", json!({}))?["id"] == own("UNTERM_INSTANCE").as_str() {
        bail!(
            "session {id} is the one this runs in; open another with `unterm-cli session create`"
        );
    }
    Ok(())
}

/// Fails for sessions that are not there. One of them may be opened later, by anybody and for anything: nobody knows now
/// what a token for it would be for.
fn refuse_missing_sessions(ids: &[u64], client: &mut Client) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let list = client.call("session.list", json!({}))?;
    let all = list["sessions"].as_array().into_iter().flatten();
    let there: Vec<_> = all.filter_map(|session| session["id"].as_u64()).collect();
    let Some(missing) = ids.iter().find(|id| !there.contains(id)) else { return Ok(()) };
    let there = match there.as_slice() {
        [] => "there is none".to_owned(),
        there => {
            let ids: Vec<_> = there.iter().map(u64::to_string).collect();
            format!("there are: {}", ids.join(", "))
        }
    };
    bail!("there is no session {missing} for the token; open it first ({there})")
}

fn only_session(client: &mut Client) -> Result<u64> {
    let list = client.call("session.list", json!({}))?;
    let all: Vec<_> = list["sessions"].as_array().into_iter().flatten().collect();
    let live: Vec<_> = all.iter().copied().filter(|session| session["is_dead"] == false).collect();
    // One that has ended is meant only where nothing else can be.
    match if live.len() == 1 { &live } else { &all }.as_slice() {
        [session] => session["id"].as_u64().context("the session has no number"),
        [] => bail!("there is no session; open one with `unterm-cli session create`"),
        sessions => {
            let ids: Vec<_> = sessions.iter().map(|session| session["id"].to_string()).collect();
            bail!("there are several sessions; say which with --id: {}", ids.join(", "))
        }
    }
}
