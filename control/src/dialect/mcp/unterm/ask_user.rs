//! The tool `request_human`: asks the user a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{run::of_another_tool, shown::line};
use crate::{
    dialect::mcp::{
        jobs::{Asking, Job, JobKind, WEEK},
        tool::{Ask, ToolResult, tool},
        untrusted::escaped,
    },
    methods::{
        approvals::{self, AskParams},
        params::SessionOnly,
        session::Status,
    },
    services::people::questions::{LONGEST, LONGEST_CHOICE, MOST_CHOICES},
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestArguments {
    /// One or two sentences.
    message: Option<String>,
    /// Up to nine answers; default: Done, Not now.
    choices: Option<Vec<String>>,
    /// The user may also type an answer.
    takes_text: Option<bool>,
    /// The pane that the question is about.
    pane: Option<u64>,
    /// The handle from an earlier call, to go on waiting.
    handle: Option<String>,
    /// The longest wait; default 50,000.
    timeout_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub struct RequestReply {
    /// False: no answer yet. Call again with the handle.
    answered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Where the user can see the question, if no window shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// The note that is returned if no window shows the question.
const ON_THE_PAGE: &str = "No window shows this; the user sees it only on the settings page, which `unterm-cli settings open` opens. \
    Tell them.";

/// The place where the user can see a question. Fails if there is none.
fn shown(ask: &Ask<'_>) -> ToolResult<Option<&'static str>> {
    let context = ask.server.dispatcher.context();
    if context.host.has_window() {
        Ok(None)
    } else if context.registration.record().http_port != 0 {
        Ok(Some(ON_THE_PAGE))
    } else {
        Err("Nobody can see the question: this Unterm has neither a window nor a settings page. Ask the user yourself.".to_owned())
    }
}

/// Refuses a text that is too long to be shown completely.
fn fits(what: &str, text: &str, most: usize) -> ToolResult<()> {
    let count = escaped(text).chars().count();
    if count > most {
        return Err(format!("{what} has {count} characters; {most} are shown at most"));
    }
    Ok(())
}

/// The job of an earlier question, if the arguments contain its handle. Otherwise, asks a new question.
async fn question(ask: &Ask<'_>, arguments: &RequestArguments) -> ToolResult<Job> {
    if let Some(handle) = &arguments.handle {
        let job = ask.server.jobs.find(ask.caller.connection, handle);
        return job.ok_or_else(|| {
            let handle = line(&format!("{handle:?}"));
            format!(
                "There is no handle {handle}: its answer was already returned, or nothing was asked"
            )
        });
    }
    let text = arguments.message.as_deref().filter(|text| !text.trim().is_empty());
    let text = text.ok_or("Give the question in `message`")?;
    fits("`message`", text, LONGEST)?;
    let choices = arguments.choices.as_deref().unwrap_or_default();
    if choices.len() > MOST_CHOICES {
        let count = choices.len();
        return Err(format!("`choices` has {count} of them; {MOST_CHOICES} are shown at most"));
    }
    for choice in choices {
        fits("One of `choices`", choice, LONGEST_CHOICE)?;
    }
    if let Some(pane) = arguments.pane {
        let pane = ask.pane(Some(pane)).await?;
        ask.call::<Status>(SessionOnly::of(pane)).await?;
    }
    let params = AskParams {
        text: text.into(),
        choices: arguments.choices.clone().into(),
        takes_text: arguments.takes_text.into(),
        session_id: arguments.pane.into(),
        timeout_ms: WEEK.into(),
    };
    let pane = arguments.pane.unwrap_or_default();
    Ok(ask.begin::<approvals::Ask>(JobKind::Question, pane, params)?.0)
}

tool! {
    RequestHuman "request_human" "Ask the user" Looks
    "Ask the user a question, or to do something such as type a password, and wait for the answer. Returns a handle if there is none in time."
    example r#"{"message": "Deploy to production?", "choices": ["Yes", "No"]}"#
    (ask, arguments: RequestArguments) -> RequestReply {
        let note = shown(ask)?;
        let job = question(ask, &arguments).await?;
        let _asking = Asking::new(&ask.server.jobs, &job);
        let within = ask.slice(arguments.timeout_ms);
        let answer = match &job.kind {
            JobKind::Question(pending) => {
                let outcome = ask.finish(&job, pending, within).await;
                outcome.map(|outcome| outcome.map(|reply| reply.answer))
            }
            JobKind::Run(_) | JobKind::Wait(_) => return Err(of_another_tool(&job)),
        };
        let Some(answer) = answer else {
            let handle = Some(job.send_handle());
            return Ok(RequestReply { answered: false, handle, answer: None, note }.into());
        };
        ask.server.jobs.forget(&job);
        let answer = answer?;
        if answer.is_none() {
            return Err("The user did not answer, and the question is closed".to_owned());
        }
        Ok(RequestReply { answered: true, handle: None, answer, note: None }.into())
    }
}
