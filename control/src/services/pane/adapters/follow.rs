//! Follows a watched pane: reads its screen with the plugin after changes, until the adapter ends.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until},
};
use unterm_mux::{Pane, PaneState};
use unterm_plugin::{Classification, ClassifyContext, Explanation, Instance};
use unterm_term::LineId;

use super::{
    adapter::{Adapter, End, Progress, Reading},
    debounce::Debounce,
    program::{Program, ProgramPosition},
    timing::Timing,
};
use crate::{
    caller::TokenKind,
    error::Result,
    services::{
        now,
        pane::{
            classification::{COMPLETED_TURN_STABLE_MS, classify},
            plugin_calls::Calls,
        },
        people::tokens::Tokens,
    },
};

/// The state of a program while another program is in the foreground.
const BACKGROUND: &str = "background";

/// Everything that is needed to read a pane's screen.
pub struct Reader {
    /// The pane.
    pub pane: Arc<Pane>,
    /// The instance of the plugin, with its own variables.
    pub instance: Arc<Instance>,
    /// The running calls of the instance.
    pub calls: Calls,
    /// Limits the number of screens that are read at the same time.
    pub turns: Arc<Semaphore>,
    /// The tokens of agents, to detect revoked tokens.
    pub tokens: Arc<Tokens>,
}

/// The result of one look at a pane.
enum ScreenLook {
    State {
        state: String,
        confidence: f64,
        evidence: String,
        explain: Option<Explanation>,
        seq: u64,
    },
    ProgramGone,
    NoHolder,
}

/// Follows a pane, and calls `changed` after each change of the state. Returns why the adapter ends.
pub async fn follow(adapter: &Arc<Adapter>, reader: &Reader, changed: impl Fn()) -> End {
    let Err(end) = follow_to_the_end(adapter, reader, changed).await;
    end
}

async fn follow_to_the_end(
    adapter: &Arc<Adapter>,
    reader: &Reader,
    changed: impl Fn(),
) -> Result<Infallible, End> {
    let mut changes = reader.pane.watch();
    let mut holders = adapter.holders.subscribe();
    let mut timing = Timing::new(Instant::now());
    let mut debounce = Debounce::default();
    let mut is_due = true;
    loop {
        let seq = *changes.borrow_and_update();
        timing.see(seq, Instant::now());
        if reader.pane.state() != PaneState::Running {
            return Err(End::Session);
        }
        if is_due {
            let began = Instant::now();
            let stable = timing.stable(began);
            match reader
                .look(adapter, stable)
                .await
                .map_err(|error| End::Failed(error.to_string()))?
            {
                ScreenLook::ProgramGone => return Err(End::Program),
                ScreenLook::NoHolder => return Err(End::Detached),
                ScreenLook::State { state, confidence, evidence, explain, seq } => {
                    timing.read(seq, began, Instant::now());
                    let last = adapter.reading();
                    let name = last.as_ref().map(|last| last.state.as_str());
                    if let Some(since) = debounce.see(&state, name, stable, began, now) {
                        let is_new = name != Some(&state);
                        let since = last.filter(|_| !is_new).map_or(since, |last| last.since);
                        let reading = Reading { state, since, confidence, evidence, explain, seq };
                        adapter.progress.send_replace(Progress::Read(reading));
                        if is_new {
                            changed();
                        }
                    }
                }
            }
        }
        let due = timing.due();
        let read_again = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => pending().await,
            }
        };
        is_due = tokio::select! {
            changed = changes.changed() => match changed {
                Ok(()) => false,
                Err(_) => return Err(End::Session),
            },
            _ = holders.wait_for(Vec::is_empty) => return Err(End::Detached),
            () = read_again => true,
        };
    }
}

impl Reader {
    /// Reads the screen. `stable`: how long the screen has been unchanged.
    async fn look(&self, adapter: &Arc<Adapter>, stable: Duration) -> Result<ScreenLook> {
        let turn = self.turns.clone().acquire_owned().await.ok();
        let (pane, instance) = (self.pane.clone(), self.instance.clone());
        let (tokens, adapter) = (self.tokens.clone(), adapter.clone());
        let look = move || {
            // The permit is held until the plugin returns, even if no task waits for the result any longer.
            let _turn = turn;
            match adapter.is_held(&tokens) {
                true => see(&pane, adapter.program, &instance, stable),
                false => ScreenLook::NoHolder,
            }
        };
        self.calls.run(look).await
    }
}

/// Reads a pane's screen with a plugin. May take seconds.
fn see(pane: &Pane, program: Program, instance: &Instance, stable: Duration) -> ScreenLook {
    match program.place(pane) {
        ProgramPosition::Gone => return ScreenLook::ProgramGone,
        ProgramPosition::Background => {
            return ScreenLook::State {
                state: BACKGROUND.to_owned(),
                confidence: 1.0,
                evidence: String::new(),
                explain: None,
                seq: pane.term().seq(),
            };
        }
        ProgramPosition::Foreground => {}
    }
    let (seq, title, screen) = screen(pane);
    let context = ClassifyContext {
        sequence: seq,
        title,
        stable_ms: u64::try_from(stable.as_millis()).unwrap_or(u64::MAX),
        completed_turn_stable_ms: COMPLETED_TURN_STABLE_MS,
        ..ClassifyContext::of_screen(screen)
    };
    let Classification { state, confidence, evidence, explain, .. } = classify(instance, &context);
    ScreenLook::State { state, confidence, evidence, explain, seq }
}

/// A screen's `seq`, the title that its program set, and its text. Rows that wrapped are joined into one line.
fn screen(pane: &Pane) -> (u64, String, String) {
    let term = pane.term();
    let (top, rows) = (term.live_top().0, u64::from(term.size().rows));
    let mut text = String::new();
    for line in (top..top + rows).map(LineId) {
        term.row_text(line, &mut text);
        if !term.is_wrapped(line) {
            text.push('\n');
        }
    }
    let (seq, title) = (term.seq(), term.title().to_owned());
    drop(term);
    text.truncate(text.trim_end_matches('\n').len());
    (seq, title, text)
}

impl Adapter {
    /// Whether any token that is still valid holds the adapter. Removes the tokens that are no longer valid.
    fn is_held(&self, tokens: &Tokens) -> bool {
        let is_live = |token: &TokenKind| match token {
            // If the file of tokens can't be read, agents can't log in with its tokens either.
            TokenKind::Agent(number) => tokens.is_live(*number) == Ok(true),
            TokenKind::Instance | TokenKind::Page => true,
        };
        self.holders.send_if_modified(|holders| {
            let before = holders.len();
            holders.retain(is_live);
            holders.len() < before
        });
        !self.holders.borrow().is_empty()
    }
}
