//! A claim: what one source reports about the program in a pane.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a program, or of one of its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The program works.
    Working,
    /// The program can't go on without the user.
    NeedsYou,
    /// The program has finished, and the user has not seen that yet.
    Done,
    /// The program has failed, and the user has not seen that yet.
    Failed,
    /// The program waits for the next instruction, or there is only a shell at its prompt.
    Idle,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Working, Self::NeedsYou, Self::Done, Self::Failed, Self::Idle];

    /// The state's name on wires.
    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::NeedsYou => "needs_you",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Idle => "idle",
        }
    }

    /// Whether the state describes the end of some work, so that it lasts until the user has seen it.
    pub fn is_result(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }

    /// The precedence among the tasks of one program: the greater value counts.
    pub fn urgency(self) -> u8 {
        match self {
            Self::NeedsYou => 4,
            Self::Failed => 3,
            Self::Working => 2,
            Self::Done => 1,
            Self::Idle => 0,
        }
    }
}

/// What a program needs from the user.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Permission to do something.
    Permission,
    /// An answer.
    Question,
    /// A password or another secret.
    Password,
    /// The approval of an agent's call.
    Approval,
    /// A login.
    Login,
}

impl Need {
    /// The need's name on wires.
    pub fn name(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Password => "password",
            Self::Approval => "approval",
            Self::Login => "login",
        }
    }
}

/// A source of claims. The strongest source comes first: a claim of an earlier source overrides claims of later
/// sources.
#[derive(
    Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The program's own report (OSC 7501).
    Report,
    /// The program reads a secret.
    Password,
    /// An agent asks the user something, or waits for the user's approval.
    Approval,
    /// The end of a long command, which the shell marked (OSC 133).
    Command,
    /// The bell rang.
    Bell,
    /// The program reads its terminal, and its last line looks like a question.
    Input,
    /// A plugin, or a rule of a manifest, that reads the screen.
    Adapter,
    /// The program's progress (OSC 9;4).
    Progress,
    /// The title that the program set.
    Title,
    /// The processes of the pane, and the marks of its shell.
    Process,
}

impl Source {
    /// Every source, the strongest first.
    pub const ALL: [Self; 10] = [
        Self::Report,
        Self::Password,
        Self::Approval,
        Self::Command,
        Self::Bell,
        Self::Input,
        Self::Adapter,
        Self::Progress,
        Self::Title,
        Self::Process,
    ];
}

/// A claim: one source's report. Programs choose their reports, screens and titles, so the texts are untrusted, and a
/// claim of such a source may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The source.
    pub source: Source,
    /// The task that the claim is about (OSC 7501), as a path of words. Empty: the whole program.
    pub task: String,
    /// The state.
    pub state: State,
    /// What the program needs. `None` if the source does not report it, or if the state is not [`State::NeedsYou`].
    pub need: Option<Need>,
    /// A line for the user.
    pub message: Option<String>,
    /// The completed part in percent.
    pub progress: Option<u8>,
    /// The time when the state began, in milliseconds since 1970. 0 if unknown.
    pub since: u64,
    /// The rule by which the source decided.
    pub rule: Cow<'static, str>,
    /// The sequence or the text to which the rule applied.
    pub text: String,
    /// Whether the program has ended since then. Only its results, `Done` and `Failed`, still count then.
    pub is_over: bool,
}

impl Claim {
    /// A claim about the whole program that counts now.
    pub fn new(source: Source, state: State, rule: impl Into<Cow<'static, str>>) -> Self {
        Self {
            source,
            task: String::new(),
            state,
            need: None,
            message: None,
            progress: None,
            since: 0,
            rule: rule.into(),
            text: String::new(),
            is_over: false,
        }
    }

    /// A claim that the program needs something from the user.
    pub fn needs(source: Source, need: Option<Need>, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { need, ..Self::new(source, State::NeedsYou, rule) }
    }

    /// Whether the claim stops counting when the user looks at the pane. The progress of a running program is redrawn
    /// while it lasts, so looking does not end it.
    pub fn ends_when_seen(&self) -> bool {
        match self.source {
            Source::Bell => true,
            Source::Progress => self.is_over,
            _ => self.state.is_result(),
        }
    }
}
