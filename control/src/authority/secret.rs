//! Requests for secrets. Only the user may answer such a request, and no one else may see the secret. If a program asks
//! for a secret, callers that give way to the user are refused. If that is uncertain, such a caller must look at the
//! screen first.

use unterm_mux::Pane;

use super::step::{Authority, Decision, Input, Step};
use crate::{
    caller::{Caller, Capabilities},
    error::{Error, Result},
    services::shell::secret::{self, SecretDetection},
};

/// Keys that end a request and can't be part of an answer: Ctrl+C, Ctrl+D, Ctrl+Z, Ctrl+\.
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
        SecretDetection::Yes => Err(Error::Secret(id.0)),
        // If the pane is in no tab, the caller is not refused: no window can show the pane, so the user could not
        // answer.
        SecretDetection::Maybe(why)
            if !has_looked && authority.mux.layout().tab_of(id).is_some() =>
        {
            Err(Error::maybe_secret(id.0, &why))
        }
        SecretDetection::Maybe(_) | SecretDetection::No => Ok(()),
    }
}
