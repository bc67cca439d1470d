//! `session.replay`: the input of the rules for screens in a session, so that a wrong state can be reported and tested.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_plugin::ScreenState;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word, explain::ReplyTexts,
    params::SessionOnly, session::blocking,
};
use crate::services::pane::{
    adapters::names,
    screen_rules::{Decision, ScreenInput},
};

/// `session.replay`.
pub struct Replay;

/// The input of the rules for screens, and their result. As untrusted as the program's output. Secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ReplayReply {
    /// The names of the program in the foreground.
    pub programs: Vec<String>,
    /// The rows of the screen.
    pub screen: Vec<String>,
    /// The title that the program has set.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The progress that the program has reported (OSC 9;4), such as `4;1;50`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub progress: String,
    /// The state that the rules name: `idle`, `working`, `blocked` or `unknown`. Absent: no rule applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub state: Option<Word>,
    /// The rule that decides, such as `codex/request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub rule: Option<String>,
}

impl ReplayReply {
    /// The input of the rules, as the screen's text.
    pub fn input(&self) -> ScreenInput {
        ScreenInput {
            screen: self.screen.join("\n"),
            title: self.title.clone(),
            progress: self.progress.clone(),
        }
    }

    /// The replay, with this decision of the rules.
    #[must_use]
    pub fn with_decision(self, decision: Option<&Decision>) -> Self {
        let state = decision.map(|it| Word::Borrowed(state_name(it.state)));
        let rule = decision.map(|it| format!("{}/{}", it.agent, it.rule));
        Self { state, rule, ..self }
    }
}

fn state_name(state: ScreenState) -> &'static str {
    match state {
        ScreenState::Idle => "idle",
        ScreenState::Working => "working",
        ScreenState::Blocked => "blocked",
        ScreenState::Unknown => "unknown",
    }
}

impl Method for Replay {
    const NAME: &'static str = "session.replay";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns the input and the result of the rules for agents' screens in a session, so that a wrong state can be tested.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ReplayReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ReplayReply> {
        let pane = context.pane(params.session())?;
        let programs = context.panes.programs.clone();
        let home = context.registration.home().to_owned();
        // A replay reads the pane's processes and files with rules, which may block.
        blocking(move || {
            let mut shown = ReplyTexts::of(&home)?;
            let names = names(&pane);
            let ScreenInput { screen, title, progress } = ScreenInput::of(&pane.term());
            let rows: Vec<String> = screen.lines().map(str::to_owned).collect();
            let replay = ReplayReply {
                screen: shown.rows(&rows),
                title: shown.line(&title),
                progress,
                programs: names.iter().map(|name| shown.line(name)).collect(),
                ..ReplayReply::default()
            };
            // Decide about the masked screen, so that a test of the replay reaches the same decision.
            let decision = programs.rules.decide(&names, &replay.input());
            Ok(replay.with_decision(decision.as_ref()))
        })
        .await?
    }
}
