//! Messages, shell commands, files of commands, and lists of commands and keys.

use std::time::Duration;

use super::clients::{Named, find as find_client};
use crate::dialect::tmux::{
    arguments::Arguments,
    conversation::Event,
    formats::{self, Values},
    language::{self, Words},
    run::{CommandResult, Failure, Run, find},
    target::{TargetKind, find_part},
    variables::VARIABLES,
    world::{Target, World},
};

/// The default message of `display-message`.
const MESSAGE: &str = "[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index} - (%H:%M %d-%b-%y)";

/// The target of `-t` for commands that also work without a target. If only a part of the target exists, returns this
/// part.
async fn part(
    run: &mut Run<'_>,
    arguments: &Arguments,
) -> Result<(World, Option<Target>), Failure> {
    if run.is_starting {
        let world = run.world().await?;
        let part = run
            .current(&world)
            .and_then(|current| find_part(&world, TargetKind::Pane, arguments.value('t'), current));
        return Ok((world, part));
    }
    let (world, current) = run.here().await?;
    let part = find_part(&world, TargetKind::Pane, arguments.value('t'), current);
    Ok((world, part))
}

/// `display-message`.
pub async fn display(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = part(run, &arguments).await?;
    let format = arguments.value('F').or(arguments.word(0)).unwrap_or(MESSAGE).to_owned();
    if arguments.value('F').is_some() && arguments.word(0).is_some() {
        return Err("only one of -F or argument must be given".into());
    }
    if arguments.has('a') {
        let lines = {
            let state = run.state();
            let scope = run.scope(&world, &state, at);
            let all = VARIABLES.iter();
            all.filter_map(|name| Some(format!("{name}={}", scope.value(name)?))).collect()
        };
        return run.print_lines(lines).await;
    }
    let text = run.expand(&format, &mut world, at).await?;
    if arguments.has('p') {
        return run.print(&text).await;
    }
    let (_, here) = run.here().await?;
    let client = find_client(run, &world, at.unwrap_or(here), arguments.value('c'))?;
    let Named::Control(id) = client else {
        return Err("the window has no line for messages; use -p to print the message".into());
    };
    if let Some(client) = run.state().clients.get_mut(id) {
        client.note(format!("%message {text}"));
    }
    Ok(())
}

/// `if-shell`.
pub async fn if_shell(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = part(run, &arguments).await?;
    let condition = run.expand(&arguments.words[0], &mut world, at).await?;
    let is_true = match arguments.has('F') {
        true => formats::is_true(&condition),
        false => {
            let event = Event::Shell { command: condition, background: false };
            run.ask_client(&event).await?.status == 0
        }
    };
    let command = if is_true { arguments.word(1) } else { arguments.word(2) };
    match command {
        Some(command) => run.text(command).await,
        None => Ok(()),
    }
}

/// `run-shell`.
pub async fn run_shell(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let delay = match arguments.value('d') {
        None => None,
        Some(text) => {
            let seconds = text.parse::<f64>().ok().filter(|it| (0.0..=86_400.0).contains(it));
            let seconds = seconds.ok_or_else(|| format!("invalid delay time: {text}"))?;
            Some(Duration::from_secs_f64(seconds))
        }
    };
    if let Some(delay) = delay {
        run.wait(tokio::time::sleep(delay)).await?;
    }
    let Some(command) = arguments.word(0) else { return Ok(()) };
    let (mut world, at) = part(run, &arguments).await?;
    let command = run.expand(command, &mut world, at).await?;
    if arguments.has('C') {
        return run.text(&command).await;
    }
    let event = Event::Shell { command: command.clone(), background: arguments.has('b') };
    let answer = run.ask_client(&event).await?;
    if let Some(error) = answer.error {
        return Err(format!("failed to run command: {command}: {error}").into());
    }
    run.print_raw(answer.text).await?;
    if answer.status != 0 {
        // tmux's own exit status is that of the command.
        run.status = u8::try_from(answer.status).unwrap_or(1);
    }
    Ok(())
}

