//! `send-keys`: types into a pane.

use super::target;
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        keys::method_name,
        methods::{Clear, ClearParams},
        run::{CommandResult, Run},
        target::TargetKind,
    },
    methods::{
        input::{Keys, KeysParams},
        session::{Input, InputParams},
    },
};

/// The maximum number of repetitions.
const MOST_TIMES: usize = 1000;

/// The input that is sent in one call.
enum SentInput {
    Text(String),
    Keys(Vec<String>),
}

/// `send-keys`.
pub async fn send_keys(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let id = world.pane(at).id;
    let times = match arguments.value('N') {
        None => 1,
        Some(text) => match text.parse::<usize>() {
            Ok(times) if (1..=MOST_TIMES).contains(&times) => times,
            _ => return Err(format!("repeat count invalid: {text}").into()),
        },
    };
    if arguments.has('R') {
        run.call::<Clear>(ClearParams { id, reset: true }.into()).await?;
    }
    let mut pieces = Vec::new();
    for word in &arguments.words {
        let word = match arguments.has('F') {
            true => run.expand(word, &mut world, Some(at)).await?,
            false => word.clone(),
        };
        if arguments.has('H') {
            // tmux documents only ASCII characters.
            let code = u8::from_str_radix(&word, 16).ok().filter(u8::is_ascii);
            let code = code.ok_or_else(|| format!("invalid key: {word}"))?;
            push_text(&mut pieces, &char::from(code).to_string());
        } else if arguments.has('l') {
            push_text(&mut pieces, &word);
        } else {
            match method_name(&word) {
                Some(key) => match pieces.last_mut() {
                    Some(SentInput::Keys(keys)) => keys.push(key),
                    _ => pieces.push(SentInput::Keys(vec![key])),
                },
                None => push_text(&mut pieces, &word),
            }
        }
    }
    if run.state().input_off.contains(&id) {
        return Ok(());
    }
    for _ in 0..times {
        for piece in &pieces {
            match piece {
                SentInput::Text(text) if text.is_empty() => {}
                SentInput::Text(text) => {
                    let params = InputParams { input: text.as_str().into(), ..InputParams::of(id) };
                    run.call::<Input>(params).await?;
                }
                SentInput::Keys(keys) => {
                    let params = KeysParams { keys: keys.clone().into(), ..KeysParams::of(id) };
                    run.call::<Keys>(params).await?;
                }
            }
        }
    }
    Ok(())
}

fn push_text(pieces: &mut Vec<SentInput>, text: &str) {
    match pieces.last_mut() {
        Some(SentInput::Text(last)) => last.push_str(text),
        _ => pieces.push(SentInput::Text(text.to_owned())),
    }
}
