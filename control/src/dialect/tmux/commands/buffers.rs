//! Commands about paste buffers.

use super::target;
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        conversation::Event,
        formats,
        run::{CommandResult, Failure, Run},
        target::TargetKind,
    },
    methods::{
        input::{Paste, PasteParams},
        session::{Input, InputParams},
    },
};

const LIST: &str = "#{buffer_name}: #{buffer_size} bytes: \"#{buffer_sample}\"";

/// `list-buffers`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let world = run.world().await?;
    let format = arguments.value('F').unwrap_or(LIST);
    let current = run.current(&world);
    let lines = {
        let (state, clock) = (run.state(), run.clock());
        let mut lines = Vec::new();
        for buffer in state.buffers.list() {
            let mut scope = run.scope(&world, &state, current);
            scope.more.insert("buffer_name", buffer.name.clone());
            scope.more.insert("buffer_size", buffer.text.len().to_string());
            scope.more.insert("buffer_sample", buffer.sample());
            scope.more.insert("buffer_created", buffer.created.to_string());
            let is_shown = arguments
                .value('f')
                .is_none_or(|filter| formats::is_true(&formats::expand(filter, &scope, &clock)));
            if is_shown {
                lines.push(formats::expand(format, &scope, &clock));
            }
        }
        lines
    };
    run.print_lines(lines).await
}

/// The text of the buffer that `-b` names, or of the newest buffer. `None` if there is no buffer and none is named.
fn text(run: &Run<'_>, arguments: &Arguments) -> Result<Option<String>, Failure> {
    let name = arguments.value('b');
    match (run.state().buffers.find(name), name) {
        (Some(buffer), _) => Ok(Some(buffer.text.clone())),
        (None, Some(name)) => Err(format!("no buffer {name}").into()),
        (None, None) => Ok(None),
    }
}

/// `show-buffer`.
pub async fn show(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let Some(text) = text(run, &arguments)? else { return Err("no buffers".into()) };
    run.print_raw(text).await
}

/// `set-buffer`.
pub async fn set(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let now = run.now();
    let mut state = run.state();
    let newest = || state.buffers.find(None).map(|buffer| buffer.name.clone());
    let name = arguments.value('b').map(str::to_owned);
    if let Some(new) = arguments.value('n') {
        let Some(old) = name.or_else(newest) else { return Err("no buffer".into()) };
        return match state.buffers.rename(&old, new) {
            true => Ok(()),
            false => Err(format!("no buffer {old}").into()),
        };
    }
    let Some(data) = arguments.word(0) else { return Err("no data specified".into()) };
    if data.is_empty() {
        return Ok(());
    }
    let name = if arguments.has('a') { name.or_else(newest) } else { name };
    let before = match (arguments.has('a'), &name) {
        (true, Some(name)) => state.buffers.find(Some(name)).map(|buffer| buffer.text.clone()),
        _ => None,
    };
    let text = before.unwrap_or_default() + data;
    Ok(state.buffers.set(name.as_deref(), text, now)?)
}

/// `delete-buffer`.
pub async fn delete(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let mut state = run.state();
    let newest = state.buffers.find(None).map(|buffer| buffer.name.clone());
    let Some(name) = arguments.value('b').map(str::to_owned).or(newest) else {
        return Err("no buffer".into());
    };
    match state.buffers.delete(&name) {
        true => Ok(()),
        false => Err(format!("unknown buffer: {name}").into()),
    }
}

/// `load-buffer`.
pub async fn load(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let path = arguments.words[0].clone();
    let answer = run.ask_client(&Event::Read(path.clone())).await?;
    if let Some(error) = answer.error {
        return Err(format!("{path}: {error}").into());
    }
    if answer.text.is_empty() {
        return Ok(());
    }
    let now = run.now();
    Ok(run.state().buffers.set(arguments.value('b'), answer.text, now)?)
}

/// `save-buffer`.
pub async fn save(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let Some(text) = text(run, &arguments)? else { return Err("no buffers".into()) };
    let path = arguments.words[0].clone();
    if path == "-" {
        return run.print_raw(text).await;
    }
    let event = Event::Write { path: path.clone(), append: arguments.has('a'), text };
    match run.ask_client(&event).await?.error {
        Some(error) => Err(format!("{path}: {error}").into()),
        None => Ok(()),
    }
}

/// `paste-buffer`.
pub async fn paste(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let id = world.pane(at).id;
    let Some(text) = text(run, &arguments)? else { return Ok(()) };
    if arguments.has('p') {
        let params = PasteParams { text: text.into(), ..PasteParams::of(id) };
        run.call::<Paste>(params).await?;
    } else {
        let separator =
            arguments.value('s').unwrap_or(if arguments.has('r') { "\n" } else { "\r" });
        let params =
            InputParams { input: text.replace('\n', separator).into(), ..InputParams::of(id) };
        run.call::<Input>(params).await?;
    }
    if arguments.has('d') {
        return delete(run, arguments).await;
    }
    Ok(())
}
