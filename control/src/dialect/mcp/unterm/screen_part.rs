//! The part of a pane's screen that is new to a client: the changes since the client last saw the pane.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use unterm_mux::PaneId;
use unterm_term::ScreenKind;

use super::shown::{Cursor, shown};
use crate::{
    dialect::mcp::{
        last_seen::{Screen, ShownRows},
        rows::{fields, joined},
        tool::{Ask, ToolResult},
    },
    methods::{
        params::SessionOnly,
        screen::{Text, TextFields},
        session::{Status, StatusReply},
    },
    services::pane::wait::until_quiet,
};

/// The part of a reply that shows a screen.
#[derive(Default, Serialize, JsonSchema)]
pub struct ScreenPart {
    /// The whole screen. Absent: see changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
    /// The rows that changed since you last saw the pane, or else since the call, each as ROW: TEXT, from 0. All other
    /// rows are unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
    /// The number of rows that scrolled off the top since then; all others moved up.
    #[serde(skip_serializing_if = "Option::is_none")]
    scrolled: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Cursor>,
}

/// Reads a screen.
async fn text(ask: &Ask<'_>, pane: u64) -> ToolResult<TextFields> {
    fields(&ask.call::<Text>(SessionOnly::of(pane)).await?)
}

/// How often a screen is read again if it changes meanwhile.
const READS: usize = 4;

/// Reads a screen. Reads it again if it changed meanwhile, because its rows can be compared only if their position is
/// known.
async fn text_and_screen(ask: &Ask<'_>, pane: u64) -> ToolResult<(TextFields, Screen)> {
    let mut left = READS;
    loop {
        let text = text(ask, pane).await?;
        let screen = screen(ask, pane, &text);
        left -= 1;
        if screen.is_comparable() || left == 0 {
            return Ok((text, screen));
        }
    }
}

/// The screen in a reply of `screen.text`.
fn screen(ask: &Ask<'_>, pane: u64, text: &TextFields) -> Screen {
    let shown = ask.server.dispatcher.context().mux.pane(PaneId(pane));
    let place = shown.and_then(|pane| {
        let term = pane.term();
        let (is_alternate, top) = (term.screen() == ScreenKind::Alternate, term.live_top().0);
        (term.seq() == text.seq).then_some(ShownRows { is_alternate, top })
    });
    ask.server.last_seen.screen(text, place)
}

/// The screen that a client last saw of a pane. `None` if several agents may be behind the client, because each agent
/// saw a different screen.
pub fn last_seen(ask: &Ask<'_>, pane: u64) -> Option<Arc<Screen>> {
    if ask.is_shared { None } else { ask.server.last_seen.get(ask.caller.connection, pane) }
}

/// The screen that later changes of a pane are compared with: the screen that the client last saw. If it never saw the
/// pane, the current screen.
pub async fn before(ask: &Ask<'_>, pane: u64) -> ToolResult<Option<Arc<Screen>>> {
    match last_seen(ask, pane) {
        Some(seen) => Ok(Some(seen)),
        None => Ok(Some(Arc::new(text_and_screen(ask, pane).await?.1))),
    }
}

/// Records that the client has seen the current screen of a pane.
pub async fn seen(ask: &Ask<'_>, pane: u64) -> ToolResult<()> {
    let (_, screen) = text_and_screen(ask, pane).await?;
    ask.server.last_seen.set(ask.caller.connection, pane, Arc::new(screen));
    Ok(())
}

/// Records that the client sees this screen of a pane.
pub fn saw(ask: &Ask<'_>, pane: u64, text: &TextFields) {
    let screen = Arc::new(screen(ask, pane, text));
    ask.server.last_seen.set(ask.caller.connection, pane, screen);
}

/// Records that the client has opened a pane. The pane's screen was empty then.
pub fn opened(ask: &Ask<'_>, pane: u64, cols: u16, rows: u16) {
    let empty = Arc::new(Screen::empty(cols, rows));
    ask.server.last_seen.set(ask.caller.connection, pane, empty);
}

/// Returns a pane's state and the new part of its screen, after its program has drawn the screen. The new part is what
/// changed since the client last saw the pane or, if it never did, since `before`. If there is no `before` either, or
/// if `is_whole` is set, it is the whole screen.
pub async fn read_new(
    ask: &Ask<'_>,
    pane: u64,
    before: Option<Arc<Screen>>,
    is_whole: bool,
) -> ToolResult<(StatusReply, ScreenPart)> {
    if let Some(drawn) = ask.server.dispatcher.context().mux.pane(PaneId(pane)) {
        until_quiet(&drawn).await;
    }
    let state = ask.call::<Status>(SessionOnly::of(pane)).await?;
    let (text, now) = text_and_screen(ask, pane).await?;
    let before = last_seen(ask, pane).or(before).filter(|_| !is_whole);
    let now = Arc::new(now);
    ask.server.last_seen.set(ask.caller.connection, pane, now.clone());
    let changes = before.and_then(|before| now.changes_since(&before));
    let whole = joined(&text.lines, 0, usize::MAX);
    let mut part = ScreenPart {
        cursor: Some(Cursor { row: text.cursor.y.into(), col: text.cursor.x.into() }),
        ..ScreenPart::default()
    };
    if let Some(changes) = changes {
        let changed = changes.text(&text.lines);
        // If the whole screen is not longer than the changes, the whole screen is returned, because it is clearer.
        if changed.is_empty() || changed.len() < whole.len() {
            part.scrolled = Some(changes.scrolled).filter(|rows| *rows > 0);
            part.changed = Some(shown(changed, false, "").0);
            return Ok((state, part));
        }
    }
    part.screen = Some(shown(whole, false, "").0);
    Ok((state, part))
}
