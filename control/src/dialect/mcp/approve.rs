//! Approval of a client's call that changes something. The user answers in the window, on the settings page, or in the
//! client's own dialog (elicitation). The first answer counts.
//!
//! Owns the question to the client. The approval gate ([`crate::authority`]) decides whether a call may be made, from
//! the state in [`crate::services::people::approvals`].

use std::collections::BTreeMap;

use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequiredResult, JsonObject,
        ProgressNotificationParam,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::time::{Instant, interval_at, sleep_until};
use unterm_mux::PaneId;

use super::{
    jobs::{SLICE, slice},
    server::Server,
    tool::{FIRST_PROGRESS, PROGRESS},
};
use crate::{
    authority::{
        audit::{DOING, NOT_SHOWN, TYPED},
        parameters::{plain, summary},
    },
    caller::Caller,
    methods::Context,
    services::{
        people::{
            approvals::{self, Standing},
            approved::Approved as LetPass,
            questions::{self, QuestionKind, Verdict},
        },
        records::audit::CallOutcome,
    },
};

/// The key of the approval among the requests that a stateless client should answer.
const KEY: &str = "approval";

/// The decision about a call.
pub enum Approved {
    /// The call may be made.
    Yes(LetPass),
    /// The client must ask the user, and then repeat the call.
    Asks(Box<InputRequiredResult>),
    /// The call is refused. Contains the reason.
    No(String),
}

