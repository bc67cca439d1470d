//! The state of the program in each pane, with its source and reason: tools, tabs, `explain` and the inbox all show
//! this state.
//!
//! Each source makes claims ([`claim`]), and [`decide`] chooses the claim that counts. The state is computed on
//! request, because some sources, such as a terminal without echo, report no change. Owns no copy of any state: reports
//! are in the terminals, readings in the adapters, and the time of the user's last look in the [`Hub`].

mod adapter;
pub mod claim;
pub mod decide;
mod process;
mod screen;
mod terminal;

use std::sync::Arc;

use unterm_mux::{Pane, PaneId, PaneState};
use unterm_term::Term;

use self::{
    claim::{Claim, Need, Source, State},
    decide::{Verdict, decide},
    terminal::Marks,
};
use super::{
    adapters::{Adapters, names},
    events::Hub,
    screen_rules::{ScreenInput, ScreenRules},
};
use crate::services::{
    milliseconds_of,
    people::questions::{Question, QuestionKind, Questions},
    shell::plain_prompt,
};

/// The states of the programs in an instance's panes.
pub struct ProgramStates {
    /// When bells rang, and when the user looked at panes.
    pub hub: Arc<Hub>,
    /// The readings of plugins.
    pub adapters: Arc<Adapters>,
    /// The open questions to the user.
    pub questions: Arc<Questions>,
    /// The rules that read the screens of agents.
    pub rules: ScreenRules,
}

/// The claims of every source about a pane.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The claims with their verdicts, the strongest first. There is at least one, because the pane's processes always
    /// make a claim.
    pub chain: Vec<(Claim, Verdict)>,
}

impl Explained {
    /// The claim that decides.
    pub fn decides(&self) -> &Claim {
        let at = self.chain.iter().position(|(_, verdict)| *verdict == Verdict::Decides);
        &self.chain[at.unwrap_or_default()].0
    }

    /// The claims about single tasks that still count.
    pub fn tasks(&self) -> impl Iterator<Item = &Claim> {
        let chain = self.chain.iter().filter(|(claim, verdict)| {
            !claim.task.is_empty() && matches!(verdict, Verdict::Decides | Verdict::Overridden)
        });
        chain.map(|(claim, _)| claim)
    }
}

impl ProgramStates {
    /// The claims of every source about a pane. Reads the processes of the pane.
    pub fn explain(&self, pane: &Pane) -> Explained {
        let reported = self.hub.last_reported(pane.id());
        let (marks, mut claims, title) = {
            let term = pane.term();
            let marks = Marks::of(&term);
            let claims = terminal::of_term(&term, &marks);
            (marks, claims, term.title().to_owned())
        };
        let is_running = pane.state() == PaneState::Running;
        if is_running && !process::is_at_prompt(pane, &marks) {
            claims.extend(terminal::of_title(&title, marks.since));
            claims.extend(bell(reported.bell_time, marks.since));
            let input = ScreenInput::of(&pane.term());
            let decision = self.rules.decide(&names(pane), &input);
            claims.extend(decision.as_ref().and_then(screen::of_decision));
        }
        // Without marks, only the screen shows that a program has ended, by the shell's prompt.
        if !is_running || marks.is_prompting.is_none() && plain_prompt::stands(pane) {
            claims.iter_mut().for_each(|claim| claim.is_over = true);
        }
        claims.extend(process::of_pane(pane, &marks));
        claims.extend(self.of_others(pane.id()));
        let verdicts = decide(&mut claims, reported.seen);
        Explained { chain: claims.into_iter().zip(verdicts).collect() }
    }

    /// The state that the programs and agents of a pane report, for its tab. Reads no processes, so a window can
    /// request it at each report. `None` if they report nothing.
    pub fn reported(&self, pane: &Pane) -> Option<Claim> {
        let mut claims = terminal::reported(&pane.term());
        claims.extend(self.of_others(pane.id()));
        winner(claims, self.hub.last_reported(pane.id()).seen)
    }

    /// Whether a pane's program is in a state.
    pub fn is_in(&self, pane: &Pane, state: State) -> bool {
        self.explain(pane).decides().state == state
    }

    /// The claims of agents and plugins about a pane.
    fn of_others(&self, pane: PaneId) -> Vec<Claim> {
        let asked = self.questions.list();
        let asked = asked.iter().filter(|asked| asked.session == Some(pane.0)).map(asks);
        let adapters = self.adapters.all();
        let adapters = adapters.iter().filter(|adapter| adapter.pane == pane);
        let read = adapters.filter_map(|it| adapter::of_reading(&it.plugin, &it.reading()?));
        asked.chain(read).collect()
    }
}

/// The state that the programs in a terminal report. `None` if they report nothing.
pub fn of_term(term: &Term) -> Option<Claim> {
    winner(terminal::reported(term), 0)
}

/// The claim that decides, if there is one.
fn winner(mut claims: Vec<Claim>, seen: u64) -> Option<Claim> {
    let verdicts = decide(&mut claims, seen);
    let decides = verdicts.iter().position(|verdict| *verdict == Verdict::Decides)?;
    Some(claims.swap_remove(decides))
}

/// The claim of a question to the user. It does not contain the question's text, because the text may be a call that
/// the caller must not see.
fn asks(question: &Question) -> Claim {
    let (need, rule) = match question.kind {
        QuestionKind::Approval => {
            (Need::Approval, "a call of an agent waits for the user's approval")
        }
        QuestionKind::Question => (Need::Question, "an agent asked the user a question"),
    };
    let heading = question.heading();
    Claim {
        message: Some(heading.clone()),
        since: milliseconds_of(&question.asked_at),
        text: heading,
        ..Claim::needs(Source::Approval, Some(need), rule)
    }
}

/// The claim of the bell, if it rang since the running program began.
fn bell(rang: u64, since: u64) -> Option<Claim> {
    (rang != 0 && rang >= since).then(|| Claim {
        since: rang,
        text: "BEL".to_owned(),
        ..Claim::needs(Source::Bell, None, "the bell rang while the program ran")
    })
}
