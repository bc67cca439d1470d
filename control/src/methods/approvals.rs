//! `approvals.*`: questions to the user: whether a client may act, and questions that agents ask.

use std::{pin::pin, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
    session::blocking,
};
use crate::{
    authority::Step,
    error::{Denial, Error},
    services::people::{
        approvals::{self, Approval, KnownClient},
        questions::{Draft, Question, QuestionKind},
    },
};

/// `approvals.list`.
pub struct List;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    /// The rule for the first change of an unknown client.
    pub rule: Approval,
    /// The open questions: first whether clients may act, then what agents ask, each oldest first.
    pub pending: Vec<Question>,
    /// The clients that may act, in every instance.
    pub allowed: Vec<KnownClient>,
}

impl Method for List {
    const NAME: &'static str = "approvals.list";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::CALLERS.union(Subjects::RIGHTS);
    const DOC: &'static str = "Lists the open questions to the user, and the clients that may act.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        let approvals = context.people.approvals.clone();
        Ok(ListReply {
            rule: approvals.rule(),
            pending: context.people.questions.list(),
            allowed: blocking(move || approvals.known()).await?.map_err(Error::Failed)?,
        })
    }
}

/// `approvals.answer`.
pub struct Answer;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct AnswerParams<'a> {
    /// The question's number.
    #[serde(borrow)]
    pub number: Arg<'a, u64>,
    /// One of the question's choices, or any text if the question accepts text.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub answer: Arg<'a, String>,
    /// True, instead of an answer: the user leaves the question unanswered. An approval is denied instead.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub declined: Arg<'a, bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct AnswerReply {
    /// False: the question was left unanswered.
    pub answered: bool,
}

impl Method for Answer {
    const NAME: &'static str = "approvals.answer";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::ANSWERS;
    const DOC: &'static str =
        "Answers a question. Only the settings page and the window may call this.";
    type Params<'a> = AnswerParams<'a>;
    type Reply = AnswerReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: AnswerParams<'a>,
    ) -> Result<AnswerReply> {
        let number = params.number.number("number", 0..=u64::MAX)?;
        let number = number.ok_or(Error::Missing("number"))?;
        let declined = params.declined.is_set("declined")?;
        let answer = if declined { "".into() } else { params.answer.required("answer")? };
        context.authority.decide(caller, &Step::Answer)?;
        let Some((question, _)) = context.people.questions.find(number) else {
            let why = format!("there is no question {number}: it was answered, or taken back");
            return Err(Error::Denied(Denial::Other(why)));
        };
        if declined {
            if question.kind == QuestionKind::Approval {
                let why = format!("question {number} asks for an approval: answer `deny`");
                return Err(Error::Denied(Denial::Other(why)));
            }
            context.leave_unanswered(number);
            return Ok(AnswerReply { answered: false });
        }
        context.answer(number, &answer).await.map_err(Error::Failed)?;
        Ok(AnswerReply { answered: true })
    }
}

/// `approvals.forget`.
pub struct Forget;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ForgetParams<'a> {
    /// The client's name.
    #[serde(borrow)]
    pub client: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ForgetReply {
    /// False: no client of this name was approved.
    pub forgotten: bool,
}

impl Method for Forget {
    const NAME: &'static str = "approvals.forget";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::RIGHTS;
    const DOC: &'static str = "Withdraws the approval of a client. The user is asked again.";
    type Params<'a> = ForgetParams<'a>;
    type Reply = ForgetReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ForgetParams<'a>,
    ) -> Result<ForgetReply> {
        let client = params.client.required("client")?.into_owned();
        let approvals = context.people.approvals.clone();
        let forgotten = blocking(move || approvals.forget(&client)).await?;
        Ok(ForgetReply { forgotten: forgotten.map_err(Error::Failed)? })
    }
}

/// `approvals.ask`.
pub struct Ask;

/// The maximum time that a call waits for the user's answer, and the default, in milliseconds.
const LONGEST_WAIT: u64 = 7 * 24 * 3600 * 1000;
const USUAL_WAIT: u64 = 10 * 60 * 1000;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct AskParams<'a> {
    /// The question.
    #[serde(borrow)]
    pub text: Arg<'a, String>,
    /// The choices, at most nine. Default: `Done` and `Not now`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub choices: Arg<'a, Vec<String>>,
    /// Whether the user may also answer with their own text. Default: false.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub takes_text: Arg<'a, bool>,
    /// The session that the question is about.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub session_id: Arg<'a, u64>,
    /// How long to wait, in milliseconds. Default: 600,000; at most a week.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub timeout_ms: Arg<'a, u64>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct AskReply {
    /// False: the time ran out.
    pub answered: bool,
    /// The user's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// Withdraws a question when dropped, because the caller no longer waits for the answer.
struct Waiting<'a>(&'a Context, u64);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.0.people.questions.withdraw(self.1) {
            self.0.questions_changed();
        }
    }
}

impl Method for Ask {
    const NAME: &'static str = "approvals.ask";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::USER;
    const DOC: &'static str = "Asks the user a question, in the window and on the settings page, and waits for the answer.";
    const NAMED: &'static [&'static str] = &["session_id"];
    type Params<'a> = AskParams<'a>;
    type Reply = AskReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: AskParams<'a>,
    ) -> Result<AskReply> {
        let text = params.text.required("text")?;
        let mut choices = params.choices.list("choices")?;
        let takes_text = params.takes_text.is_set("takes_text")?;
        let session = params.session_id.number("session_id", 0..=u64::MAX)?;
        let wait = params.timeout_ms.number("timeout_ms", 0..=LONGEST_WAIT)?.unwrap_or(USUAL_WAIT);
        if choices.is_empty() && !takes_text {
            choices = ["Done", "Not now"].map(str::to_owned).into();
        }
        let draft = Draft {
            kind: QuestionKind::Question,
            client: &approvals::name(caller),
            text: &text,
            choices: &choices,
            takes_text,
            session,
            connection: caller.connection,
            call: 0,
        };
        let (number, mut answer) = context.people.questions.ask(draft).map_err(Error::Failed)?;
        let _waiting = Waiting(context, number);
        context.questions_changed();
        let told = pin!(answer.wait_for(Option::is_some));
        let answer = match timeout(Duration::from_millis(wait), told).await {
            Ok(Ok(answer)) => answer.clone(),
            // The time is over, or the client has disconnected.
            Ok(Err(_)) | Err(_) => None,
        };
        Ok(AskReply { answered: answer.is_some(), answer })
    }
}
