//! Running commands, and waiting: what takes longer than one request goes on, and is asked for again by its handle.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{MOST_CHARACTERS, Untrusted, add_given, line, safe, screen};
use crate::wire::mcp::{
    jobs::{Asking, Job, SLICE},
    tool::{Ask, Said, tool},
    untrusted::{Clipped, clipped, is_longer},
};

/// As long as anybody waits: a call that goes on ends with its session.
pub(super) const WEEK: u64 = 7 * 24 * 3600 * 1000;

/// How long this request may take.
pub(super) fn slice(timeout_ms: Option<u64>) -> Duration {
    timeout_ms.map_or(SLICE, Duration::from_millis).min(SLICE)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunArguments {
    /// The command, as one would type it at the shell's prompt; may have several lines.
    command: String,
    /// The pane; not needed when there is only one.
    pane: Option<u64>,
    /// How long this call waits, in milliseconds; 50,000, which is the most. The command is never stopped by it.
    timeout_ms: Option<u64>,
    /// The most characters of output; 20,000. Of more, the beginning and the end are given.
    max_chars: Option<usize>,
    /// Give characters that nobody sees as they are, not as escapes.
    raw: Option<bool>,
}

/// What came of a command.
#[derive(Default, Serialize, JsonSchema)]
pub struct RunReply {
    pane: u64,
    /// False: it still runs; ask again by `wait` with the handle.
    ended: bool,
    /// For `wait`, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    /// What it printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Its exit code, where somebody told.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// Who told: block (the shell's integration; programs in the pane don't know its nonce), marker (the shell, behind the output), process.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_source: Option<String>,
    /// Somebody typed Ctrl+C before it ended.
    interrupted: bool,
    /// Why nobody told of its end, though the shell is back at a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What is missing of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
    /// The output's beginning is missing besides: there was too much of it.
    truncated: bool,
    /// Its number, for `block`, which gives any part of the output that is still kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// It asks for a password, which only the person may type.
    awaiting_secret: bool,
    /// The screen's text, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
    untrusted: Untrusted,
}

/// The most characters of output that may be asked for.
const MOST_ASKED: usize = 200_000;

/// How a command's output is given.
#[derive(Clone, Copy, Default)]
pub struct View {
    raw: bool,
    most: Option<usize>,
}

/// What a command's end says.
async fn ended(ask: &Ask<'_>, pane: u64, outcome: &Value, view: View) -> RunReply {
    let View { raw, most } = view;
    let text = safe(outcome["output"].as_str().unwrap_or_default().to_owned(), raw);
    let most = most.unwrap_or(MOST_CHARACTERS).clamp(1, MOST_ASKED);
    let mut block = outcome["block"].as_u64();
    let mut hint = String::new();
    if let Some(number) = block.filter(|_| is_longer(&text, most)) {
        // What was longer than the history is there no more.
        let params = json!({"id": pane, "block": number, "max_lines": 1});
        match ask.method::<Value>("block.get", params).await {
            Ok(_) => hint = format!("; block {number} has them"),
            Err(_) => block = None,
        }
    }
    let (output, clipped) = clipped(text, most, &hint);
    RunReply {
        pane,
        ended: true,
        output: Some(output),
        exit_code: outcome["exit_code"].as_i64(),
        exit_source: outcome["exit_source"].as_str().map(str::to_owned),
        interrupted: outcome["interrupted"] == true,
        reason: outcome["reason"].as_str().map(str::to_owned),
        clipped,
        truncated: outcome["truncated"] == true,
        block,
        untrusted: &["output"],
        ..RunReply::default()
    }
}

/// What is said of a command that still runs.
async fn running(ask: &Ask<'_>, job: &Job) -> Said<RunReply> {
    let (state, text) = screen::state(ask, job.pane).await?;
    Ok(RunReply {
        pane: job.pane,
        handle: Some(job.tell_handle()),
        awaiting_secret: state["awaiting_secret"] == true,
        screen: Some(text),
        untrusted: &["screen"],
        ..RunReply::default()
    })
}

tool! {
    Run "run" "Run a command" Acts
    "Run a command in a pane's shell, wait for its end and get its output and exit code. The shell is the person's own and stays: directories and variables last. Refused, and nothing typed, while a program would read it or a line stands at the prompt."
    (ask, arguments: RunArguments) -> RunReply {
        let RunArguments { command, pane, timeout_ms, max_chars, raw } = arguments;
        let pane = ask.pane(pane).await?;
        let within = slice(timeout_ms);
        let state: Value = ask.method("session.status", json!({"id": pane})).await?;
        let params = json!({"id": pane, "command": command, "timeout_ms": WEEK});
        let job = ask.begin("run", pane, "exec.run_wait", params)?;
        let _asking = Asking(&ask.server.jobs, &job);
        // Who asks for a password gets no answer before the person has heard of it.
        let secret = json!({"id": pane, "any": [{"secret": true}], "timeout_ms": WEEK});
        let outcome = tokio::select! {
            biased;
            outcome = ask.finish(&job, within) => outcome,
            // One that is asked for already is refused as an answer.
            Ok(Value::Object(_)) = ask.method("session.watch", secret), if state["awaiting_secret"] == false => None,
        };
        match outcome {
            Some(outcome) => {
                ask.server.jobs.forget(&job);
                let view = View { raw: raw == Some(true), most: max_chars };
                Ok(ended(ask, pane, &outcome?, view).await.into())
            }
            None => Ok(running(ask, &job).await?.into()),
        }
    }
}

/// One thing to wait for: exactly one of these.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// A line that changed holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// A line that changed matches this regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    regex: Option<String>,
    /// Nothing has changed for so many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable_ms: Option<u64>,
    /// true: the program has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<bool>,
    /// true: the shell waits at its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<bool>,
    /// true: a command has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    command_done: Option<bool>,
    /// true: the bell rang.
    #[serde(skip_serializing_if = "Option::is_none")]
    bell: Option<bool>,
    /// The title holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// true: the program asks for a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitArguments {
    /// What an earlier call gave, to go on waiting for that; nothing else is needed then.
    handle: Option<String>,
    /// The pane; not needed when there is only one.
    pane: Option<u64>,
    /// Conditions of which one has to be true.
    any: Option<Vec<Condition>>,
    /// Conditions that have to be true all, each at some time.
    all: Option<Vec<Condition>>,
    /// Only what came after this `seq` of the pane counts. Absent: what is on the screen already counts too.
    since_seq: Option<u64>,
    /// How long this call waits, in milliseconds; 50,000, which is the most.
    timeout_ms: Option<u64>,
    /// For a handle of run, as there: the most characters of output.
    max_chars: Option<usize>,
    /// For a handle of run, as there: characters that nobody sees as they are.
    raw: Option<bool>,
}

