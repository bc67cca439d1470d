//! `selftest.run`: whether this instance does what it should, by its own methods.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word, find,
    params::{Arg, Target},
};

use crate::authority::check_scope;

/// `selftest.run`.
pub struct Run;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct RunParams<'a> {
    /// A session to check too.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub session_id: Arg<'a, String>,
    /// The same as a number.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub id: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RunReply {
    /// Every check is ok.
    pub ok: bool,
    pub checks: Vec<Check>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Check {
    pub name: Word,
    pub ok: bool,
    /// The method's whole reply, or `{error}`.
    pub detail: Value,
}

/// What is asked of the instance, with its parameters.
const CHECKS: [(&str, &str); 6] = [
    ("server.health", "{}"),
    ("server.capabilities", "{}"),
    ("policy.check", r#"{"command":"echo unterm"}"#),
    ("system.launch_admin", r#"{"dry_run":true}"#),
    ("proxy.status", "{}"),
    ("capture.window", "{}"),
];

/// What is asked of a session.
const SESSION: [&str; 4] =
    ["session.status", "screen.text", "screen.detect_errors", "session.recording_status"];

impl Method for Run {
    const NAME: &'static str = "selftest.run";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects =
        Subjects::INSTANCE.union(Subjects::SESSIONS).union(Subjects::RULES).union(Subjects::PROXY);
    const DOC: &'static str =
        "Asks this instance for what it can do, and says whether all is well.";
    type Params<'a> = RunParams<'a>;
    type Reply = RunReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: RunParams<'a>,
    ) -> Result<RunReply> {
        let panes = context.mux.panes().len();
        let mux = json!({"available": true, "pane_count": panes});
        let mut checks = vec![Check { name: "mux.available".into(), ok: true, detail: mux }];
        let target = Target::new(&params.id, &params.session_id);
        // One that is not there fails the checks of it.
        let own = target.given().map(|id| format!("{{\"id\":{id}}}"));
        let all = CHECKS.into_iter().map(|(name, params)| (name, params.to_owned()));
        let own = own.iter().flat_map(|params| SESSION.map(|name| (name, params.clone())));
        for (name, params) in all.chain(own) {
            let Some(entry) = find(name) else { continue };
            if name == "capture.window" && (panes == 0 || context.host.captures().is_none()) {
                continue;
            }
            let mut reply = Vec::new();
            let result = match check_scope(caller.scopes, entry.access, name) {
                Ok(()) => (entry.call)(context, caller, &params, &mut reply).await,
                refused => refused,
            };
            let detail = match &result {
                Ok(()) => serde_json::from_slice::<Box<RawValue>>(&reply)
                    .ok()
                    .and_then(|reply| serde_json::from_str(reply.get()).ok())
                    .unwrap_or_default(),
                Err(error) => json!({"error": error.to_string()}),
            };
            // Elsewhere than on Windows it has to be refused.
            let should_fail = name == "system.launch_admin" && !cfg!(windows);
            let is_healthy = name != "server.health" || detail["status"] == "ok";
            checks.push(Check {
                name: name.into(),
                ok: result.is_err() == should_fail && is_healthy,
                detail,
            });
        }
        Ok(RunReply { ok: checks.iter().all(|check| check.ok), checks })
    }
}
