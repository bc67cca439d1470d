//! `config.*`: the preferences, as `config.toml` says them. What they mean is the app's business.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Access, Caller, Context, Group, Method, Result, params::Arg, session::blocking};
use crate::{error::Error, host::Preferences};

/// The preferences, where the app has any.
pub(crate) fn preferences(context: &Context) -> Result<Arc<dyn Preferences>> {
    let none = || Error::Failed("This instance has no preferences".to_owned());
    context.host.preferences().ok_or_else(none)
}

/// The value of a key, `font.size` for that of a section; the whole without one.
fn find(all: Value, key: Option<&str>) -> Result<Value> {
    let Some(key) = key else { return Ok(all) };
    let found = key.split('.').try_fold(&all, |value, name| value.get(name));
    found.cloned().ok_or_else(|| Error::Failed(format!("Unknown key: {key}")))
}

/// `config.get`.
pub struct Get;

#[derive(Deserialize, JsonSchema)]
pub struct GetParams<'a> {
    /// One key, such as `font.size`; all if absent.
    #[serde(borrow, default)]
    key: Arg<'a, String>,
}

#[derive(Serialize, JsonSchema)]
pub struct GetReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Its value, or all of them by their sections.
    value: Value,
}

impl Method for Get {
    const NAME: &'static str = "config.get";
    const GROUP: Group = Group::Governance;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "The preferences in force, or one of them.";
    type Params<'a> = GetParams<'a>;
    type Reply = GetReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: GetParams<'a>,
    ) -> Result<GetReply> {
        let key = params.key.text("key")?.map(std::borrow::Cow::into_owned);
        let preferences = preferences(context)?;
        let all = blocking(move || preferences.get()).await?.map_err(Error::Failed)?;
        Ok(GetReply { value: find(all, key.as_deref())?, key })
    }
}

/// `config.set`.
pub struct Set;

#[derive(Deserialize, JsonSchema)]
pub struct SetParams<'a> {
    /// The key, such as `font.size`.
    #[serde(borrow)]
    key: Arg<'a, String>,
    /// Its value from now on.
    #[serde(borrow)]
    value: Arg<'a, Value>,
}

#[derive(Serialize, JsonSchema)]
pub struct SetReply {
    set: bool,
    key: String,
    /// As it is in the file now.
    value: Value,
}

impl Method for Set {
    const NAME: &'static str = "config.set";
    const GROUP: Group = Group::Governance;
    const ACCESS: Access = Access::Admin;
    const DOC: &'static str =
        "Changes a preference in config.toml, which every window then follows.";
    type Params<'a> = SetParams<'a>;
    type Reply = SetReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SetParams<'a>,
    ) -> Result<SetReply> {
        let key = params.key.required("key")?.into_owned();
        let value = params.value.value::<Value>("value", "a value")?;
        let value = value.ok_or(Error::Missing("value"))?;
        let preferences = preferences(context)?;
        let work = move || {
            preferences.set(&key, &value)?;
            Ok((preferences.get()?, key))
        };
        let (all, key) = blocking(work).await?.map_err(Error::Failed)?;
        Ok(SetReply { set: true, value: find(all, Some(&key))?, key })
    }
}