/// A condition that came true.
#[derive(Serialize, JsonSchema)]
pub struct Met {
    /// Its place in the list, from 0.
    index: u64,
    /// The line, or the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The command that ended, for `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// The shell's own word; false: a program said so of a command of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    authentic: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct WaitReply {
    pane: u64,
    /// What was waited for has come.
    matched: bool,
    /// For another call, to go on waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    /// Which conditions are true.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Met>,
    /// A since_seq for what comes after.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// What came of the command, for a handle of `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunReply>,
    untrusted: Untrusted,
}

/// What a [`Condition`] may be, for the model.
const CONDITIONS: &str =
    "text, regex, stable_ms, exit, prompt, command_done, bell, title or secret";

/// The conditions of a wait, as `session.watch` takes them; `prefix`: what the arguments' names begin with.
///
/// # Errors
/// There are none, or one of them is not exactly one thing; for the model.
pub fn watched(
    pane: u64,
    prefix: &str,
    any: Option<Vec<Condition>>,
    all: Option<Vec<Condition>>,
    since_seq: Option<u64>,
) -> Said<Value> {
    if any.is_some() && all.is_some() {
        return Err(format!("Give {prefix}any or {prefix}all, not both"));
    }
    for (name, conditions) in [("any", &any), ("all", &all)] {
        if conditions.as_ref().is_some_and(Vec::is_empty) {
            return Err(format!("{prefix}{name} has to have a condition: one of {CONDITIONS}"));
        }
        let given = json!(conditions);
        let is_one =
            |condition: &&Value| condition.as_object().map(serde_json::Map::len) == Some(1);
        if let Some(wrong) = given.as_array().into_iter().flatten().find(|it| !is_one(it)) {
            return Err(format!(
                "Each condition of {prefix}{name} must be exactly one of {CONDITIONS}, got {wrong}"
            ));
        }
    }
    let mut params = json!({"id": pane, "timeout_ms": WEEK});
    let given = [("any", json!(any)), ("all", json!(all)), ("since_seq", json!(since_seq))];
    add_given(&mut params, given);
    Ok(params)
}

