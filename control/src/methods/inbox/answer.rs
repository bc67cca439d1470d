//! `inbox.show` and `inbox.answer`: the question on a program's screen, and the user's answer to it.

use std::cell::Cell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Composed, Pane};

use crate::{
    authority::Step,
    error::Error,
    methods::{
        Caller, Context, Group, Method, Result, Subjects,
        explain::ReplyTexts,
        input,
        params::{SessionOnly, session_params},
        session::{SharedPane, blocking},
    },
    services::pane::{
        dialogs::{Dialog, Wish},
        program_state::claim::{Claim, Need, Source, State},
    },
};

/// How often an answer is tried while the program prints something that does not change the screen.
const ATTEMPTS: usize = 5;
/// The maximum number of characters of a text that answers a question.
const LONGEST: usize = 10_000;

/// `inbox.show`.
pub struct Show;

/// The question of a session's program, as its screen shows it. As untrusted as the program's output. Secrets are
/// masked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ShowReply {
    pub id: u64,
    /// Identifies the dialog, for inbox.answer. Differs as soon as anything on the screen, the cursor or the reported
    /// state differs, or somebody has typed.
    pub dialog: String,
    /// `permission`, `question`, `password` or `login`. Absent if the source does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    /// The question in one line.
    pub question: String,
    /// The rows of the screen, without blank rows at the end.
    pub rows: Vec<String>,
    /// The answers that the screen offers, numbered from 1. Empty if none are recognized.
    pub choices: Vec<Choice>,
    /// The number of the choice that the answer `approve` means. Absent if no choice clearly means it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub approve: Option<usize>,
    /// The number of the choice that the answer `deny` means. Absent if no choice clearly means it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub deny: Option<usize>,
    /// The session's `seq` when the screen was read.
    pub seq: u64,
}

/// An answer that a dialog offers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Choice {
    /// The number for the parameter `choice` of inbox.answer.
    pub number: usize,
    /// The choice's text on the screen.
    pub label: String,
}

impl Method for Show {
    const NAME: &'static str = "inbox.show";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns the question of a session's program as its screen shows it, with the choices that are recognized. Fails if the \
        program needs nothing from the user.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ShowReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ShowReply> {
        let pane = context.pane(params.session())?;
        let id = pane.id().0;
        let asked = read(context, pane).await?;
        let (claim, dialog) = asked.ok_or_else(|| nothing(id))?;
        shown(context, id, claim, dialog).await
    }
}

/// `inbox.answer`.
pub struct Answer;

session_params! {
    /// An answer to a session's program: exactly one of `answer`, `choice`, `text` and `keys`.
    AnswerParams {
        /// The `dialog` that inbox.show returned. If the question has changed since, nothing is typed.
        dialog: String,
        /// `approve` or `deny`: selects the choice that clearly means this and nothing more. Fails if there is no such
        /// choice.
        #[serde(default)]
        answer: String,
        /// The number of a choice that inbox.show returned.
        #[serde(default)]
        choice: u64,
        /// A line of text. Enter is pressed after it.
        #[serde(default)]
        text: String,
        /// Keys to press, as in session.keys.
        #[serde(default)]
        keys: Vec<String>,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AnswerReply {
    /// False: nothing was typed, because the program now shows another dialog.
    pub answered: bool,
    /// Why nothing was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<String>,
    /// The present question, if nothing was typed and the program still needs the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ShowReply")]
    pub shown: Option<ShowReply>,
}

/// What to type.
enum AnswerInput {
    Wish(Wish),
    Choice(usize),
    Text(String),
    Keys(Vec<String>),
}

impl AnswerInput {
    fn of(params: &AnswerParams<'_>) -> Result<Self> {
        let wish = params.answer.text("answer")?.map(|answer| match &*answer {
            "approve" => Ok(Self::Wish(Wish::Approve)),
            "deny" => Ok(Self::Wish(Wish::Deny)),
            other => Err(Error::Invalid {
                name: "answer",
                expected: "approve or deny".to_owned(),
                got: format!("{other:?}"),
            }),
        });
        let choice = params.choice.number("choice", 1..=9)?;
        let choice = choice.map(|number| Ok(Self::Choice(number as usize)));
        let text = params.text.text("text")?.map(|text| line(&text).map(Self::Text));
        let keys = match params.keys.is_absent() {
            true => None,
            false => Some(params.keys.list("keys").map(Self::Keys)),
        };
        let mut given = [wish, choice, text, keys].into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(given), None) => given,
            (None, _) => Err(Error::Missing("answer")),
            (Some(_), Some(_)) => Err(Error::Failed(
                "Nothing was typed: give exactly one of answer, choice, text and keys".to_owned(),
            )),
        }
    }

    /// The bytes to type as an answer to a dialog.
    fn bytes(&self, pane: &Pane, dialog: &Dialog) -> Result<Vec<u8>> {
        let choice = match self {
            Self::Wish(wish) => wish.choice(&dialog.choices),
            Self::Choice(number) => dialog.choices.get(number - 1),
            Self::Text(text) => return Ok(format!("{text}\r").into_bytes()),
            Self::Keys(names) => return input::keys(pane, names),
        };
        let choice = choice.ok_or_else(|| {
            let what = match self {
                Self::Wish(_) => "no choice that clearly means this",
                _ => "no choice with this number",
            };
            Error::Failed(format!(
                "Nothing was typed: the screen shows {what}. Give another choice, a text or keys"
            ))
        })?;
        let enter = if dialog.needs_enter { "\r" } else { "" };
        Ok(format!("{}{enter}", choice.keys).into_bytes())
    }
}

