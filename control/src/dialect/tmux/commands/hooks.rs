//! Commands about hooks.

use super::{
    options::{owner, place},
    pipe,
    wait::is_event,
};
use crate::dialect::tmux::{
    arguments::Arguments,
    formats,
    hooks::{self, SESSION_HOOKS, WINDOW_HOOKS},
    language::{self, Words},
    options::{Owner, Scope},
    run::{CommandResult, Failure, Run},
    runners::Claim,
    world::{Target, World},
};

/// The owner of a hook.
fn scope(run: &Run<'_>, name: &str) -> Result<Scope, Failure> {
    let is_command = |name: &str| run.commands.iter().any(|command| command.syntax.name == name);
    hooks::scope(name, is_command).ok_or_else(|| format!("invalid option: {name}").into())
}

/// `set-hook`.
pub async fn set(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let name = arguments.words[0].clone();
    if arguments.has('E') {
        if !is_event(&name) {
            return Err(format!("invalid event: {name}").into());
        }
        // Without a client that waits, the event has no effect.
        let _ = run.server.fired.send(name);
        return Ok(());
    }
    if arguments.has('B') {
        return set_monitor(run, &arguments).await;
    }
    let (base, index) = hooks::parse(&name)?;
    let scope = scope(run, base)?;
    if arguments.has('R') {
        return run.hook(base).await;
    }
    let command = match (arguments.has('u'), arguments.word(1)) {
        (true, _) => None,
        (false, Some(command)) => Some(canonical(run, command, " ; ").await?),
        (false, None) => return Err("empty value".into()),
    };
    let place = place(run, &arguments).await?;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    if at.is_none() && !arguments.has('g') {
        run.here().await?;
    }
    let (owner, by) = (owner(&arguments, scope, at), run.opener());
    let is_set = command.is_some();
    {
        let mut state = run.state();
        let place = (owner, base);
        match command {
            Some(command) => state.hooks.set(&by, place, index, arguments.has('a'), command)?,
            None => state.hooks.unset(&by, place, index),
        }
    }
    if is_set && hooks::is_event(base) {
        return start_runner(run).await;
    }
    // Wake the process, because it may have nothing left to do and can then end.
    run.server.changed();
    Ok(())
}

/// `-B`: sets or removes a monitor.
async fn set_monitor(run: &mut Run<'_>, arguments: &Arguments) -> CommandResult {
    let text = arguments.words[0].clone();
    let name = text.split(':').next().unwrap_or_default().to_owned();
    let place = place(run, arguments).await?;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    if at.is_none() && !arguments.has('g') {
        run.here().await?;
    }
    let (owner, by) = (owner(arguments, Scope::Session, at), run.opener());
    if arguments.has('u') {
        let mut state = run.state();
        state.monitors.unset(&by, owner, &name);
        state.hooks.unset(&by, (owner, name.as_str()), None);
        drop(state);
        run.server.changed();
        return Ok(());
    }
    let command = match arguments.word(1) {
        Some(command) => Some(canonical(run, command, " ; ").await?),
        None => None,
    };
    {
        let mut state = run.state();
        let name = state.monitors.set(by.clone(), owner, &text)?;
        if let Some(command) = command {
            let set = state.hooks.set(&by, (owner, name.as_str()), None, false, command);
            if let Err(error) = set {
                // A monitor without its command would use up the program's quota.
                state.monitors.unset(&by, owner, &name);
                return Err(error.into());
            }
        }
    }
    start_runner(run).await?;
    run.server.changed();
    Ok(())
}

/// Starts the process that runs the hooks of the client's program at events, if it is not running yet.
async fn start_runner(run: &mut Run<'_>) -> CommandResult {
    let (by, server) = (run.opener(), run.name.clone());
    let claim = Claim { caller: run.caller().clone(), server };
    let opened = run.state().runners.open(&by, claim)?;
    let Some((ticket, claimed)) = opened else { return Ok(()) };
    let started = pipe::start(run, &ticket, claimed).await;
    if started.is_err() {
        run.state().runners.finish(&ticket);
    }
    started
}