/// Goes on with a wait or a command for one more slice.
pub async fn go_on(ask: &Ask<'_>, job: &Job, within: Duration, view: View) -> Said<WaitReply> {
    let _asking = Asking(&ask.server.jobs, job);
    let outcome = ask.finish(job, within).await;
    let mut reply = WaitReply {
        pane: job.pane,
        matched: outcome.is_some(),
        handle: outcome.is_none().then(|| job.tell_handle()),
        conditions: Vec::new(),
        seq: None,
        run: None,
        untrusted: &["text"],
    };
    if outcome.is_some() {
        ask.server.jobs.forget(job);
    }
    match (job.tool, outcome.transpose()?) {
        ("run", Some(outcome)) => {
            reply.run = Some(ended(ask, job.pane, &outcome, view).await);
        }
        ("run", None) => reply.run = Some(running(ask, job).await?),
        (_, Some(outcome)) => {
            let met = outcome["conditions"].as_array().into_iter().flatten().map(|met| Met {
                index: met["index"].as_u64().unwrap_or_default(),
                text: met["text"].as_str().map(line),
                block: met["block"].as_u64(),
                exit_code: met["exit_code"].as_i64(),
                authentic: met["authentic"].as_bool(),
            });
            reply.conditions = met.collect();
            reply.seq = outcome["seq"].as_u64();
            reply.matched = outcome["matched"] == true;
        }
        (_, None) => {}
    }
    Ok(reply)
}

tool! {
    Wait "wait" "Wait" Looks
    "Wait until a pane shows or does something, or until what a handle stands for has ended. Returns at the latest after 50 seconds, then with a handle to call again with."
    (ask, arguments: WaitArguments) -> WaitReply {
        let WaitArguments { handle, pane, any, all, since_seq, timeout_ms, max_chars, raw } =
            arguments;
        let within = slice(timeout_ms);
        let view = View { raw: raw == Some(true), most: max_chars };
        if let Some(handle) = handle {
            let job = ask.server.jobs.find(ask.caller.connection, &handle);
            let job = job.ok_or("There is no such handle: what it stood for was told, or never began")?;
            return Ok(go_on(ask, &job, within, view).await?.into());
        }
        if any.is_none() && all.is_none() {
            return Err("Say in any or all what to wait for, or give a handle to go on waiting".to_owned());
        }
        let pane = ask.pane(pane).await?;
        let params = watched(pane, "", any, all, since_seq)?;
        let job = ask.begin("wait", pane, "session.watch", params)?;
        Ok(go_on(ask, &job, within, view).await?.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_conditions_that_are_named_are_those_there_are() {
        let schema = schemars::schema_for!(Condition).to_value();
        let there: BTreeSet<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let named = CONDITIONS.split(", ").flat_map(|names| names.split(" or ")).collect();
        assert_eq!(there, named);
    }
}
