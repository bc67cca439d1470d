//! `inbox.dismiss`, `inbox.snooze` and `inbox.restore`: hide entries of the inbox for good or for a time, and list them
//! again. The programs and their state stay unchanged.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::entries::all_entries;
use crate::{
    authority::Step,
    error::Error,
    methods::{Caller, Context, Group, Method, Result, Subjects, params::Arg},
};

/// The longest time for which an entry can be put aside, in milliseconds: a week.
const LONGEST: u64 = 7 * 24 * 3600 * 1000;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct KeyParams<'a> {
    /// The entry's `key`.
    #[serde(borrow)]
    pub key: Arg<'a, String>,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SnoozeParams<'a> {
    /// The entry's `key`.
    #[serde(borrow)]
    pub key: Arg<'a, String>,
    /// How long the entry stays away, in milliseconds; at most a week.
    #[serde(borrow)]
    pub duration_ms: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct AsideReply {
    /// Whether the entry is put aside now.
    pub aside: bool,
}

/// `inbox.dismiss`.
pub struct Dismiss;

impl Method for Dismiss {
    const NAME: &'static str = "inbox.dismiss";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::DIALOGS;
    const DOC: &'static str = "Removes an entry from the inbox until its question changes, is asked again or the session receives input. Does not answer the question.";
    const NAMED: &'static [&'static str] = &[];
    const DESCRIBED_BY: &'static [&'static str] = &["key"];
    type Params<'a> = KeyParams<'a>;
    type Reply = AsideReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: KeyParams<'a>,
    ) -> Result<AsideReply> {
        put(context, caller, &params.key, None).await
    }
}

/// `inbox.snooze`.
pub struct Snooze;

impl Method for Snooze {
    const NAME: &'static str = "inbox.snooze";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::DIALOGS;
    const DOC: &'static str = "Removes an entry from the inbox for a time, as inbox.dismiss does.";
    const NAMED: &'static [&'static str] = &[];
    const DESCRIBED_BY: &'static [&'static str] = &["key"];
    type Params<'a> = SnoozeParams<'a>;
    type Reply = AsideReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SnoozeParams<'a>,
    ) -> Result<AsideReply> {
        let time = params.duration_ms.number("duration_ms", 1..=LONGEST)?;
        let time = time.ok_or(Error::Missing("duration_ms"))?;
        put(context, caller, &params.key, Some(Duration::from_millis(time))).await
    }
}

/// `inbox.restore`.
pub struct Restore;

impl Method for Restore {
    const NAME: &'static str = "inbox.restore";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::DIALOGS;
    const DOC: &'static str = "Lists a dismissed or snoozed entry of the inbox again.";
    const NAMED: &'static [&'static str] = &[];
    const DESCRIBED_BY: &'static [&'static str] = &["key"];
    type Params<'a> = KeyParams<'a>;
    type Reply = AsideReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: KeyParams<'a>,
    ) -> Result<AsideReply> {
        let key = params.key.required("key")?;
        if context.panes.put_aside.restore(&key) {
            context.panes.hub.wake();
        }
        Ok(AsideReply { aside: false })
    }
}

/// Puts an entry aside.
///
/// # Errors
/// No entry has this key, or it is a question of the caller's own pane.
async fn put(
    context: &Context,
    caller: &Caller,
    key: &Arg<'_, String>,
    time: Option<Duration>,
) -> Result<AsideReply> {
    let key = key.required("key")?;
    let entries = all_entries(context).await?;
    let Some(entry) = entries.iter().find(|entry| entry.key == *key) else {
        let why = format!("No entry has the key {:.40?}: list the inbox again", &*key);
        return Err(Error::Failed(why));
    };
    if let Some(pane) = entry.session.and_then(|id| context.mux.pane(PaneId(id))) {
        let instance = context.registration.record();
        let step = Step::AnswerDialog { pane: &pane, instance: &instance.id };
        context.authority.decide(caller, &step)?;
    }
    context.panes.put_aside.put(&key, time);
    context.panes.hub.wake();
    Ok(AsideReply { aside: true })
}
