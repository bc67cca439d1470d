//! `selftest.run`: checks this instance by calling its own methods.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word, capture,
    method::{Entry, entry},
    params::{Arg, Target},
    policy, proxy, recording, screen, server, session, system,
};
use crate::authority::check_scope;

/// `selftest.run`.
pub struct Run;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct RunParams<'a> {
    /// A session to check too.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub session_id: Arg<'a, String>,
    /// The session's number, instead of `session_id`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub id: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RunReply {
    /// Whether every check succeeded.
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

/// The methods that check the instance, with their parameters.
static CHECKS: [(Entry, &str); 6] = [
    (entry::<server::Health>(), "{}"),
    (entry::<server::Capabilities>(), "{}"),
    (entry::<policy::Check>(), r#"{"command":"echo unterm"}"#),
    (entry::<system::LaunchAdmin>(), r#"{"dry_run":true}"#),
    (entry::<proxy::Status>(), "{}"),
    (entry::<capture::Window>(), "{}"),
];

/// The methods that check a session.
static SESSION: [Entry; 4] = [
    entry::<session::Status>(),
    entry::<screen::Text>(),
    entry::<screen::DetectErrors>(),
    entry::<recording::Status>(),
];

impl Method for Run {
    const NAME: &'static str = "selftest.run";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects =
        Subjects::INSTANCE.union(Subjects::SESSIONS).union(Subjects::RULES).union(Subjects::PROXY);
    const DOC: &'static str = "Calls this instance's own methods and reports which of them work.";
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
        // If the session does not exist, its checks fail.
        let own = target.given().map(|id| format!("{{\"{}\":{id}}}", target.name()));
        let mut asked: Vec<(&'static Entry, &str)> =
            CHECKS.iter().map(|(entry, params)| (entry, *params)).collect();
        if let Some(params) = &own {
            asked.extend(SESSION.iter().map(|entry| (entry, params.as_str())));
        }
        for (entry, params) in asked {
            let name = entry.name;
            if name == "capture.window" && (panes == 0 || context.host.captures().is_none()) {
                continue;
            }
            let mut reply = Vec::new();
            let result = match check_scope(caller.scopes, entry.access, name) {
                Ok(()) => entry.call(context, caller, params, &mut reply).await,
                refused => refused,
            };
            let detail = match &result {
                Ok(()) => serde_json::from_slice::<Box<RawValue>>(&reply)
                    .ok()
                    .and_then(|reply| serde_json::from_str(reply.get()).ok())
                    .unwrap_or_default(),
                Err(error) => json!({"error": error.to_string()}),
            };
            // On systems other than Windows, this method must fail.
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