/// Checks that a text is one line.
fn line(text: &str) -> Result<String> {
    if text.chars().any(char::is_control) || text.chars().count() > LONGEST {
        return Err(Error::Invalid {
            name: "text",
            expected: format!("a line of at most {LONGEST} characters without control characters"),
            got: format!("{text:?}").chars().take(80).collect(),
        });
    }
    Ok(text.to_owned())
}

impl Method for Answer {
    const NAME: &'static str = "inbox.answer";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::SESSION;
    const CHANGES: Subjects = Subjects::SESSION.union(Subjects::DIALOGS);
    const DOC: &'static str = "Answers the question of a session's program in the user's place, if it is still the question that inbox.show returned. \
        Else types nothing, and returns the present question. Refused for agents, and for programs in that session.";
    const DESCRIBED_BY: &'static [&'static str] = &["answer", "choice", "text", "keys"];
    type Params<'a> = AnswerParams<'a>;
    type Reply = AnswerReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: AnswerParams<'a>,
    ) -> Result<AnswerReply> {
        let pane = context.pane(params.target())?;
        let id = pane.id().0;
        let seen = params.dialog.required("dialog")?;
        let given = AnswerInput::of(&params)?;
        let instance = context.registration.record();
        let step = Step::AnswerDialog { pane: &pane, instance: &instance.id };
        context.authority.decide(caller, &step)?;
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let Some((claim, dialog)) = read(context, pane.clone()).await? else {
                return Ok(refused("the program needs nothing any more", None));
            };
            if claim.need == Some(Need::Password) {
                return Err(Error::Secret(id));
            }
            if dialog.fingerprint != *seen {
                let shown = shown(context, id, claim, dialog).await?;
                return Ok(refused("the question, or its screen, has changed", Some(shown)));
            }
            // The fingerprint counts an answer that somebody else has typed, because it contains the number of inputs.
            // But the screen may still show the question that this input answered.
            if !pane.shows_input() {
                let shown = shown(context, id, claim, dialog).await?;
                return Ok(refused("the program has not handled an earlier input", Some(shown)));
            }
            let bytes = given.bytes(&pane, &dialog)?;
            if type_answer(context, caller, &pane, &bytes, &dialog)? {
                return Ok(AnswerReply { answered: true, reason: None, shown: None });
            }
            last = Some((claim, dialog));
        }
        let shown = match last {
            Some((claim, dialog)) => Some(shown(context, id, claim, dialog).await?),
            None => None,
        };
        Ok(refused("the program keeps printing", shown))
    }
}

/// Types an answer, unless the program has received input or printed since the dialog was read. Returns whether it was
/// typed.
fn type_answer(
    context: &Context,
    caller: &Caller,
    pane: &Pane,
    bytes: &[u8],
    dialog: &Dialog,
) -> Result<bool> {
    let seq = pane.watch();
    let has_moved = Cell::new(false);
    let still = |composed: &Composed| {
        if composed.inputs == dialog.inputs && *seq.borrow() <= dialog.seq {
            return Ok(());
        }
        has_moved.set(true);
        Err(Error::Failed("Nothing was typed: the screen has changed".to_owned()))
    };
    match context.type_if(caller, pane, bytes, false, still) {
        Ok(()) => Ok(true),
        Err(_) if has_moved.get() => Ok(false),
        Err(error) => Err(error),
    }
}

fn refused(reason: &str, shown: Option<ShowReply>) -> AnswerReply {
    AnswerReply { answered: false, reason: Some(reason.to_owned()), shown }
}

fn nothing(id: u64) -> Error {
    Error::Failed(format!(
        "The program in session {id} needs nothing from the user. Questions of agents have numbers, and the user answers them in the window or on the settings page"
    ))
}

/// The claim that a pane's program needs the user, and its dialog. `None` if the program needs nothing, or if the
/// question is an agent's, because it is not on the program's screen.
async fn read(context: &Context, pane: SharedPane) -> Result<Option<(Claim, Dialog)>> {
    let (programs, dialogs) = (context.panes.programs.clone(), context.panes.dialogs.clone());
    // This reads the pane's processes, which may block.
    blocking(move || {
        let explained = programs.explain(&pane);
        let claim = explained.decides();
        let asks = claim.state == State::NeedsYou && claim.source != Source::Approval;
        asks.then(|| (claim.clone(), dialogs.read(&pane, claim)))
    })
    .await
}

/// A dialog as a reply.
async fn shown(context: &Context, id: u64, claim: Claim, dialog: Dialog) -> Result<ShowReply> {
    let home = context.registration.home().to_owned();
    // This reads the file with the redaction rules, which may block.
    blocking(move || {
        let mut shown = ReplyTexts::of(&home)?;
        let number = |wish: Wish| {
            let meant = wish.choice(&dialog.choices)?;
            let at = dialog.choices.iter().position(|choice| std::ptr::eq(choice, meant))?;
            Some(at + 1)
        };
        let (approve, deny) = (number(Wish::Approve), number(Wish::Deny));
        let choices = dialog.choices.iter().enumerate();
        let choices = choices
            .map(|(at, choice)| Choice { number: at + 1, label: shown.line(&choice.label) })
            .collect();
        Ok(ShowReply {
            id,
            dialog: dialog.fingerprint,
            kind: claim.need,
            question: shown.line(claim.message.as_ref().unwrap_or(&claim.text)),
            rows: shown.rows(&dialog.rows),
            choices,
            approve,
            deny,
            seq: dialog.seq,
        })
    })
    .await?
}
