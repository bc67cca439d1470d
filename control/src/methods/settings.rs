//! `settings.*`: the page that shows the preferences. What it shows is `wire::http`'s.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Access, Caller, Context, Group, Method, Result, params::NoParams};
use crate::{error::Error, services::door::CODE_LIFE};

/// `settings.open`.
pub struct Open;

#[derive(Serialize, JsonSchema)]
pub struct OpenReply {
    /// An address that opens the page once.
    url: String,
    /// How long it does.
    expires_in_seconds: u64,
}

impl Method for Open {
    const NAME: &'static str = "settings.open";
    const GROUP: Group = Group::Governance;
    const ACCESS: Access = Access::Admin;
    const DOC: &'static str =
        "Makes an address with a single-use code that opens the settings page in a browser.";
    const FOR_PEOPLE: bool = true;
    type Params<'a> = NoParams;
    type Reply = OpenReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<OpenReply> {
        let url = context.door.link().map_err(Error::Failed)?;
        Ok(OpenReply { url, expires_in_seconds: CODE_LIFE.as_secs() })
    }
}
