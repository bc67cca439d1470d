//! The programs of new panes: commands, directories and variables.

use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Program, ProgramEnd},
    run::{Failure, Run},
    state::check_length,
    world::{Target, World},
};

/// Converts a value of `remain-on-exit` to what happens to a pane when its program ends.
pub fn program_end(value: &str) -> ProgramEnd {
    match value {
        "on" => ProgramEnd::Hold,
        "failed" => ProgramEnd::HoldFailed,
        _ => ProgramEnd::Close,
    }
}

/// The program that a command starts. One argument is a command for the shell, several are a program and its arguments.
/// `at`: the target whose options, directory and session count. `None` if there is no session yet.
pub async fn program(
    run: &mut Run<'_>,
    world: &mut World,
    at: Option<Target>,
    arguments: &Arguments,
) -> Result<Program, Failure> {
    program_in(run, world, at, arguments, arguments.value('c')).await
}

/// Like [`program`], with the directory that a command names by another flag.
pub async fn program_in(
    run: &mut Run<'_>,
    world: &mut World,
    at: Option<Target>,
    arguments: &Arguments,
    folder: Option<&str>,
) -> Result<Program, Failure> {
    let names = ["default-shell", "default-command", "remain-on-exit"];
    let [shell, default_command, on_exit] = names.map(|name| match at {
        Some(at) => run.option(world, at, name),
        None => run.state().options.value(&[], name).unwrap_or_default(),
    });
    let shell = match shell {
        shell if shell == "/bin/sh" => {
            run.hello.env.get("SHELL").cloned().filter(|shell| !shell.is_empty()).unwrap_or(shell)
        }
        shell => shell,
    };
    let script = |script: &str| vec![shell.clone(), "-c".to_owned(), script.to_owned()];
    let command = match arguments.words.as_slice() {
        [] => match default_command.as_str() {
            "" => Vec::new(),
            command => script(command),
        },
        [only] if only.is_empty() => Vec::new(),
        [only] => script(only),
        several => several.to_vec(),
    };
    let on_exit = program_end(&on_exit);
    let mut env = run.hello.env.clone();
    {
        let state = run.state();
        let session = at.map(|at| world.session(at).id);
        let session = session
            .and_then(|id| state.sessions.iter().find(|session| session.id == id))
            .map(|session| session.env.clone());
        for (name, variable) in state.env.iter().chain(session.iter().flatten()) {
            match &variable.value {
                Some(value) if !variable.is_hidden => drop(env.insert(name.clone(), value.clone())),
                _ => drop(env.remove(name)),
            }
        }
    }
    for variable in arguments.values('e') {
        let Some((name, value)) = variable.split_once('=') else {
            return Err(format!("invalid environment: {variable}").into());
        };
        check_length(name, value)?;
        env.insert(name.to_owned(), value.to_owned());
    }
    let cwd = match folder {
        Some(folder) => run.expand(folder, world, at).await?,
        None => {
            let of_session = at.map(|at| world.session(at).cwd.clone()).unwrap_or_default();
            if of_session.is_empty() { run.hello.cwd.clone() } else { of_session }
        }
    };
    let cwd = match cwd.strip_prefix('~') {
        Some(rest) => run.hello.env.get("HOME").cloned().unwrap_or_default() + rest,
        None if cwd.starts_with('/') => cwd,
        None => format!("{}/{cwd}", run.hello.cwd),
    };
    // tmux starts a program in the home directory if its directory does not exist.
    let cwd = Some(cwd).filter(|cwd| std::path::Path::new(cwd).is_dir());
    Ok(Program { command, cwd, env, on_exit })
}
