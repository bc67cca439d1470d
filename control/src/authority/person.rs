//! The person's keys: a caller that gives way does not type beside them, from their key until they enter the line, or pause
//! where they left none.

use unterm_mux::Pane;

use super::step::{Authority, Decision, Input, Step};
use crate::{
    caller::{Caller, Capabilities},
    error::{Error, Result},
    services::person::{self, Typing},
};

pub fn decide(_: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    if !caller.has(Capabilities::GIVES_WAY) {
        return Decision::Allow;
    }
    match step {
        Step::Type(pane, Input::Bytes { .. } | Input::Command(_)) => give_way(pane).into(),
        // What it typed would come behind what they have begun.
        Step::Keep(pane) => give_way(pane).into(),
        // They pressed a key since the input was looked at.
        Step::Compose { pane, touches, .. } if pane.touches() != *touches => {
            Decision::Deny(Error::PersonTypes(pane.id().0))
        }
        _ => Decision::Allow,
    }
}

fn give_way(pane: &Pane) -> Result<()> {
    match person::typing(pane) {
        Some(Typing::Line(line)) => Err(Error::begun(pane.id().0, &line, true)),
        Some(Typing::Keys) => Err(Error::PersonTypes(pane.id().0)),
        None => Ok(()),
    }
}
