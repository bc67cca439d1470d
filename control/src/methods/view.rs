//! `screen.follow`: a live view of a session.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{Caller, Context, Group, Method, Result, Subjects, params::session_params};
use crate::{
    error::Error,
    services::pane::viewers::{Viewed, ViewerReply},
};

/// `screen.follow`.
pub struct Follow;

session_params! {
    /// A session, and the view to continue.
    FollowParams {
        /// Continues the view that an earlier reply named. Default: a new view, which begins with the screen.
        #[serde(default)]
        view: u64,
        /// Returns the whole screen again. Default: false.
        #[serde(default)]
        anew: bool,
        /// Waits up to this many milliseconds for more output. Default: 0.
        #[serde(default)]
        wait_ms: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct FollowReply {
    /// The view's number. Pass it as `view` in the next call. The view ends if it is not continued within 30 seconds.
    pub view: u64,
    /// Whether the bytes rebuild the whole screen, in a new terminal of this size. False: they continue the bytes of earlier
    /// replies.
    pub screen: bool,
    /// The terminal's columns.
    pub cols: u16,
    /// The terminal's rows.
    pub rows: u16,
    /// Bytes to feed to a terminal, in base64. Discard all replies of that terminal.
    pub base64: String,
    /// How many bytes of output were left out before this screen, because the caller did not read them in time.
    pub lost: u64,
    /// Whether no more output follows, because the program has ended.
    pub ended: bool,
}

/// The maximum time to wait for output, in milliseconds.
const LONGEST_WAIT: u64 = 30_000;

impl Method for Follow {
    const NAME: &'static str = "screen.follow";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Shows a session live. The first reply has bytes that rebuild its screen. Later replies have its output, or the whole screen again after a resize or if the caller falls behind.";
    type Params<'a> = FollowParams<'a>;
    type Reply = FollowReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: FollowParams<'a>,
    ) -> Result<FollowReply> {
        let pane = context.pane(params.target())?;
        let view = params.view.number("view", 0..=u64::MAX)?;
        let wait = params.wait_ms.number("wait_ms", 0..=LONGEST_WAIT)?.unwrap_or(0);
        let seen = match view {
            None => context.panes.viewers.start(&pane, caller.token).ok_or_else(|| {
                Error::Failed(
                    "This token has too many views open; each ends 30 seconds after its last call"
                        .to_owned(),
                )
            })?,
            Some(view) => {
                let deadline = Instant::now() + Duration::from_millis(wait);
                let anew = params.anew.is_set("anew")?;
                let of = Viewed { view, token: caller.token, anew };
                let next = context.panes.viewers.next(&pane, of, deadline).await;
                next.ok_or_else(|| {
                    Error::Failed(format!(
                        "Session {} has no view {view}; omit `view` to start one",
                        pane.id().0
                    ))
                })?
            }
        };
        let ViewerReply { view, is_screen, size, bytes, lost, has_ended } = seen;
        Ok(FollowReply {
            view,
            screen: is_screen,
            cols: size.cols,
            rows: size.rows,
            base64: STANDARD.encode(bytes),
            lost,
            ended: has_ended,
        })
    }
}
