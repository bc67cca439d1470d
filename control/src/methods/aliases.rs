//! Methods that other specifications or earlier versions of Unterm name. Each does what another method does.

use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_term::{LineId, Term};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{SessionOnly, session_params},
    screen::{MOST_ROWS, rows},
    session::{Acknowledged, blocking},
};

/// `session.send_text`.
pub struct SendText;

session_params! {
    /// What to type, and where.
    SendTextParams {
        /// The characters to write, as they are; nothing is added. Enter is `\r`.
        text: String,
    }
}

impl Method for SendText {
    const NAME: &'static str = "session.send_text";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Types characters like session.input. `text` contains the characters.";
    type Params<'a> = SendTextParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SendTextParams<'a>,
    ) -> Result<Acknowledged> {
        let pane = context.pane(params.target())?;
        let text = params.text.required("text")?;
        context.type_in(caller, &pane, text.as_bytes())?;
        Ok(Acknowledged::OK)
    }
}

/// `session.read_tail`.
pub struct ReadTail;

session_params! {
    /// A session, and the number of its last rows to read.
    ReadTailParams {
        /// The maximum number of rows to read. Default: 100.
        #[serde(default)]
        lines: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReadTailReply {
    /// The rows, the oldest first.
    pub lines: Vec<String>,
    /// The number of rows in `lines`.
    pub count: usize,
    /// The session's `seq`. Pass it as `since_seq` for later output.
    pub seq: u64,
}

impl Method for ReadTail {
    const NAME: &'static str = "session.read_tail";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "The last rows of history and screen, without empty rows at the end.";
    type Params<'a> = ReadTailParams<'a>;
    type Reply = ReadTailReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ReadTailParams<'a>,
    ) -> Result<ReadTailReply> {
        let pane = context.pane(params.target())?;
        let count = params.lines.number("lines", 0..=u64::MAX)?.unwrap_or(100).min(MOST_ROWS);
        blocking(move || {
            let (end, seq) = {
                let term = pane.term();
                (end_of_text(&term), term.seq())
            };
            let start = end.saturating_sub(count);
            let lines: Vec<_> =
                rows(&pane, LineId(start), end - start).map(|row| row.text).collect();
            ReadTailReply { count: lines.len(), lines, seq }
        })
        .await
    }
}

/// The line after the last line of the screen that contains text. If the screen is empty, its first line.
fn end_of_text(term: &Term) -> u64 {
    let top = term.live_top().0;
    let bottom = top + u64::from(term.size().rows);
    let mut text = String::new();
    let last = (top..bottom).rev().find(|line| {
        text.clear();
        term.row_text(LineId(*line), &mut text) && !text.is_empty()
    });
    last.map_or(top, |line| line + 1)
}

/// `screen.read_raw`.
pub struct ReadRaw;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReadRawReply {
    /// The bytes, in base64.
    pub base64: String,
    /// The session's `seq`. Pass it as `since_seq` for later output.
    pub seq: u64,
}

impl Method for ReadRaw {
    const NAME: &'static str = "screen.read_raw";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns bytes that draw a session's screen and history, with styles, in a terminal of the same size.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ReadRawReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ReadRawReply> {
        let pane = context.pane(params.session())?;
        blocking(move || {
            let (bytes, seq) = {
                let term = pane.term();
                (term.to_vt(), term.seq())
            };
            ReadRawReply { base64: STANDARD.encode(bytes), seq }
        })
        .await
    }
}
