//! `session.audit_log`: the calls that callers made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, Context, Group, Method, Result, Subjects, params::Arg};

pub use crate::services::records::audit::Entry;

/// `session.audit_log`.
pub struct Log;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct LogParams<'a> {
    /// The maximum number of entries to return. Default: 50.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub limit: Arg<'a, u64>,
    /// Only entries about this session.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub session_id: Arg<'a, String>,
    /// The session's number. Use it instead of `session_id`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub id: Arg<'a, u64>,
}

impl Method for Log {
    const NAME: &'static str = "session.audit_log";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::DRIVERS;
    const DOC: &'static str =
        "Lists the last calls that change something, newest first: done, refused or failed.";
    type Params<'a> = LogParams<'a>;
    type Reply = Vec<Entry>;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: LogParams<'a>,
    ) -> Result<Vec<Entry>> {
        let limit = params.limit.number("limit", 0..=u64::MAX)?.unwrap_or(50);
        let session = match params.session_id.text("session_id") {
            Ok(text) => text.map(std::borrow::Cow::into_owned),
            // The session may also be given as a number.
            Err(error) => match params.session_id.value::<u64>("session_id", "a session") {
                Ok(id) => id.map(|id| id.to_string()),
                Err(_) => return Err(error),
            },
        };
        let session = match session {
            Some(session) => Some(session),
            None => params.id.number("id", 0..=u64::MAX)?.map(|id| id.to_string()),
        };
        Ok(context
            .records
            .audit
            .last(usize::try_from(limit).unwrap_or(usize::MAX), session.as_deref()))
    }
}