/// `source-file`.
pub async fn source(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let mut failures: Vec<String> = Vec::new();
    for path in arguments.words.clone() {
        let path = match arguments.has('F') {
            true => {
                let (mut world, at) = run.here().await?;
                run.expand(&path, &mut world, Some(at)).await?
            }
            false => path,
        };
        let answer = run.ask_client(&Event::Read(path.clone())).await?;
        if let Some(error) = answer.error {
            if !arguments.has('q') {
                failures.push(format!("{path}: {error}"));
            }
            continue;
        }
        let lines = match run.parsed(&answer.text).await? {
            Ok(lines) => lines,
            Err(error) => {
                failures.push(format!("{path}:{}: {}", error.line, error.message));
                continue;
            }
        };
        if arguments.has('v') {
            for line in &lines {
                let text = language::print(std::slice::from_ref(&line.words));
                run.print(&format!("{path}:{}: {text}", line.number)).await?;
            }
        }
        // As in tmux, one wrong command prevents the whole file.
        let mut wrong = Vec::new();
        let mut groups: Vec<(usize, Vec<Words>)> = Vec::new();
        for line in lines {
            if let Err(Failure::Message(why)) = run.checked(vec![line.words.clone()]) {
                wrong.push(format!("{path}:{}: {why}", line.number));
            }
            match groups.last_mut() {
                Some((number, words)) if *number == line.number => words.push(line.words),
                _ => groups.push((line.number, vec![line.words])),
            }
        }
        if !wrong.is_empty() || arguments.has('n') {
            failures.extend(wrong);
            continue;
        }
        for (number, words) in groups {
            match run.words(words).await {
                Err(Failure::Message(why)) => failures.push(format!("{path}:{number}: {why}")),
                done => done?,
            }
        }
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n").into()),
    }
}

/// `list-commands`.
pub async fn list_commands(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let format = arguments.value('F').unwrap_or(
        "#{command_list_name}#{?command_list_alias, (#{command_list_alias}),} #{command_list_usage}",
    );
    let only = match arguments.word(0) {
        Some(name) => Some(find(run.commands, name)?.syntax.name),
        None => None,
    };
    let world = run.world().await?;
    let current = run.current(&world);
    let lines = {
        let (state, clock) = (run.state(), run.clock());
        let all = run.commands.iter().map(|command| &command.syntax);
        let shown = all.filter(|it| only.is_none_or(|name| name == it.name));
        let lines = shown.map(|command| {
            let mut scope = run.scope(&world, &state, current);
            scope.more.insert("command_list_name", command.name.to_owned());
            scope.more.insert("command_list_alias", command.alias.to_owned());
            scope.more.insert("command_list_usage", command.usage.to_owned());
            formats::expand(format, &scope, &clock)
        });
        lines.collect()
    };
    run.print_lines(lines).await
}

/// The kinds of prompts of tmux. There are none here, so their histories are empty.
const PROMPTS: [&str; 4] = ["command", "search", "target", "window-target"];

/// The prompts that `-T` names.
fn prompts(arguments: &Arguments) -> Result<&'static [&'static str], Failure> {
    let Some(name) = arguments.value('T') else { return Ok(&PROMPTS) };
    let found = PROMPTS.iter().position(|prompt| *prompt == name);
    match found {
        Some(at) => Ok(&PROMPTS[at..=at]),
        None => Err(format!("invalid type: {name}").into()),
    }
}

/// `show-prompt-history`.
pub async fn show_prompt_history(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let prompts = prompts(&arguments)?.iter();
    let lines = prompts.map(|prompt| format!("History for {prompt}:\n\n"));
    run.print_lines(lines.collect()).await
}

/// `clear-prompt-history`.
pub async fn clear_prompt_history(_: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    prompts(&arguments).map(drop)
}

/// `server-access`. Only programs of the user reach the instance, so the list of other users is always empty.
pub async fn server_access(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    if arguments.has('l') {
        return run.world().await.map(drop);
    }
    match arguments.word(0) {
        None => Err("missing user argument".into()),
        Some(user) if user == run.hello.user => {
            Err(format!("{user} owns the server, can't change access").into())
        }
        Some(user) => Err(format!("other users can't use this server: {user}").into()),
    }
}
