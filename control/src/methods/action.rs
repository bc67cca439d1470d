//! `action.*`: the actions that keys, menus and the palette run in the window. The app owns their table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
};
use crate::{
    authority::{audit::Detail, parameters::plain},
    error::{Denial, Error},
    host::{Acted, ActionInfo, Bounds, HostRequest},
};

/// `action.list`.
pub struct List;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    pub actions: Vec<ActionInfo>,
}

impl Method for List {
    const NAME: &'static str = "action.list";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::PREFERENCES;
    const DOC: &'static str = "Lists the window's actions, each with its key and argument.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        Ok(ListReply { actions: ask(context, HostRequest::Actions).await? })
    }
}

/// `action.run`.
pub struct Run;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct RunParams<'a> {
    /// The action's name, as in the configuration.
    #[serde(borrow)]
    pub name: Arg<'a, String>,
    /// The argument, for an action that takes one.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub argument: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RunReply {
    pub name: String,
    /// False: there was nothing to do, for example no pane in that direction.
    pub done: bool,
}

impl Method for Run {
    const NAME: &'static str = "action.run";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS.union(Subjects::PREFERENCES);
    const DOC: &'static str = "Performs an action of the window, as its key would. Rules and leases apply to text that the action types; an action to which they can't apply is refused.";
    const DESCRIBED_BY: &'static [&'static str] = &["name"];
    type Params<'a> = RunParams<'a>;
    type Reply = RunReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: RunParams<'a>,
    ) -> Result<RunReply> {
        let name = params.name.required("name")?.into_owned();
        let argument = params.argument.text("argument")?.map(std::borrow::Cow::into_owned);
        let panes = context.mux.panes();
        let leased = panes.iter().filter(|pane| context.authority.touch(caller, pane).is_err());
        let bounds = Bounds {
            rules: context.lines.policy.is_enabled(),
            leased: leased.map(|pane| pane.id()).collect(),
        };
        let request = |answer| HostRequest::Act { name: name.clone(), argument, bounds, answer };
        let done = match ask(context, request).await?.map_err(Error::Action)? {
            Acted::Done(done) => done,
            Acted::Refused(why) => return Err(Error::Denied(Denial::Other(why))),
            Acted::Types(typings) => {
                let mut done = false;
                for typing in typings {
                    if let Some(pane) = context.mux.pane(typing.pane) {
                        context.type_in(caller, &pane, &typing.bytes)?;
                        done = true;
                    }
                }
                done
            }
        };
        Ok(RunReply { name, done })
    }

    /// The argument may be typed into the focused session and other sessions, so the audit log must contain it together
    /// with the action's name.
    fn detail(context: &Context, params: &Map<String, Value>, usual: Detail) -> Detail {
        let argument = params.get("argument").map(plain).filter(|argument| !argument.is_empty());
        let Detail { text, is_secret } = usual;
        match argument {
            None => Detail { text, is_secret },
            Some(_) if context.may_hide_keys() => {
                Detail { text: format!("{text} (not shown)"), is_secret: true }
            }
            Some(argument) => Detail { text: format!("{text}: {argument}"), is_secret },
        }
    }
}

async fn ask<T>(
    context: &Context,
    request: impl FnOnce(oneshot::Sender<T>) -> HostRequest,
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    context.host.ask(request(answer));
    answered.await.map_err(|_| Error::NoWindow)
}
