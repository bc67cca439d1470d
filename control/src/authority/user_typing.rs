//! The user's keys. A caller that gives way to the user may not type while the user types: from a key press until the
//! user enters the line or, if there is no line, pauses.

use unterm_mux::Pane;

use super::step::{Authority, Decision, Input, Step};
use crate::{
    caller::{Caller, Capabilities},
    error::{Error, Result},
    services::people::user_typing::{Typing, typing},
};

pub fn decide(_: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    if !caller.has(Capabilities::GIVES_WAY) {
        return Decision::Allow;
    }
    match step {
        Step::Type(pane, Input::Bytes { .. } | Input::Command(_)) => give_way(pane).into(),
        // A lease is refused, because input of its holder would be typed after the text that the user has begun.
        Step::Keep(pane) => give_way(pane).into(),
        // The user pressed a key after the input was checked.
        Step::Compose { pane, touches, .. } if pane.touches() != *touches => {
            Decision::Deny(Error::UserTypes(pane.id().0))
        }
        _ => Decision::Allow,
    }
}

fn give_way(pane: &Pane) -> Result<()> {
    match typing(pane) {
        Some(Typing::Line(line)) => Err(Error::begun(pane.id().0, &line, true)),
        Some(Typing::Keys) => Err(Error::UserTypes(pane.id().0)),
        None => Ok(()),
    }
}