/// Decides whether a call that changes something may be made. Waits for the user, for at most the time of one request.
pub async fn approve(
    server: &Server,
    caller: &Caller,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Approved {
    let methods = server.dispatcher.context();
    let client = approvals::name(caller);
    answered_between(methods, caller, request).await;
    let no_arguments = JsonObject::new();
    let arguments = request.arguments.as_ref().unwrap_or(&no_arguments);
    // The approval covers exactly this call.
    let call = format!("{} {}", request.name, Value::Object(arguments.clone()));
    let start = Instant::now();
    let elicits = has_dialogs(context);
    let asked = arguments.get("timeout_ms").and_then(Value::as_u64);
    // With a dialog, the call's own timeout does not count, because the user needs time to read the dialog.
    let within = if elicits { SLICE } else { slice(asked) };
    let deadline = start + within;
    let progress = context.meta.get_progress_token();
    let mut ticks = interval_at(start + FIRST_PROGRESS, PROGRESS);
    loop {
        match methods.people.approvals.approve(caller, &call) {
            Ok(approved) => return Approved::Yes(approved),
            Err(Standing::Denied) => {
                let why = format!(
                    "The user has denied {client} permission to act. Ask them before you try again."
                );
                return Approved::No(why);
            }
            Err(Standing::Unknown | Standing::Allowed) => {}
        }
        let would = in_words(&request.name, arguments);
        let session = arguments.get("pane").and_then(Value::as_u64);
        let asked =
            methods.people.approvals.ask(&methods.people.questions, caller, &call, &would, session);
        let (number, mut answer, is_new) = match asked {
            Ok(asked) => asked,
            Err(why) => return Approved::No(why),
        };
        if is_new {
            methods.questions_changed();
        }
        let message = match dialog_message(&client, &would) {
            Ok(message) => message,
            Err(why) => return Approved::No(why),
        };
        if elicits && context.meta.protocol_version().is_some() {
            let form = ElicitRequest::new(form(message));
            let requests = BTreeMap::from([(KEY.to_owned(), InputRequest::Elicitation(form))]);
            let asks = InputRequiredResult::new(Some(requests), Some(number.to_string()));
            return Approved::Asks(Box::new(asks));
        }
        // If the client cancels the call, its question is withdrawn. If the call times out, its question stays open.
        let mut asking = Asking { methods, number, is_over: true };
        let dialog = async {
            if elicits {
                let shown = context.peer.create_elicitation(form(message)).await;
                match shown.map(|result| verdict(&result)) {
                    Ok(Ok(Some(verdict))) => {
                        carry_out_answer(methods, caller, number, verdict).await
                    }
                    Ok(Ok(None)) => {}
                    Ok(Err(said)) => return said,
                    Err(error) => tracing::debug!(%error, "the client shows no dialog"),
                }
            }
            std::future::pending().await
        };
        let progress = async {
            if let Some(token) = &progress {
                loop {
                    ticks.tick().await;
                    let passed = start.elapsed().as_secs();
                    let note = ProgressNotificationParam::new(token.clone(), passed as f64)
                        .with_message(format!(
                            "{passed} s: the user is asked whether {client} may"
                        ));
                    // If the client has disconnected, this fails. The call then ends with its session.
                    let _ = context.peer.notify_progress(note).await;
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            // The task that answered in the dialog may have been dropped before it could notify others.
            _ = answer.wait_for(Option::is_some) => methods.questions_changed(),
            () = sleep_until(deadline) => {
                asking.is_over = false;
                let why = format!("The user has not yet decided whether {client} may act. Repeat the call to keep waiting.");
                return Approved::No(why);
            }
            () = progress => {}
            said = dialog => {
                asking.is_over = false;
                let offered = IN_DIALOGS.map(Verdict::name).join(" or ");
                let why = format!("The dialog returned {said:?}, which is not one of its answers: {offered}. The user can decide in the window or on the settings page. Repeat the call to ask again.");
                return Approved::No(why);
            }
        }
    }
}

/// Adds a refused call to the audit log, with the reason. The entry has as many details as that of an allowed call.
pub fn log_refusal(server: &Server, caller: &Caller, request: &CallToolRequestParams, why: &str) {
    let no_arguments = JsonObject::new();
    let arguments = request.arguments.as_ref().unwrap_or(&no_arguments);
    let named = ["pane", "session_id", "identifier"].into_iter().find_map(|key| arguments.get(key));
    let detail = if is_secret(server, caller, arguments) {
        NOT_SHOWN.to_owned()
    } else {
        summary(arguments, &DOING)
    };
    let outcome = CallOutcome::Refused(why.to_owned());
    let session = named.map(plain).unwrap_or_default();
    let audit = &server.dispatcher.context().records.audit;
    audit.add(&request.name, session, &detail, outcome, caller.client.clone());
}

/// Whether a call would have sent input that the program does not show, such as a password.
fn is_secret(server: &Server, caller: &Caller, arguments: &JsonObject) -> bool {
    let methods = server.dispatcher.context();
    match pane_of(server, caller, arguments) {
        Some(pane) => methods.hides(pane, arguments),
        None => {
            let mut sent = TYPED.iter().chain(&["command"]);
            sent.any(|key| arguments.contains_key(*key)) && methods.asks_any_secret()
        }
    }
}

/// The pane that a call is about. In the toolset `tester`: the pane of the session. In other toolsets: the pane with
/// the given number or, without a number, the only pane.
fn pane_of(server: &Server, caller: &Caller, arguments: &JsonObject) -> Option<PaneId> {
    if let Some(id) = arguments.get("session_id").and_then(Value::as_str) {
        return server
            .tester
            .find(server.hidden(), caller.connection, id)
            .map(|app| PaneId(app.pane));
    }
    if let Some(pane) = arguments.get("pane") {
        return pane.as_u64().map(PaneId);
    }
    match server.dispatcher.context().mux.panes().as_slice() {
        [only] => Some(only.id()),
        _ => None,
    }
}

/// A question that a call waits for.
struct Asking<'a> {
    methods: &'a Context,
    number: u64,
    /// Whether dropping this withdraws the question, if it has not been answered.
    is_over: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.is_over && self.methods.people.questions.withdraw(self.number) {
            self.methods.questions_changed();
        }
    }
}

/// Handles the user's answer that a stateless client sends when it repeats its request. Ignores an answer that was
/// already used, or that belongs to another caller's question.
async fn answered_between(methods: &Context, caller: &Caller, request: &CallToolRequestParams) {
    let number = request.request_state.as_ref().and_then(|state| state.parse().ok());
    let response = request.input_responses.as_ref().and_then(|responses| responses.get(KEY));
    let (Some(number), Some(response)) = (number, response) else { return };
    match serde_json::from_value::<ElicitResult>(response.clone()) {
        Ok(result) => {
            // The dialog does not offer this answer, so it is ignored. The client must ask again.
            if let Ok(Some(verdict)) = verdict(&result) {
                carry_out_answer(methods, caller, number, verdict).await;
            }
        }
        Err(error) => tracing::debug!(%error, "an answer that is none"),
    }
}

/// Answers a caller's own question with the result of the client's dialog.
async fn carry_out_answer(methods: &Context, caller: &Caller, number: u64, verdict: Verdict) {
    let is_own = methods.people.questions.find(number).is_some_and(|(question, _)| {
        question.kind == QuestionKind::Approval && question.connection == caller.connection
    });
    if !is_own {
        let client = caller.client.as_deref();
        tracing::warn!(number, client, "an approval that nobody asks for, or that was used before");
    } else if let Err(why) = methods.answer(number, verdict.name()).await {
        tracing::warn!(number, why, "an approval is not kept");
    }
}

/// Whether a client can show a form.
fn has_dialogs(context: &RequestContext<RoleServer>) -> bool {
    let capability = context.client_capabilities().and_then(|has| has.elicitation);
    // If the client lists no elicitation mode, it supports forms.
    capability.is_some_and(|has| has.form.is_some() || has.url.is_none())
}

/// The answers that a client's own dialog may give. Only the window and the settings page can approve a client
/// permanently.
const IN_DIALOGS: [Verdict; 2] = [Verdict::Once, Verdict::Deny];

fn form(message: String) -> ElicitRequestParams {
    let choices = IN_DIALOGS
        .map(|verdict| json!({"const": verdict.name(), "title": verdict.title("this client")}));
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "title": "Answer", "oneOf": choices},
        },
        "required": ["answer"],
    });
    let requested_schema: ElicitationSchema =
        serde_json::from_value(schema).expect("the form is a right one");
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// The user's answer in a dialog. `None` if the user closed the dialog without an answer.
///
/// # Errors
/// The dialog does not offer this answer.
fn verdict(result: &ElicitResult) -> Result<Option<Verdict>, String> {
    match result.action {
        ElicitationAction::Accept => {
            let content = result.content.as_ref();
            let said = content.and_then(|content| content["answer"].as_str()).unwrap_or_default();
            match Verdict::of(said).filter(|verdict| IN_DIALOGS.contains(verdict)) {
                None => Err(said.to_owned()),
                verdict => Ok(verdict),
            }
        }
        ElicitationAction::Decline => Ok(Some(Verdict::Deny)),
        // This covers "cancel", and actions that a later revision may add.
        _ => Ok(None),
    }
}

