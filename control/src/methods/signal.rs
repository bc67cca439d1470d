//! Signals. `signal.send` types control characters, which the terminal's line discipline or the program turns into
//! signals. `session.signal` sends any signal to the foreground process group.

use std::io::ErrorKind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::Signal as Sent;

use super::{Caller, Context, Group, Method, Result, Subjects, params::session_params};
use crate::error::Error;

/// `signal.send`.
pub struct Send;

session_params! {
    /// A signal that a key sends, and its session.
    SendParams {
        /// SIGINT, SIGTSTP, SIGQUIT (also without SIG) or EOF, in any case.
        signal: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SendReply {
    pub sent: bool,
    /// The name as given.
    pub signal: String,
}

/// The control character that sends the signal with this name.
fn control(signal: &str) -> Option<&'static [u8]> {
    Some(match signal.to_ascii_uppercase().as_str() {
        "SIGINT" | "INT" => b"\x03",
        "SIGTSTP" | "TSTP" => b"\x1a",
        "SIGQUIT" | "QUIT" => b"\x1c",
        "EOF" => b"\x04",
        _ => return None,
    })
}

impl Method for Send {
    const NAME: &'static str = "signal.send";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Types the control character of a signal.";
    type Params<'a> = SendParams<'a>;
    type Reply = SendReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SendParams<'a>,
    ) -> Result<SendReply> {
        let pane = context.pane(params.target())?;
        let signal = params.signal.required("signal")?.into_owned();
        let bytes = control(&signal).ok_or_else(|| Error::Signal(signal.clone()))?;
        context.type_in(caller, &pane, bytes)?;
        Ok(SendReply { sent: true, signal })
    }
}

/// `session.signal`.
pub struct Signal;

session_params! {
    /// A signal, and the session whose foreground programs receive it.
    SignalParams {
        /// SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGKILL, SIGTSTP, SIGCONT, SIGUSR1 or SIGUSR2, also without SIG, in any case.
        signal: String,
    }
}

/// The signal with this name.
fn of_name(signal: &str) -> Option<Sent> {
    let name = signal.to_ascii_uppercase();
    Some(match name.strip_prefix("SIG").unwrap_or(&name) {
        "HUP" => Sent::Hangup,
        "INT" => Sent::Interrupt,
        "QUIT" => Sent::Quit,
        "TERM" => Sent::Terminate,
        "KILL" => Sent::Kill,
        "TSTP" => Sent::Stop,
        "CONT" => Sent::Continue,
        "USR1" => Sent::User1,
        "USR2" => Sent::User2,
        _ => return None,
    })
}

impl Method for Signal {
    const NAME: &'static str = "session.signal";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Sends a signal to the programs in a session's foreground.";
    type Params<'a> = SignalParams<'a>;
    type Reply = SendReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SignalParams<'a>,
    ) -> Result<SendReply> {
        let pane = context.pane_for(caller, params.target())?;
        let signal = params.signal.required("signal")?.into_owned();
        let sent = of_name(&signal).ok_or_else(|| Error::Invalid {
            name: "signal",
            expected:
                "SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGKILL, SIGTSTP, SIGCONT, SIGUSR1 or SIGUSR2"
                    .to_owned(),
            got: format!("{signal:?}"),
        })?;
        pane.signal(sent).map_err(|error| {
            let id = pane.id().0;
            Error::Failed(match error.kind() {
                ErrorKind::NotFound => {
                    format!("Session {id} runs nothing that {signal} could be sent to")
                }
                _ => format!("{signal} can't be sent to session {id}: {error}"),
            })
        })?;
        context.typed(caller, &pane);
        Ok(SendReply { sent: true, signal })
    }
}

#[cfg(test)]
mod tests {
    use super::{Sent, control, of_name};

    #[test]
    fn signal_names_work_in_both_forms_and_any_case() {
        for (names, byte) in [
            (["SIGINT", "INT", "sigint", "Int"], 0x03),
            (["SIGTSTP", "TSTP", "sigtstp", "Tstp"], 0x1a),
            (["SIGQUIT", "QUIT", "sigquit", "Quit"], 0x1c),
            (["EOF", "eof", "Eof", "eOF"], 0x04),
        ] {
            for name in names {
                assert_eq!(control(name), Some(&[byte][..]), "{name}");
            }
        }
        for name in ["SIGTERM", "SIGKILL", "", "SIG", "2", "SIGEOF"] {
            assert_eq!(control(name), None, "{name}");
        }
    }

    #[test]
    fn signals_are_sent_under_either_name_and_in_any_case() {
        assert_eq!(
            ["term", "SIGKILL", "Hup", "sigusr1"].map(of_name),
            [Some(Sent::Terminate), Some(Sent::Kill), Some(Sent::Hangup), Some(Sent::User1)]
        );
        assert_eq!(["", "SIG", "EOF", "15", "SIGWINCH"].map(of_name), [None; 5]);
    }
}
