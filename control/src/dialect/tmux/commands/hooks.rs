//! Commands about hooks.

use super::{
    options::{owner, place},
    wait::is_event,
};
use crate::dialect::tmux::{
    arguments::Arguments,
    hooks::{self, SESSION_HOOKS, WINDOW_HOOKS},
    language::{self, Words},
    options::{Owner, Scope},
    run::{Done, Failure, Run},
};

/// What a hook belongs to.
fn scope(run: &Run<'_>, name: &str) -> Result<Scope, Failure> {
    let is_command = |name: &str| run.commands.iter().any(|command| command.syntax.name == name);
    hooks::scope(name, is_command).ok_or_else(|| format!("invalid option: {name}").into())
}

/// `set-hook`.
pub async fn set(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let name = arguments.words[0].clone();
    if arguments.has('E') {
        if !is_event(&name) {
            return Err(format!("invalid event: {name}").into());
        }
        // Without a client that waits, the event has no effect.
        let _ = run.server.fired.send(name);
        return Ok(());
    }
    let (base, index) = hooks::parse(&name)?;
    let scope = scope(run, base)?;
    if arguments.has('R') {
        return run.hook(base).await;
    }
    let command = match (arguments.has('u'), arguments.word(1)) {
        (true, _) => None,
        (false, Some(command)) => Some(canonical(run, command).await?),
        (false, None) => return Err("empty value".into()),
    };
    let place = place(run, &arguments).await?;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    if at.is_none() && !arguments.has('g') {
        run.here().await?;
    }
    let (owner, by) = (owner(&arguments, scope, at), run.opener());
    let mut state = run.state();
    match command {
        Some(command) => {
            Ok(state.hooks.set(&by, (owner, base), index, arguments.has('a'), command)?)
        }
        None => {
            state.hooks.unset(&by, (owner, base), index);
            Ok(())
        }
    }
}

/// Commands as tmux shows them: with their full names.
async fn canonical(run: &mut Run<'_>, text: &str) -> Result<String, Failure> {
    let lines = run.parsed(text).await?.map_err(|error| error.message.to_owned())?;
    let mut commands: Vec<Words> = lines.into_iter().map(|line| line.words).collect();
    let checked = run.checked(commands.clone())?;
    for (words, (command, _)) in commands.iter_mut().zip(checked) {
        if let Some(name) = words.first_mut() {
            command.syntax.name.clone_into(name);
        }
    }
    Ok(language::print(&commands))
}

/// `show-hooks`.
pub async fn show(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let place = place(run, &arguments).await?;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    let by = run.opener();
    let is_global = arguments.has('g');
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
            (false, _) => state.hooks.names(&by, owner).into_iter().map(str::to_owned).collect(),
        };
        let lines =
            names.iter().flat_map(|name| shown(&state.hooks, &by, (owner, name), is_global));
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
