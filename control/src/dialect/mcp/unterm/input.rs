//! Input to a pane: text, pastes, keys and the mouse; signals; leases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    conditions::{self, AnObject, Conditions},
    run::{View, WaitReply, go_on},
    screen,
};
use crate::{
    dialect::mcp::{
        jobs::{Kind, SLICE},
        tool::{ToolResult, tool},
    },
    methods::{
        input::{MouseParams, OfMouse, Type, TypeParams},
        lease::{self, LeaseParams, Release},
        params::{Arg, SessionOnly},
        signal::{self, Send, SendParams, SignalParams},
        wait::{Watch, WatchParams},
    },
};

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseAction {
    Click,
    Press,
    Release,
    Move,
    Scroll,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
}

/// An action of the mouse.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mouse {
    action: MouseAction,
    /// Counts from 0, as col does.
    row: u64,
    col: u64,
    button: Option<MouseButton>,
    /// For scroll: rows down, negative: up; default 1.
    lines: Option<i64>,
    /// Any of ctrl, alt, shift.
    modifiers: Option<Vec<String>>,
}

impl From<Mouse> for OfMouse {
    fn from(mouse: Mouse) -> Self {
        Self(MouseParams {
            action: Arg::word(mouse.action),
            row: mouse.row.into(),
            col: mouse.col.into(),
            button: mouse.button.map(Arg::word).unwrap_or_default(),
            lines: mouse.lines.into(),
            modifiers: mouse.modifiers.into(),
            ..MouseParams::default()
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// Typed first, unchanged. A line end presses Enter.
    text: Option<String>,
    /// Pasted second.
    paste: Option<String>,
    /// Pressed third: characters, or names such as enter, escape, ctrl+c, alt+left, f5.
    keys: Option<Vec<String>>,
    /// Sent last, if the program has enabled the mouse.
    mouse: Option<Mouse>,
    /// Then wait until any holds for later output; see wait.
    wait_any: Option<Conditions>,
    /// Then wait until each has held.
    wait_all: Option<Conditions>,
    /// The longest wait; default 10,000, at most 50,000.
    timeout_ms: Option<u64>,
    /// Also match prompts and typed command lines.
    include_typed: Option<bool>,
    /// Return the screen afterwards; default true with a wait.
    show: Option<bool>,
    /// You have checked that the screen asks for no secret; only if Unterm is in doubt.
    no_secret: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct InputReply {
    /// False: only a mouse event was given, and the program has not enabled it.
    sent: bool,
    /// Pass it as since_seq to count only output after the input.
    seq: u64,
    /// See the reply of wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnObject>")]
    wait: Option<WaitReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
    /// The program asks for a password. Only the person may type it.
    awaiting_secret: bool,
    /// The program waits for input.
    awaiting_input: bool,
}

/// Checks that there is input, and that the conditions are valid.
fn check(arguments: InputArguments) -> ToolResult<()> {
    let InputArguments { text, paste, keys, mouse, wait_any, wait_all, .. } = arguments;
    if text.is_none() && paste.is_none() && keys.is_none() && mouse.is_none() {
        return Err("Say what to type or press in `text`, `paste`, `keys` or `mouse`, such as {\"keys\": [\"enter\"]}".to_owned());
    }
    conditions::params(0, ("wait_any", wait_any), ("wait_all", wait_all)).map(drop)
}

tool! {
    Input "input" "Type, paste, press keys, use the mouse" Acts
    "Type text, paste, press keys or use the mouse in a pane, as one input; optionally wait for its effect. Refused while the program asks for a password or the person types there."
    example r#"{"text": "y", "keys": ["enter"], "wait_any": [{"prompt": true}]}"#
    untrusted ["screen", "text"]
    check check;
    (ask, arguments: InputArguments) -> InputReply {
        let InputArguments { pane, text, paste, keys, mouse, wait_any, wait_all, timeout_ms, include_typed, show, no_secret } =
            arguments;
        let pane = ask.pane(pane).await?;
        let waits = wait_any.is_some() || wait_all.is_some();
        let watch = |any, all| conditions::params(pane, ("wait_any", any), ("wait_all", all));
        if waits {
            // A wait that finds nothing, so that conditions are refused before anything is typed.
            let none = u64::MAX.into();
            let watch = watch(wait_any.clone(), wait_all.clone())?;
            ask.call::<Watch>(WatchParams { since_seq: none, timeout_ms: 0.into(), ..watch }).await?;
        }
        let mut watch = watch(wait_any, wait_all)?;
        let text = text.map(|text| text.replace("\r\n", "\r").replace('\n', "\r"));
        let params = TypeParams {
            text: text.into(),
            paste: paste.into(),
            keys: keys.into(),
            mouse: mouse.map(OfMouse::from).into(),
            no_secret: no_secret.into(),
            ..TypeParams::of(pane)
        };
        let typed = ask.call::<Type>(params).await?;
        let mut wait = None;
        if waits {
            watch.since_seq = typed.seq.into();
            watch.include_typed = (include_typed == Some(true)).into();
            let within = std::time::Duration::from_millis(timeout_ms.unwrap_or(10_000)).min(SLICE);
            let (job, _) = ask.begin::<Watch>(Kind::Wait, pane, watch)?;
            let waited = go_on(ask, &job, within, View::default()).await;
            wait = Some(waited.map_err(|why| format!("The input was sent. {why}"))?);
        }
        let (state, screen) = screen::state(ask, pane).await?;
        Ok(InputReply {
            sent: typed.sent,
            seq: typed.seq,
            wait,
            screen: show.unwrap_or(waits).then_some(screen),
            awaiting_secret: state.awaiting_secret,
            awaiting_input: state.awaiting_input,
        }
        .into())
    }
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub enum SignalName {
    #[serde(rename = "INT")]
    Interrupt,
    #[serde(rename = "TERM")]
    Terminate,
    #[serde(rename = "KILL")]
    Kill,
    #[serde(rename = "HUP")]
    Hangup,
    #[serde(rename = "QUIT")]
    Quit,
    #[serde(rename = "TSTP")]
    Stop,
    #[serde(rename = "EOF")]
    EndOfInput,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// INT, QUIT, TSTP and EOF are typed as keys.
    signal: SignalName,
}

#[derive(Serialize, JsonSchema)]
pub struct SignalReply {
    sent: bool,
}

tool! {
    Signal "signal" "Send a signal" Acts
    "Interrupt, suspend, resume or end the foreground program of a pane."
    example r#"{"signal": "INT"}"#
    (ask, arguments: SignalArguments) -> SignalReply {
        let pane = ask.pane(arguments.pane).await?;
        let signal = Arg::word(arguments.signal);
        let sent = match arguments.signal {
            SignalName::Terminate | SignalName::Kill | SignalName::Hangup => {
                ask.call::<signal::Signal>(SignalParams { signal, ..SignalParams::of(pane) }).await?
            }
            _ => ask.call::<Send>(SendParams { signal, ..SendParams::of(pane) }).await?,
        };
        Ok(SignalReply { sent: sent.sent }.into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    release: Option<bool>,
    /// Default 60,000; at most an hour.
    ttl_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub struct LeaseReply {
    held: bool,
    /// Other callers that share the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// The note on a lease that other callers share.
const SHARED: &str = "Any other agent of your program that brings your token is you here, and may type too: requests over HTTP \
    without a session are told apart by nothing else. A conversation of your own in the server's address \
    (/mcp?conversation=NAME), or a token of your own, tells you from them.";

tool! {
    Lease "lease" "Take or give back a pane's input" Adds
    "Keep other callers from typing in a pane. The person's first key there ends the lease; your input is then refused until you release it, or take a new one after the person's line."
    example r#"{"ttl_ms": 60000}"#
    (ask, arguments: LeaseArguments) -> LeaseReply {
        let LeaseArguments { pane, release, ttl_ms } = arguments;
        let pane = ask.pane(pane).await?;
        if release == Some(true) {
            ask.call::<Release>(SessionOnly::of(pane)).await?;
            return Ok(LeaseReply { held: false, note: None }.into());
        }
        let ttl_ms = ttl_ms.unwrap_or(60_000).into();
        let params = LeaseParams { ttl_ms, ..LeaseParams::of(pane) };
        let held = ask.call::<lease::Lease>(params).await?.leased;
        Ok(LeaseReply { held, note: (held && ask.is_shared).then_some(SHARED) }.into())
    }
}
