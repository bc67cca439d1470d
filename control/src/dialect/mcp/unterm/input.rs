//! Input to a pane: text, pastes, keys and the mouse; signals; leases.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    conditions::{self, AnObject, Conditions},
    many_panes::Panes,
    run::{View, WaitReply, go_on},
    screen_part::{self, ScreenPart, read_new},
};
use crate::{
    dialect::mcp::{
        arguments,
        jobs::SLICE,
        tool::{Ask, ToolResult, tool},
    },
    methods::{
        input::{MouseParams, OfMouse, Type, TypeParams},
        lease::{self, LeaseParams, Release},
        params::{Arg, SessionOnly},
        session::Status,
        signal::{self, Send, SendParams, SignalParams},
        wait::{Watch, WatchParams},
    },
};

/// The maximum number of steps of one call.
const MOST_STEPS: usize = 100;

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
    /// Text to type first, unchanged. A line end presses Enter.
    text: Option<String>,
    /// Text to paste second.
    paste: Option<String>,
    /// Keys to press third: characters, or names such as enter, escape, ctrl+c, alt+left, f5.
    keys: Option<Vec<String>>,
    /// Mouse action to send last, if the program has enabled the mouse.
    mouse: Option<Mouse>,
    /// Then wait until any of these holds for later output; see wait.
    wait_any: Option<Conditions>,
    /// Then wait until each of these has held.
    wait_all: Option<Conditions>,
    /// The longest wait; default 10,000, at most 50,000.
    timeout_ms: Option<u64>,
    /// Instead, several inputs in order, each with fields from text to timeout_ms. An input that fails or times out
    /// stops the rest.
    #[schemars(with = "Option<Vec<AnObject>>")]
    steps: Option<Vec<Value>>,
    /// Also match prompts and typed command lines.
    include_typed: Option<bool>,
    /// Return the changed rows of the screen afterwards; default true with a wait.
    show: Option<bool>,
    /// Return the whole screen afterwards.
    whole: Option<bool>,
    /// You have checked that the screen asks for no secret; needed only if Unterm is not sure.
    no_secret: Option<bool>,
}

// Fields with default values are left out, to keep replies short for models.
#[derive(Serialize, JsonSchema)]
pub struct InputReply {
    /// False: only a mouse event was given, and the program has not enabled it. Default true.
    #[serde(skip_serializing_if = "Clone::clone")]
    sent: bool,
    /// Pass it as since_seq to count only output after the input.
    seq: u64,
    /// See the reply of wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnObject>")]
    wait: Option<WaitReply>,
    /// The step that stopped the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnObject>")]
    stopped: Option<Stopped>,
    #[serde(flatten)]
    screen: ScreenPart,
    /// The program asks for a password. Only the user may type it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    awaiting_secret: bool,
    /// The program waits for input.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    awaiting_input: bool,
    /// The program reads the terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reads_input: bool,
}

/// The step that failed or timed out, so that later steps were not performed.
#[derive(Serialize, JsonSchema)]
pub struct Stopped {
    /// The step's index in `steps`.
    step: usize,
    why: String,
}

/// One input, and the wait for its effect.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    text: Option<String>,
    paste: Option<String>,
    keys: Option<Vec<String>>,
    mouse: Option<Mouse>,
    wait_any: Option<Conditions>,
    wait_all: Option<Conditions>,
    timeout_ms: Option<u64>,
}

/// The effect of the steps that were performed.
#[derive(Default)]
struct Performed {
    sent: bool,
    /// The pane's `seq` before the last input. `None` if nothing was typed yet.
    seq: Option<u64>,
    wait: Option<WaitReply>,
}

impl Step {
    fn has_input(&self) -> bool {
        self.text.is_some() || self.paste.is_some() || self.keys.is_some() || self.mouse.is_some()
    }

    fn has_wait(&self) -> bool {
        self.wait_any.is_some() || self.wait_all.is_some()
    }

    /// The parameters of the step's wait. `at`: the step's path in the arguments, for errors.
    fn watch(&self, pane: u64, at: &str) -> ToolResult<WatchParams<'static>> {
        let (any, all) = (format!("{at}wait_any"), format!("{at}wait_all"));
        let (any, all) =
            ((any.as_str(), self.wait_any.clone()), (all.as_str(), self.wait_all.clone()));
        conditions::params(pane, any, all)
    }

    /// Types the step's input, and waits for its effect, at most until `end`. `typed`: the `seq` before the last input.
    async fn perform(
        self,
        ask: &Ask<'_>,
        (pane, include_typed, no_secret): (u64, bool, Option<bool>),
        typed: Option<u64>,
        end: Instant,
    ) -> ToolResult<Performed> {
        let (has_input, has_wait) = (self.has_input(), self.has_wait());
        let mut watch = self.watch(pane, "")?;
        let mut done = Performed { sent: true, seq: typed, wait: None };
        if has_input {
            let text = self.text.map(|text| text.replace("\r\n", "\r").replace('\n', "\r"));
            let params = TypeParams {
                text: text.into(),
                paste: self.paste.into(),
                keys: self.keys.into(),
                mouse: self.mouse.map(OfMouse::from).into(),
                no_secret: no_secret.into(),
                ..TypeParams::of(pane)
            };
            let typed = ask.call::<Type>(params).await?;
            done = Performed { sent: typed.sent, seq: Some(typed.seq), wait: None };
        }
        if has_wait {
            watch.since_seq = done.seq.into();
            watch.include_typed = include_typed.into();
            let within = Duration::from_millis(self.timeout_ms.unwrap_or(10_000));
            let within = within.min(end.saturating_duration_since(Instant::now()));
            let (job, _) = Panes::one(pane).wait(ask, vec![(pane, watch)])?;
            let view = View { hides_screen: true, ..View::default() };
            let waited = go_on(ask, &job, within, view).await;
            done.wait = Some(waited.map_err(|why| format!("The input was sent. {why}"))?);
        }
        Ok(done)
    }
}

