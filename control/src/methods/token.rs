//! `token.*`: tokens for agents, with fewer rights than the instance's own token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
    session::blocking,
};
use crate::error::Error;

pub use crate::services::people::tokens::{Scope, Token};

/// The maximum number of characters of a name.
const LONGEST: usize = 100;

/// `token.create`.
pub struct Create;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct CreateParams<'a> {
    /// A name that describes the token's purpose.
    #[serde(borrow)]
    pub name: Arg<'a, String>,
    /// `read`, `act` (includes read) or `admin` (everything). Default: act.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub scope: Arg<'a, Scope>,
    /// The sessions that the token reaches. Default: all.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub panes: Arg<'a, Vec<u64>>,
    /// When the token expires, in seconds from now. Default: never.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub expires_in_seconds: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CreateReply {
    /// The token. No later call returns it.
    pub token: String,
    #[serde(flatten)]
    pub about: Token,
}

impl Method for Create {
    const NAME: &'static str = "token.create";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::KEYS;
    const CHANGES: Subjects = Subjects::RIGHTS;
    const DOC: &'static str =
        "Creates a token for an agent. Every instance accepts it instead of its own token.";
    const DESCRIBED_BY: &'static [&'static str] = &["name"];
    type Params<'a> = CreateParams<'a>;
    type Reply = CreateReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: CreateParams<'a>,
    ) -> Result<CreateReply> {
        let name: String = params.name.required("name")?.chars().take(LONGEST).collect();
        let scope = params.scope.value("scope", "read, act or admin")?.unwrap_or(Scope::Act);
        let panes: Option<Vec<u64>> = params.panes.value("panes", "a list of sessions' numbers")?;
        let seconds = params.expires_in_seconds.number("expires_in_seconds", 1..=u64::MAX)?;
        let tokens = context.people.tokens.clone();
        let made = blocking(move || tokens.create(&name, scope, panes, seconds)).await?;
        let (about, token) = made.map_err(Error::Failed)?;
        Ok(CreateReply { token, about })
    }
}

/// `token.list`.
pub struct List;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    /// The tokens that have not expired, oldest first.
    pub tokens: Vec<Token>,
}

impl Method for List {
    const NAME: &'static str = "token.list";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::RIGHTS;
    const DOC: &'static str = "Lists the tokens for agents, without their secrets.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        let tokens = context.people.tokens.clone();
        let tokens = blocking(move || tokens.list()).await?.map_err(Error::Failed)?;
        Ok(ListReply { tokens })
    }
}

/// `token.revoke`.
pub struct Revoke;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct RevokeParams<'a> {
    /// The token's number.
    #[serde(borrow)]
    pub number: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RevokeReply {
    /// False: there is no token with this number.
    pub revoked: bool,
}

impl Method for Revoke {
    const NAME: &'static str = "token.revoke";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::RIGHTS;
    const DOC: &'static str =
        "Revokes a token for an agent. Connections that use it lose all access.";
    type Params<'a> = RevokeParams<'a>;
    type Reply = RevokeReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: RevokeParams<'a>,
    ) -> Result<RevokeReply> {
        let number = params.number.number("number", 0..=u64::MAX)?;
        let number = number.ok_or(Error::Missing("number"))?;
        let tokens = context.people.tokens.clone();
        let revoked = blocking(move || tokens.revoke(number)).await?;
        Ok(RevokeReply { revoked: revoked.map_err(Error::Failed)? })
    }
}