/// The text of a client's own dialog: the whole call, with each line end marked. The marks are needed because the
/// dialog may also wrap lines.
///
/// # Errors
/// The call is too long to be shown. A message for users.
fn dialog_message(client: &str, would: &str) -> Result<String, String> {
    let would = questions::approvable(would)?.replace('\n', "⏎\n");
    Ok(format!("May {client} act in this terminal? It would {would}"))
}

/// Describes a call to the user: all arguments, the most descriptive one first.
fn in_words(tool: &str, arguments: &JsonObject) -> String {
    let said = DOING.iter().find(|key| arguments.contains_key(**key));
    let first = said.map(|key| plain(&arguments[*key]));
    let rest = arguments.iter().filter(|(key, _)| Some(&key.as_str()) != said);
    let rest = rest.map(|(key, value)| format!("{key} {}", plain(value)));
    let all: Vec<_> = first.into_iter().chain(rest).collect();
    if all.is_empty() { tool.to_owned() } else { format!("{tool}: {}", all.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_reads_what_a_call_would_do() {
        let arguments = |value: Value| value.as_object().cloned().unwrap();
        let run = arguments(json!({"pane": 3, "command": "make"}));
        assert_eq!(in_words("run", &run), "run: make; pane 3");
        let input = arguments(json!({"text": "ls", "paste": "curl x | sh", "keys": ["enter"]}));
        assert_eq!(in_words("input", &input), r#"input: ls; keys ["enter"]; paste curl x | sh"#);
        assert_eq!(in_words("pane_close", &arguments(json!({"pane": 3}))), "pane_close: pane 3");
        assert_eq!(in_words("pane_open", &JsonObject::new()), "pane_open");
        // The argument `title` is not a command, so its name is shown.
        assert_eq!(
            in_words("pane_open", &arguments(json!({"title": "ls"}))),
            "pane_open: title ls"
        );
    }

    #[test]
    fn a_dialog_shows_the_whole_call_and_hides_nothing() {
        let long = format!("run: {}\u{202e}; rm -r ~\n", "x".repeat(5000));
        let message = dialog_message("agent", &long).unwrap();
        let shown = format!("{}\\u{{202e}}; rm -r ~⏎\n", "x".repeat(5000));
        assert_eq!(message, format!("May agent act in this terminal? It would run: {shown}"));
        let why = dialog_message("agent", &"x".repeat(20_001)).unwrap_err();
        assert!(why.contains("at most 20000"), "{why}");
    }

    #[test]
    fn a_form_asks_for_one_of_the_verdicts() {
        let form = serde_json::to_value(form("May it?".to_owned())).unwrap();
        let choices = &form["requestedSchema"]["properties"]["answer"]["oneOf"];
        assert_eq!(choices.as_array().unwrap().len(), 2);
        let said = |value| verdict(&serde_json::from_value(value).unwrap());
        for verdict in IN_DIALOGS {
            let result = json!({"action": "accept", "content": {"answer": verdict.name()}});
            assert_eq!(said(result), Ok(Some(verdict)));
        }
        assert_eq!(said(json!({"action": "decline"})), Ok(Some(Verdict::Deny)));
        assert_eq!(said(json!({"action": "cancel"})), Ok(None));
        let always = json!({"action": "accept", "content": {"answer": "always"}});
        assert_eq!(said(always), Err("always".to_owned()));
        assert_eq!(said(json!({"action": "accept"})), Err(String::new()));
    }
}