/// The steps of a call, and whether the call listed them in `steps`.
fn steps(arguments: &mut InputArguments) -> ToolResult<(Vec<Step>, bool)> {
    let InputArguments { text, paste, keys, mouse, wait_any, wait_all, timeout_ms, steps, .. } =
        arguments;
    let single = Step {
        text: text.take(),
        paste: paste.take(),
        keys: keys.take(),
        mouse: mouse.take(),
        wait_any: wait_any.take(),
        wait_all: wait_all.take(),
        timeout_ms: timeout_ms.take(),
    };
    let Some(steps) = steps.take() else {
        if !single.has_input() {
            return Err("Say what to type or press in `text`, `paste`, `keys` or `mouse`, such as {\"keys\": [\"enter\"]}".to_owned());
        }
        single.watch(0, "")?;
        return Ok((vec![single], false));
    };
    if single.has_input() || single.has_wait() {
        return Err(
            "Give `steps` or one input, not both: an input is the first of the steps".to_owned()
        );
    }
    if steps.is_empty() || steps.len() > MOST_STEPS {
        return Err(format!("`steps` must have from 1 to {MOST_STEPS} steps, not {}", steps.len()));
    }
    let steps = steps.into_iter().enumerate().map(|(index, given)| {
        let at = format!("steps[{index}]");
        let mut step: Step = arguments::read_part(given, &at)?;
        step.timeout_ms = step.timeout_ms.or(single.timeout_ms);
        if !step.has_input() && !step.has_wait() {
            return Err(format!(
                "`{at}` must type, press or wait for something, such as {{\"text\": \"y\\n\"}}"
            ));
        }
        step.watch(0, &format!("{at}."))?;
        Ok(step)
    });
    Ok((steps.collect::<ToolResult<_>>()?, true))
}

/// Checks that a call contains input, and that its conditions are valid.
fn check(mut arguments: InputArguments) -> ToolResult<()> {
    steps(&mut arguments).map(drop)
}

tool! {
    Input "input" "Type, paste, press keys, use the mouse" Acts
    "Type text, paste, press keys or use the mouse in a pane, as one input or in steps; optionally wait for the effect. Refused while the program asks for a password or the user types there."
    example r#"{"text": "y", "keys": ["enter"], "wait_any": [{"prompt": true}]}"#
    untrusted ["screen", "changed", "text"]
    check check;
    (ask, arguments: InputArguments) -> InputReply {
        let mut arguments = arguments;
        let (steps, has_steps) = steps(&mut arguments)?;
        let InputArguments { pane, include_typed, show, whole, no_secret, .. } = arguments;
        let pane = ask.pane(pane).await?;
        // If the caller may not see the pane, ignore the error here, because typing will fail with a better error.
        let before = screen_part::before(ask, pane).await.ok().flatten();
        for (index, step) in steps.iter().enumerate().filter(|(_, step)| step.has_wait()) {
            // This wait never succeeds. It only checks the conditions, so that invalid conditions are refused before
            // anything is typed.
            let watch = WatchParams { since_seq: u64::MAX.into(), timeout_ms: 0.into(), ..step.watch(pane, "")? };
            let place = if has_steps { format!("steps[{index}]: ") } else { String::new() };
            ask.call::<Watch>(watch).await.map_err(|why| format!("{place}{why}"))?;
        }
        let is_whole = whole == Some(true);
        let shows = show.unwrap_or(is_whole || steps.iter().any(Step::has_wait));
        let end = Instant::now() + SLICE;
        let how = (pane, include_typed == Some(true), no_secret);
        let (mut sent, mut last, mut stopped) = (true, Performed::default(), None);
        for (step, input) in steps.into_iter().enumerate() {
            let why = match input.perform(ask, how, last.seq, end).await {
                Ok(done) => {
                    last = done;
                    sent &= last.sent;
                    match &last.wait {
                        Some(wait) if !wait.is_matched() => wait.missing(),
                        _ => continue,
                    }
                }
                Err(why) if step == 0 => return Err(why),
                Err(why) => why,
            };
            stopped = has_steps.then_some(Stopped { step, why });
            break;
        }
        let (state, screen) = match shows {
            true => read_new(ask, pane, before, is_whole).await?,
            false => (ask.call::<Status>(SessionOnly::of(pane)).await?, ScreenPart::default()),
        };
        Ok(InputReply {
            sent,
            seq: last.seq.unwrap_or(state.seq),
            wait: last.wait,
            stopped,
            screen,
            awaiting_secret: state.awaiting_secret,
            awaiting_input: state.awaiting_input,
            reads_input: state.reads_input && !state.awaiting_input,
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
    /// The names of other callers that share the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// A note for a lease that other callers share.
const SHARED: &str = "Another agent of your program with your token counts as you and may type too: over HTTP without a session, \
    nothing else distinguishes callers. To be distinguished, use your own conversation in the server's address \
    (/mcp?conversation=NAME), or your own token.";

tool! {
    Lease "lease" "Take or give back a pane's input" Adds
    "Keep other callers from typing in a pane. The user's first key there ends the lease; your input is then refused until you release it, or take a new one after the user's line."
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