/// Commands as tmux shows them: with their full names, separated by a text.
pub async fn canonical(run: &mut Run<'_>, text: &str, separator: &str) -> Result<String, Failure> {
    let lines = run.parsed(text).await?.map_err(|error| error.message.to_owned())?;
    let mut commands: Vec<Words> = lines.into_iter().map(|line| line.words).collect();
    let checked = run.checked(commands.clone())?;
    for (words, (command, _)) in commands.iter_mut().zip(checked) {
        if let Some(name) = words.first_mut() {
            command.syntax.name.clone_into(name);
        }
    }
    Ok(language::print_with(&commands, separator))
}

/// `show-hooks`.
pub async fn show(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let place = place(run, &arguments).await?;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    let by = run.opener();
    let is_global = arguments.has('g');
    if arguments.has('B') {
        return show_monitors(run, &arguments, at).await;
    }
    let lines = if let Some(name) = arguments.word(0) {
        let (base, index) = hooks::parse(name)?;
        let owner = owner(&arguments, scope(run, base)?, at);
        let state = run.state();
        let of = |index: u32| state.hooks.of(&by, owner, base).find(|(own, _)| *own == index);
        match index {
            Some(index) => vec![format!("{name} {}", of(index).map_or("", |(_, it)| it))],
            None => shown(&state.hooks, &by, (owner, base), is_global),
        }
    } else {
        let is_window = arguments.has('w') || arguments.has('p');
        let scope = if is_window { Scope::Pane } else { Scope::Session };
        let owner = owner(&arguments, scope, at);
        let state = run.state();
        let names: Vec<String> = match (is_global, is_window) {
            (true, true) => WINDOW_HOOKS.map(str::to_owned).to_vec(),
            (true, false) => {
                let after = run.commands.iter().map(|it| format!("after-{}", it.syntax.name));
                after.chain(SESSION_HOOKS.map(str::to_owned)).collect()
            }
            (false, _) => Vec::new(),
        };
        let own = state.hooks.names(&by, owner).into_iter().map(str::to_owned);
        let own: Vec<String> = own.filter(|name| !names.contains(name)).collect();
        let names = [own, names].concat();
        let lines =
            names.iter().flat_map(|name| shown(&state.hooks, &by, (owner, name), is_global));
        lines.collect()
    };
    run.print_lines(lines).await
}

/// `-B`: shows monitors, in the format of `-F`.
async fn show_monitors(
    run: &mut Run<'_>,
    arguments: &Arguments,
    at: Option<(&World, Target)>,
) -> CommandResult {
    let format = arguments
        .value('F')
        .unwrap_or("#{option_name}:#{hook_monitor_target}:#{hook_monitor_format}");
    let (owner, by) = (owner(arguments, Scope::Session, at), run.opener());
    let here = run.world().await?;
    let (world, at) = match at {
        Some((world, at)) => (world, Some(at)),
        None => (&here, None),
    };
    let lines = {
        let (state, clock) = (run.state(), run.clock());
        let all = state.monitors.of(&by, owner);
        let named = all.filter(|it| arguments.word(0).is_none_or(|name| name == it.what.name));
        let lines = named.map(|monitor| {
            let name = &monitor.what.name;
            let subject = &monitor.subject;
            let command = state.hooks.of(&by, owner, name).next().map(|(_, it)| it.to_owned());
            let mut scope = run.scope(world, &state, at);
            let (count, time) = monitor.fired;
            scope.more.extend([
                ("option_name", name.clone()),
                ("option_value", format!("{name}:{subject}:{}", monitor.what.format)),
                ("option_is_hook", "1".to_owned()),
                ("option_is_user", "1".to_owned()),
                ("hook_command", command.unwrap_or_default()),
                ("hook_monitor_target", subject.clone()),
                ("hook_monitor_format", monitor.what.format.clone()),
                ("hook_fire_count", count.to_string()),
                ("hook_fire_time", time.to_string()),
            ]);
            formats::expand(format, &scope, &clock)
        });
        lines.collect()
    };
    run.print_lines(lines).await
}

/// The lines for a hook. A global hook without commands has a line, too.
fn shown(
    hooks: &hooks::Hooks,
    by: &crate::caller::Opener,
    (owner, name): (Owner, &str),
    is_global: bool,
) -> Vec<String> {
    let commands = hooks.of(by, owner, name);
    let lines: Vec<_> =
        commands.map(|(index, command)| format!("{name}[{index}] {command}")).collect();
    match lines.is_empty() && is_global {
        true => vec![name.to_owned()],
        false => lines,
    }
}
