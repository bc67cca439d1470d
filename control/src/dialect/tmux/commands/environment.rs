//! `set-environment` and `show-environment`.

use super::target;
use crate::dialect::tmux::{
    arguments::Arguments,
    run::{CommandResult, Failure, Run},
    state::{Environment, MOST, State, Variable, check_length},
    target::TargetKind,
};

/// The environment that the flags name: the global environment, or a session's environment.
fn environment(state: &mut State, session: Option<u64>) -> Result<&mut Environment, Failure> {
    let Some(id) = session else { return Ok(&mut state.env) };
    match state.session(id) {
        Some(session) => Ok(&mut session.env),
        None => Err(format!("can't find session: ${id}").into()),
    }
}

/// The session of `-t`. `None` with `-g`.
async fn session(run: &mut Run<'_>, arguments: &Arguments) -> Result<Option<u64>, Failure> {
    if arguments.has('g') {
        return Ok(None);
    }
    let (world, at) = target(run, TargetKind::Session, arguments).await?;
    Ok(Some(world.session(at).id))
}

/// `set-environment`.
pub async fn set(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let name = arguments.words[0].clone();
    if name.is_empty() {
        return Err("empty variable name".into());
    }
    if name.contains('=') {
        return Err("variable name contains =".into());
    }
    let value = match arguments.word(1) {
        Some(value) if arguments.has('F') => {
            let (mut world, at) = target(run, TargetKind::Pane, &arguments).await?;
            Some(run.expand(value, &mut world, Some(at)).await?)
        }
        value => value.map(str::to_owned),
    };
    check_length(&name, value.as_deref().unwrap_or_default())?;
    let session = session(run, &arguments).await?;
    let mut state = run.state();
    let environment = environment(&mut state, session)?;
    match value {
        Some(_) if arguments.has('u') => Err("can't specify a value with -u".into()),
        Some(_) if arguments.has('r') => Err("can't specify a value with -r".into()),
        None if arguments.has('u') => {
            environment.remove(&name);
            Ok(())
        }
        None if !arguments.has('r') => Err("no value specified".into()),
        value if environment.len() < MOST || environment.contains_key(&name) => {
            environment.insert(name, Variable { value, is_hidden: arguments.has('h') });
            Ok(())
        }
        _ => Err(format!("too many variables: {name}").into()),
    }
}

/// A variable as a line. `for_shell`: as commands for a shell.
fn line(name: &str, variable: &Variable, for_shell: bool) -> String {
    match (&variable.value, for_shell) {
        (Some(value), false) => format!("{name}={value}"),
        (None, false) => format!("-{name}"),
        (Some(value), true) => {
            let mut escaped = String::new();
            for char in value.chars() {
                if matches!(char, '$' | '`' | '"' | '\\') {
                    escaped.push('\\');
                }
                escaped.push(char);
            }
            format!("{name}=\"{escaped}\"; export {name};")
        }
        (None, true) => format!("unset {name};"),
    }
}

/// `show-environment`.
pub async fn show(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let session = session(run, &arguments).await?;
    let lines = {
        let mut state = run.state();
        let environment = environment(&mut state, session)?;
        let for_shell = arguments.has('s');
        match arguments.word(0) {
            Some(name) => match environment.get(name) {
                Some(variable) if variable.is_hidden == arguments.has('h') => {
                    vec![line(name, variable, for_shell)]
                }
                Some(_) => Vec::new(),
                None => return Err(format!("unknown variable: {name}").into()),
            },
            None => environment
                .iter()
                .filter(|(_, variable)| variable.is_hidden == arguments.has('h'))
                .map(|(name, variable)| line(name, variable, for_shell))
                .collect(),
        }
    };
    run.print_lines(lines).await
}
