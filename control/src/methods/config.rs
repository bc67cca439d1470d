//! `config.*`: the preferences in `config.toml`. The app defines their meaning.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Caller, Context, Group, Method, Result, Subjects, params::Arg, session::blocking};
use crate::{caller::Access, error::Error, host::Preferences};

/// The app's preferences.
///
/// # Errors
/// The app has no preferences.
pub(crate) fn preferences(context: &Context) -> Result<Arc<dyn Preferences>> {
    let none = || Error::Failed("This instance has no preferences".to_owned());
    context.host.preferences().ok_or_else(none)
}

/// Placeholder for a value that only admin may read.
const HIDDEN: &str = "***";

/// Preferences without the values that a caller may not read. For example, environment variables contain API keys and
/// passwords of proxies.
pub(crate) fn shown_to(caller: &Caller, mut preferences: Value) -> Value {
    if !caller.scopes.allow(Access::Admin)
        && let Some(variables) = preferences.get_mut("env").and_then(Value::as_object_mut)
    {
        variables.values_mut().for_each(|value| *value = HIDDEN.into());
    }
    preferences
}

/// The value of a key, such as `font.size`. If `key` is `None`, all values.
fn find(all: Value, key: Option<&str>) -> Result<Value> {
    let Some(key) = key else { return Ok(all) };
    let found = key.split('.').try_fold(&all, |value, name| value.get(name));
    found.cloned().ok_or_else(|| Error::Failed(format!("Unknown key: {key}")))
}

/// `config.get`.
pub struct Get;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct GetParams<'a> {
    /// One key, such as `font.size`. Default: all.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub key: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct GetReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The key's value, or all values by section.
    pub value: Value,
}

impl Method for Get {
    const NAME: &'static str = "config.get";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::PREFERENCES;
    const DOC: &'static str = "Returns the preferences in force, or one of them.";
    type Params<'a> = GetParams<'a>;
    type Reply = GetReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: GetParams<'a>,
    ) -> Result<GetReply> {
        let key = params.key.text("key")?.map(std::borrow::Cow::into_owned);
        let preferences = preferences(context)?;
        let all = blocking(move || preferences.get()).await?.map_err(Error::Failed)?;
        Ok(GetReply { value: find(shown_to(caller, all), key.as_deref())?, key })
    }
}

/// `config.set`.
pub struct Set;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SetParams<'a> {
    /// The key, such as `font.size`.
    #[serde(borrow)]
    pub key: Arg<'a, String>,
    /// The key's new value.
    #[serde(borrow)]
    pub value: Arg<'a, Value>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SetReply {
    pub set: bool,
    pub key: String,
    /// The value in the file now.
    pub value: Value,
}

impl Method for Set {
    const NAME: &'static str = "config.set";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::PREFERENCES;
    const CHANGES: Subjects = Subjects::PREFERENCES;
    const DOC: &'static str = "Changes a preference in config.toml. Every window applies it.";
    // The log contains the key but not the value, because the value of a variable may be a secret.
    const DESCRIBED_BY: &'static [&'static str] = &["key"];
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
