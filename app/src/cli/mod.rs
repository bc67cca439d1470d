//! The command line that controls a running instance, for users and scripts.
//!
//! Parses a command, calls its method and prints the result.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

mod agent;
mod args;
mod attach;
mod call;
mod complete;
mod connect;
mod ending_action;
mod error_text;
mod explain_text;
mod fields;
mod form;
mod generated;
mod hooks;
mod import;
mod inbox;
mod instances;
mod local;
mod lost_run;
pub(crate) mod manual;
mod mcp_config;
mod own_pane;
mod program_name;
mod ptywright;
mod relay;
mod replay;
mod report;
mod resource_commands;
mod restart;
mod screenshot;
mod search;
mod session;
mod show;
mod ssh;
mod team;
mod tmux;
mod transfer;
mod tty;
mod unread;
mod user_file;
mod watch;
mod watch_states;
mod words;

use std::{
    io::Write,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::{CommandFactory, FromArgMatches};
use serde_json::{Value, json};
use time::OffsetDateTime;
use unterm_control::{
    client::{self, Client, ClientError},
    did_you_mean,
    methods::{
        Method, action, audit, exec, explain, instance,
        params::{NoParams, SessionOnly},
        selftest, server, session as sessions, settings, signal, system, verify_handover,
    },
};

use crate::plain_words;
use args::{Args, Command, InstanceCommand, McpCommand, SettingsCommand};
use call::Call;
use form::ReplyText;
use own_pane::OwnPane;
use report::{Report, complain, write_out};
use screenshot::Screenshot;
use words::Named;

/// Whether this process was called by a name of the command line.
pub fn is_called() -> bool {
    program_name::is_called_as(program_name::NAME) || ptywright::is_called()
}

/// The name of the command that is most similar to a word. `None` if no name is similar.
pub fn command_like(word: &str) -> Option<String> {
    let commands = Args::command();
    let visible = commands.get_subcommands().filter(|command| !command.is_hide_set());
    let similar = visible.map(|command| {
        let name = command.get_name();
        (strsim::normalized_damerau_levenshtein(word, name), name.to_owned())
    });
    let (near, name) = similar.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (near > 0.7).then_some(name)
}

/// Runs the command line in this process.
pub fn main() -> ExitCode {
    let (args, method) = match parse() {
        Ok(parsed) => parsed,
        // Help and version exit with status 0. Every error exits with status 1.
        Err(error) => {
            if !error.use_stderr() {
                let _ = error.print();
                return ExitCode::SUCCESS;
            }
            let _ = write!(std::io::stderr(), "{}", plain_words::command_line(error));
            return match agent::is_called(std::env::args_os()) {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            };
        }
    };
    match run(&args, method) {
        Ok(code) => code,
        Err(error) => {
            complain(&error_text::error_text(&error, args.json));
            ExitCode::FAILURE
        }
    }
}

/// A method of the table and its parameters, if the command line calls a method by its name.
type Called = Option<(&'static str, Value)>;

/// Parses the command line. The commands for methods are added only if the line contains `method`, because adding them
/// takes time.
fn parse() -> Result<(Args, Called), clap::Error> {
    let mut command = Args::command();
    if let Some(link) = ptywright::is_called().then(|| ptywright::as_program(&command)).flatten() {
        let matches = link.try_get_matches_from(ptywright::words(std::env::args_os()))?;
        return Ok((Args::of_ptywright(&matches)?, None));
    }
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
        Command::Help { topic } => return help(args, topic),
        Command::Connect { args } => return connect::run(args),
        Command::Attach { instance, headless } => {
            return attach::run(instance.as_deref(), *headless);
        }
        Command::Agent(command) => return Ok(agent::run(command, &home)),
        Command::Hooks(command) => return hooks::run(command),
        Command::Inbox { watch, all, command } => {
            return run_inbox(args, &home, *watch, *all, command.as_ref());
        }
        Command::Search(command) => {
            let instance = args.instance.as_deref();
            return search::Search { home: &home, instance, json: args.json }.run(command);
        }
        Command::Ssh { terminfo, args } => return ssh::run(&home, args, *terminfo),
        Command::Tmux { args: words } => {
            return tmux::run(&home, args.instance.as_deref(), words);
        }
        Command::TmuxShim { command } => {
            return tmux::run_shim(&home, args.instance.as_deref(), command);
        }
        Command::TmuxPipe { ticket } => {
            return tmux::run_pipe(&home, args.instance.as_deref(), ticket);
        }
        Command::Mcp { toolset, command: None } => {
            relay::relay(&home, args.instance.as_deref(), toolset.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Ptywright(command) => {
            let (instance, json) = (args.instance.as_deref(), args.json);
            let globals = ptywright::Globals { home: &home, instance, json, root: Args::command };
            return ptywright::run(command, &globals);
        }
        _ => {}
    }
    if let Some(report) = local(args, &home)? {
        return print(args, &report);
    }
    let client = match connect(args, &home) {
        // If no instance is running, an empty list is a valid answer.
        Err(error) if is_list(args, &method) && is_not_running(&error) => {
            let (instances, detached) = (Vec::new(), crate::sessions::detached(&home));
            let none = serde_json::to_value(instance::ListReply { instances, detached })?;
            return finish(args, show::reply(instance::List::NAME, &none), none);
        }
        connected => connected?,
    };
    if matches!(args.command, Command::Restart) {
        return print(args, &restart::run(&home, &client)?);
    }
    if let Command::Watch { id, states: true, count, .. } = &args.command {
        let watch = watch_states::WatchStates { session: *id, count: *count, json: args.json };
        watch.run(client)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Command::Watch { id, events, count, .. } = &args.command {
        let watch = watch::Watch { events, session: *id, count: *count, json: args.json };
        watch::run(&client, &watch)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Command::Team(command) = &args.command {
        return team::Teams { home: &home, client: &client, json: args.json }.run(command);
    }
    if let Command::Settings(SettingsCommand::Open { print_only: false }) = &args.command {
        let reply =
            client.call::<settings::Open>(settings::OpenParams { redirect: true.into() })?;
        let file = reply.file.unwrap_or_default();
        crate::open_settings(&file).map_err(anyhow::Error::msg)?;
        // Do not print the address, because it works only once and the browser has already used it.
        return print(args, &Report::new(String::new(), json!({"opened": true})));
    }
    if let Command::Screenshot { id, region, output, .. } = &args.command {
        let screenshot = Screenshot { id: *id, region: *region, output: output.as_deref() };
        let (reply, shown) = screenshot.take(&client)?;
        return finish(args, shown, reply);
    }
    let call = match method {
        Some((method, params)) => Call::by_name(method.to_owned(), params),
        None => call(&args.command, &client)?,
    };
    let sent = (OffsetDateTime::now_utc(), Instant::now());
    let reply = match call.make(&client) {
        Err(error) => {
            let answers = || ending_action::still_answers(client.endpoint());
            match ending_action::reply(&call, &error, answers) {
                Some(reply) => reply,
                None => lost_run(args, &client, &call, sent).transpose()?.ok_or(error)?,
            }
        }
        reply => reply?,
    };
    finish(args, show::reply(call.method(), &reply), reply)
}

/// Runs a command about the inbox: of all instances, or of the instance of one pane.
fn run_inbox(
    args: &Args,
    home: &Path,
    watch: bool,
    all: bool,
    command: Option<&inbox::InboxCommand>,
) -> Result<ExitCode> {
    use inbox::InboxCommand as I;

    let (instance, json) = (args.instance.as_deref(), args.json);
    let inbox = inbox::Inbox { home, instance, all, json };
    let command = match command {
        None if watch => return inbox.watch(),
        None => return inbox.list(),
        Some(I::Next) => return inbox.next(),
        Some(command) => command,
    };
    let client = connect(args, home)?;
    let inbox = inbox::OneInbox { client: &client, json };
    match command {
        I::Next => Ok(ExitCode::SUCCESS),
        I::Show { pane } => inbox.show(*pane),
        I::Answer(given) => inbox.answer(given),
        I::Dismiss { entry } => inbox.dismiss(entry),
        I::Snooze { entry, time } => inbox.snooze(entry, *time),
        I::Restore { entry } => inbox.restore(entry),
    }
}

/// Prints a page of the manual, or the help of a command.
fn help(args: &Args, topic: &[String]) -> Result<ExitCode> {
    let page = match topic {
        [] => return print(args, &Report::of_text("pages", manual::contents())),
        [topic] => manual::page(topic),
        _ => None,
    };
    if let Some(page) = page {
        if args.json {
            return print(args, &Report::of_text("page", page.to_owned()));
        }
        manual::show(page)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = Args::command();
    if topic.first().is_some_and(|word| word == generated::METHOD) {
        command = generated::with_methods(command);
    }
    command.build();
    let found =
        topic.iter().try_fold(&mut command, |command, word| command.find_subcommand_mut(word));
    let Some(command) = found else {
        let topics: Vec<_> = manual::topics().map(|(topic, _)| topic).collect();
        let commands = Args::command();
        let names = commands.get_subcommands().map(clap::Command::get_name);
        let wrong = topic.first().map_or("", String::as_str);
        let hint = did_you_mean(wrong, topics.iter().copied().chain(names));
        bail!("no page or command {:?}; pages: {}{hint}", topic.join(" "), topics.join(", "));
    };
    let text = command.render_long_help().to_string();
    print(args, &Report::of_text("help", text))
}

/// Prints the reply of an instance. If the reply reports a failure, also prints the reason, and returns exit code 1.
fn finish(args: &Args, shown: ReplyText, reply: Value) -> Result<ExitCode> {
    let code = print(args, &Report::new(shown.text, reply))?;
    if let Some(note) = shown.note {
        complain(&note);
    }
    match shown.complaint {
        None => Ok(code),
        Some(why) => {
            if !why.is_empty() {
                complain(&why);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Runs a command that needs no running instance. Returns `None` for all other commands.
fn local(args: &Args, home: &Path) -> Result<Option<Report>> {
    let whole = || generated::with_methods(Args::command());
    let instance = args.instance.as_deref();
    let report = match &args.command {
        Command::Config(command) => local::config(command, home)?,
        Command::Theme(command) => local::theme(command, home)?,
        Command::Import { terminal, file, write } => {
            import::import(*terminal, file.as_deref(), home, *write)?
        }
        Command::Lang(command) => local::language(command, home, args.lang.as_deref())?,
        Command::Mcp { toolset, command: Some(McpCommand::Config { client, write }) } => {
            mcp_config::config(*client, instance, toolset.as_deref(), *write)?
        }
        Command::Mcp { command: Some(McpCommand::Tty), .. } => {
            let path = tty::path(home)?;
            Report::new(format!("{path}\n"), json!({ "tty": path }))
        }
        Command::ShellCompletion { shell, named_shell } => {
            let shell = shell.or(*named_shell).context("name a shell, such as bash")?;
            Report::of_text("script", generated::completions(shell, Args::command())?)
        }
        Command::Transfer(command) => transfer::run(command)?,
        Command::Terminfo => Report::of_text("entry", ssh::TERMINFO.to_owned()),
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

/// Connects to the instance with the given name. Without a name, connects to the instance whose pane this program runs
/// in, or else to the active instance.
fn connect(args: &Args, home: &Path) -> Result<Client, ClientError> {
    if let Some(name) = &args.instance {
        return Client::connect_to(&client::find_by_name(home, name)?);
    }
    let own = OwnPane::of_environment();
    // The instance that started this program may have ended in the meantime.
    match own.map(|own| client::find_by_name(home, &own.instance)) {
        Some(Ok(endpoint)) => Client::connect_to(&endpoint),
        _ => Client::connect(home),
    }
}

/// The result of `unterm-cli run` if the instance has ended while the command ran. `None` for other commands, and if the
/// instance still runs. `sent`: when the call was made.
fn lost_run(
    args: &Args,
    client: &Client,
    call: &Call,
    (sent, start): (OffsetDateTime, Instant),
) -> Option<Result<Value>> {
    let Command::Run { timeout, command, .. } = &args.command else { return None };
    if client.call::<server::Health>(NoParams {}).is_ok() {
        return None;
    }
    let run = lost_run::LostRun {
        endpoint: client.endpoint(),
        session: call.params()["id"].as_u64()?,
        command: &command.join(" "),
        sent,
        until: start + Duration::from_secs_f64(*timeout),
    };
    Some(run.result())
}

/// Whether the command requests the list of instances.
fn is_list(args: &Args, method: &Called) -> bool {
    let is_called = |name: &str| name == instance::List::NAME;
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

/// Prints a report as text, or as JSON if `--json` was given.
fn print(args: &Args, report: &Report) -> Result<ExitCode> {
    if args.json {
        write_out(&(serde_json::to_string_pretty(&report.json)? + "\n"))?;
    } else if report.is_failure {
        complain(report.text.trim_end());
    } else {
        write_out(&report.text)?;
        if !report.notes.is_empty() {
            complain(report.notes.trim_end());
        }
    }
    Ok(if report.is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the method call that carries out a command.
fn call(command: &Command, client: &Client) -> Result<Call> {
    use InstanceCommand as I;

    let mut session = |id: &dyn Named| match id.given() {
        Some(id) => Ok(id),
        None => default_session(client),
    };
    match command {
        // These commands need no instance, or were already carried out.
        Command::Help { .. }
        | Command::Config(_)
        | Command::Transfer(_)
        | Command::Theme(_)
        | Command::Import { .. }
        | Command::Lang(_)
        | Command::Connect { .. }
        | Command::Attach { .. }
        | Command::Agent(_)
        | Command::Hooks(_)
        | Command::Inbox { .. }
        | Command::Search(_)
        | Command::Team(_)
        | Command::Ssh { .. }
        | Command::Tmux { .. }
        | Command::TmuxShim { .. }
        | Command::TmuxPipe { .. }
        | Command::Restart
        | Command::Mcp { .. }
        | Command::Ptywright(_)
        | Command::Method
        | Command::ShellCompletion { .. }
        | Command::Terminfo
        | Command::Complete { .. }
        | Command::Man { .. }
        | Command::Screenshot { .. }
        | Command::Watch { .. } => bail!("this command has no method"),
        Command::Tour => Call::of::<action::Run>(action::RunParams {
            name: "tour".into(),
            ..action::RunParams::default()
        }),
        Command::Detach => Call::of::<action::Run>(action::RunParams {
            name: "detach".into(),
            ..action::RunParams::default()
        }),
        Command::Record(command) => command.call(&mut session),
        Command::Sessions(command) => command.call(),
        Command::Capture(command) => command.call(),
        Command::Workspace(command) => command.call(),
        Command::Proxy(command) => command.call(),
        Command::Orchestrate(command) => command.call(&mut session),
        Command::Policy(command) => command.call(),
        Command::Token(command) => {
            if let resource_commands::TokenCommand::Create { panes, .. } = command {
                refuse_missing_sessions(panes, client)?;
            }
            command.call()
        }
        Command::Audit { id, limit } => Call::of::<audit::Log>(audit::LogParams {
            limit: (*limit).into(),
            session_id: id.map(|id| id.to_string()).into(),
            ..audit::LogParams::default()
        }),
        Command::Selftest { id, session } => Call::of::<selftest::Run>(selftest::RunParams {
            session_id: id.or(*session).map(|id| id.to_string()).into(),
            ..selftest::RunParams::default()
        }),
        Command::Settings(_) => Call::of::<settings::Open>(settings::OpenParams::default()),
        Command::Session(command) => command.call(&mut session),
        Command::Exec { id, command } => Call::of::<exec::Run>(exec::RunParams {
            command: command.join(" ").into(),
            ..exec::RunParams::of(session(id)?)
        }),
        Command::Run { id, timeout, type_ahead, command } => {
            if !timeout.is_finite() || *timeout < 0.0 {
                bail!("--timeout must be a number of seconds, 0 or more, not {timeout}");
            }
            let timeout = (timeout * 1000.0) as u64;
            let id = session(id)?;
            refuse_own_session(id, client)?;
            Call::of::<exec::RunWait>(exec::RunWaitParams {
                command: command.join(" ").into(),
                timeout_ms: timeout.into(),
                type_ahead: (*type_ahead).into(),
                ..exec::RunWaitParams::of(id)
            })
        }
        Command::Send { id, enter, input } => {
            let mut input = input.join(" ");
            if *enter {
                input.push('\r');
            }
            Call::of::<sessions::Input>(sessions::InputParams {
                input: input.into(),
                ..sessions::InputParams::of(session(id)?)
            })
        }
        Command::Cancel { id } => Call::of::<exec::Cancel>(SessionOnly::of(session(id)?)),
        Command::Signal { id, signal } => {
            let name = signal.to_ascii_uppercase();
            let has_key = ["INT", "TSTP", "QUIT", "EOF"].contains(&name.trim_start_matches("SIG"));
            let (id, signal) = (session(id)?, signal.as_str().into());
            if has_key {
                Call::of::<signal::Send>(signal::SendParams {
                    signal,
                    ..signal::SendParams::of(id)
                })
            } else {
                let params = signal::SignalParams { signal, ..signal::SignalParams::of(id) };
                Call::of::<signal::Signal>(params)
            }
        }
        Command::Explain { id, save } => {
            let id = session(id)?;
            if let Some(file) = save {
                replay::save(client, id, file)?;
            }
            Call::of::<explain::Explain>(SessionOnly::of(id))
        }
        Command::VerifyHandover { id } => {
            Call::of::<verify_handover::VerifyHandover>(SessionOnly::of(session(id)?))
        }
        Command::Status { id } => Call::of::<exec::Status>(SessionOnly::of(session(id)?)),
        Command::Screen(command) => command.call(&mut session),
        Command::Action { name, argument: None } if name == "list" => {
            Call::of::<action::List>(NoParams {})
        }
        Command::Action { name, argument } => {
            // Accept `new-tab` for `new_tab`, because users know this form from options.
            let (name, argument) = (name.replace('-', "_").into(), argument.clone().into());
            Call::of::<action::Run>(action::RunParams { name, argument })
        }
        Command::Instance(I::List) => Call::of::<instance::List>(NoParams {}),
        Command::Instance(I::Info) => Call::of::<instance::Info>(NoParams {}),
        Command::Instance(I::SetTitle { title }) => {
            Call::of::<instance::SetTitle>(instance::SetTitleParams { title: title.clone().into() })
        }
        Command::Instance(I::Focus) => Call::of::<instance::Focus>(NoParams {}),
        Command::Info => Call::of::<server::Info>(NoParams {}),
        Command::Health => Call::of::<server::Health>(NoParams {}),
        Command::Capabilities => Call::of::<server::Capabilities>(NoParams {}),
        Command::System => Call::of::<system::Info>(NoParams {}),
        Command::Call { method, params } => {
            let params = match params {
                Some(params) => serde_json::from_str(params).map_err(|error| {
                    anyhow!("PARAMS is not valid JSON: {}", plain_words::of_json(&error))
                })?,
                None => json!({}),
            };
            Ok(Call::by_name(method.clone(), params))
        }
    }
}

/// Fails for the pane that this program runs in, because its shell is busy until this program ends.
fn refuse_own_session(id: u64, client: &Client) -> Result<()> {
    let Some(own) = OwnPane::of_environment().filter(|own| own.session == id) else {
        return Ok(());
    };
    if own.is_of(&client.call::<instance::Info>(NoParams {})?) {
        bail!(
            "pane {id} is the pane that this command runs in, and its shell waits for this command to end; \
             name another pane with --id, or open one with `unterm-cli session create`"
        );
    }
    Ok(())
}

/// Fails for panes that don't exist, because a pane that is opened later could get such a number. The token would then
/// apply to the wrong pane.
fn refuse_missing_sessions(ids: &[u64], client: &Client) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let all = client.call::<sessions::List>(NoParams {})?.sessions;
    let is_missing = |id: &&u64| all.iter().all(|session| session.id != **id);
    let Some(missing) = ids.iter().find(is_missing) else { return Ok(()) };
    let there = match all.as_slice() {
        [] => "no pane is open".to_owned(),
        all => format!("open panes: {}", numbers(all)),
    };
    bail!("pane {missing} does not exist; open it before you create a token for it ({there})")
}

/// The pane to use if none is given: the pane that this program runs in, or else the only open pane.
fn default_session(client: &Client) -> Result<u64> {
    let all = client.call::<sessions::List>(NoParams {})?.sessions;
    if let Some(own) = OwnPane::of_environment()
        && all.iter().any(|session| session.id == own.session)
        && own.is_of(&client.call::<instance::Info>(NoParams {})?)
    {
        return Ok(own.session);
    }
    let mut live = all.iter().filter(|session| !session.is_dead);
    // A pane whose program has ended is used only if no other pane is open.
    match (live.next(), live.next(), all.as_slice()) {
        (Some(session), None, _) | (None, None, [session]) => Ok(session.id),
        (_, _, []) => bail!("no pane is open; open one with `unterm-cli session create`"),
        (_, _, all) => {
            bail!("several panes are open; name one with --id: {}", numbers(all))
        }
    }
}

/// The numbers of panes, separated by commas.
fn numbers(sessions: &[sessions::Listed]) -> String {
    let ids: Vec<_> = sessions.iter().map(|session| session.id.to_string()).collect();
    ids.join(", ")
}
