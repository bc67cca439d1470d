//! Secret entry: what asks for a secret is answered by the person, and the secret is for nobody else to know. A caller that
//! gives way is refused; in doubt it has to look at the screen first.

use unterm_mux::Pane;

use super::step::{Authority, Decision, Input, Step};
use crate::{
    caller::{Caller, Capabilities},
    error::{Error, Result},
    services::secret::{self, Asked},
};

/// What ends a question and is no answer to it: Ctrl+C, Ctrl+D, Ctrl+Z, Ctrl+\.
const ENDING: [u8; 4] = [0x03, 0x04, 0x1a, 0x1c];

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let Step::Type(pane, input) = step else { return Decision::Allow };
    if !caller.has(Capabilities::GIVES_WAY) {
        return Decision::Allow;
    }
    match input {
        Input::Bytes { bytes, .. } if bytes.iter().all(|byte| ENDING.contains(byte)) => {
            Decision::Allow
        }
        Input::Bytes { has_looked, .. } => check(authority, pane, *has_looked).into(),
        Input::Command(_) => check(authority, pane, false).into(),
        Input::Variable(_) => Decision::Allow,
    }
}

fn check(authority: &Authority, pane: &Pane, has_looked: bool) -> Result<()> {
    let id = pane.id();
    match secret::asked(pane) {
        Asked::Yes => Err(Error::Secret(id.0)),
        // In a pane that no window can show, no person is asked.
        Asked::Maybe(why) if !has_looked && authority.mux.layout().tab_of(id).is_some() => {
            Err(Error::maybe_secret(id.0, &why))
        }
        Asked::Maybe(_) | Asked::No => Ok(()),
    }
}
