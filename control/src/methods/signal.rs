//! `signal.*`: signals as the control characters that a terminal's line discipline, or the program, turns into them; those
//! that no key sends go to the foreground process group.

use schemars::JsonSchema;
use serde::Serialize;

use unterm_mux::Signal;

use super::{Access, Caller, Context, Group, Method, Result, params::session_params};
use crate::error::Error;

/// `signal.send`.
pub struct Send;

session_params! {
    /// A signal, and where to send it.
    SendParams {
        /// SIGINT, SIGTSTP, SIGQUIT, SIGTERM, SIGKILL, SIGHUP (also without SIG) or EOF, in any case.
        signal: String,
    }
}

#[derive(Serialize, JsonSchema)]
pub struct SendReply {
    sent: bool,
    /// As it was given.
    signal: String,
}

/// The control character of a signal's name.
fn control(signal: &str) -> Option<&'static [u8]> {
    Some(match signal.to_ascii_uppercase().as_str() {
        "SIGINT" | "INT" => b"\x03",
        "SIGTSTP" | "TSTP" => b"\x1a",
        "SIGQUIT" | "QUIT" => b"\x1c",
        "EOF" => b"\x04",
        _ => return None,
    })
}

/// A signal that is sent as itself.
fn real(signal: &str) -> Option<Signal> {
    Some(match signal.to_ascii_uppercase().as_str() {
        "SIGTERM" | "TERM" => Signal::Terminate,
        "SIGKILL" | "KILL" => Signal::Kill,
        "SIGHUP" | "HUP" => Signal::Hangup,
        _ => return None,
    })
}

impl Method for Send {
    const NAME: &'static str = "signal.send";
    const GROUP: Group = Group::Exec;
    const ACCESS: Access = Access::Act;
    const DOC: &'static str =
        "Types the control character of a signal, or sends one to what runs in the foreground.";
    const OF_SESSION: bool = true;
    type Params<'a> = SendParams<'a>;
    type Reply = SendReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SendParams<'a>,
    ) -> Result<SendReply> {
        let pane = context.pane(params.target())?;
        let signal = params.signal.required("signal")?.into_owned();
        match (control(&signal), real(&signal)) {
            (Some(bytes), _) => context.type_in(caller, &pane, bytes)?,
            (None, Some(real)) => {
                // With nothing to type a lease is kept all the same.
                context.type_in(caller, &pane, b"")?;
                pane.signal(real).map_err(|error| Error::Failed(format!("{signal}: {error}")))?;
            }
            (None, None) => return Err(Error::Signal(signal)),
        }
        Ok(SendReply { sent: true, signal })
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::Signal;

    use super::{control, real};

    #[test]
    fn signals_are_control_characters_under_either_name_and_in_any_case() {
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
        for name in ["SIGTERM", "", "SIG", "2", "SIGEOF"] {
            assert_eq!(control(name), None, "{name}");
        }
        assert_eq!(
            ["term", "SIGKILL", "Hup"].map(real),
            [Some(Signal::Terminate), Some(Signal::Kill), Some(Signal::Hangup)]
        );
        assert_eq!(real("SIGUSR1"), None);
    }
}
