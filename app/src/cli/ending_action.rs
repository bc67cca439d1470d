//! Actions that end their instance, such as `detach`. The instance may end before it has answered.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::Error as AnyError;
use serde_json::Value;
use unterm_control::{
    Error,
    client::{Client, ClientError, Endpoint},
    methods::{Method, action},
};

use super::call::Call;

/// The actions of the window that end its instance. After `restart`, another program answers in its place.
const ENDING: [&str; 2] = ["close_window", "detach"];

/// The longest time to wait for the end of an instance that has closed a connection.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether an instance that has closed a connection still accepts others.
pub(super) fn still_answers(endpoint: &Endpoint) -> bool {
    let until = Instant::now() + PATIENCE;
    while Client::connect_to(endpoint).is_ok() {
        if Instant::now() > until {
            return true;
        }
        thread::sleep(PAUSE);
    }
    false
}

/// The reply to an action that ended its instance, if the connection was lost before the reply arrived. `answers`:
/// whether the instance still answers, so that the connection was lost for another reason.
pub(super) fn reply(
    call: &Call,
    error: &AnyError,
    answers: impl FnOnce() -> bool,
) -> Option<Value> {
    let lost = match error.downcast_ref() {
        Some(Error::Remote(lost)) => Some(lost),
        _ => error.downcast_ref::<ClientError>(),
    };
    let is_lost = matches!(lost, Some(ClientError::Io(_)));
    let name = call.params()["name"].as_str().filter(|_| call.method() == action::Run::NAME)?;
    let reply = action::RunReply { name: name.to_owned(), done: true };
    let is_reply = is_lost && ENDING.contains(&name) && !answers();
    is_reply.then(|| serde_json::to_value(reply).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::json;

    use super::*;
    use crate::{action::ACTIONS, cli::show};

    #[test]
    fn a_lost_connection_ends_an_action_that_ends_the_window() {
        let lost = || AnyError::from(Error::from(ClientError::Io(io::Error::other("closed"))));
        let call = |name: &str| {
            let params = action::RunParams { name: name.into(), ..action::RunParams::default() };
            Call::of::<action::Run>(params).unwrap()
        };
        for name in ENDING {
            assert!(ACTIONS.iter().any(|entry| entry.name == name), "{name}");
            let given = reply(&call(name), &lost(), || false);
            assert_eq!(given, Some(json!({"name": name, "done": true})));
            // The command line prints it as any other reply.
            let shown = show::reply(action::Run::NAME, &given.unwrap());
            assert_eq!((shown.complaint, shown.note), (None, None));
            assert_eq!(reply(&call(name), &lost(), || true), None, "the instance still runs");
        }
        assert_eq!(reply(&call("new_tab"), &lost(), || false), None);
        let refused = ClientError::Call {
            method: "action.run".to_owned(),
            code: -32603,
            message: "no".to_owned(),
        };
        assert_eq!(reply(&call("detach"), &refused.into(), || false), None);
    }
}
