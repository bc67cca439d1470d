//! `signal.*`: signals as the control characters that a terminal's line discipline, or the program, turns into them.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Access, Caller, Context, Group, Method, Result, params::session_params, session::write,
};
use crate::error::Error;

/// `signal.send`.
pub struct Send;

session_params! {
    /// A signal, and where to send it.
    SendParams {
        /// SIGINT, SIGTSTP, SIGQUIT (also without SIG) or EOF, in any case.
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

impl Method for Send {
    const NAME: &'static str = "signal.send";
    const GROUP: Group = Group::Exec;
    const ACCESS: Access = Access::Act;
    const DOC: &'static str = "Types the control character of a signal.";
    type Params<'a> = SendParams<'a>;
    type Reply = SendReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SendParams<'a>,
    ) -> Result<SendReply> {
        let pane = context.pane(params.target())?;
        let signal = params.signal.required("signal")?.into_owned();
        let bytes = control(&signal).ok_or_else(|| Error::Signal(signal.clone()))?;
        write(&pane, bytes)?;
        Ok(SendReply { sent: true, signal })
    }
}

#[cfg(test)]
mod tests {
    use super::control;

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
    }
}
