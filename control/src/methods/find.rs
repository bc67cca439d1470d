//! `screen.find`: where the live screen shows a text, for callers that want to click it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_term::{LineId, SearchOrder};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::session_params,
    screen::{MOST_SEARCHED, is_true, pattern_of, yes},
};
use crate::services::limits::search_limiter::Budget;

/// The maximum number of places in one reply.
const MOST: usize = 1000;

/// `screen.find`.
pub struct Find;

session_params! {
    /// A session, and a text to find on its screen.
    FindParams {
        /// The text to find. Case-sensitive.
        pattern: String,
        /// Treat the text as a regular expression.
        #[serde(default)]
        regex: bool,
        /// Ignore case.
        #[serde(default)]
        ignore_case: bool,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct FindReply {
    /// The places, from the top.
    pub places: Vec<TextMatch>,
    /// The session's `seq` when the screen was searched.
    pub seq: u64,
    /// False: the search took too long, so part of the screen was not searched. Otherwise absent.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(with = "bool")]
    pub complete: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TextMatch {
    /// Row of the screen, from 0.
    pub row: u64,
    /// Column, from 0.
    pub col: u16,
    /// Row of the match's last cell. Differs from `row` if the match wraps.
    pub end_row: u64,
    /// Column of the match's last cell.
    pub end_col: u16,
    /// The text of the row in which the match begins.
    pub text: String,
}

impl Method for Find {
    const NAME: &'static str = "screen.find";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Finds a text on the live screen.";
    type Params<'a> = FindParams<'a>;
    type Reply = FindReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: FindParams<'a>,
    ) -> Result<FindReply> {
        let pane = context.pane(params.target())?;
        let pattern = pattern_of(&params.pattern, &params.regex, &params.ignore_case)?;
        let find = move |budget: &mut Budget| {
            let pattern = pattern.ready()?;
            let (lines, top, seq) = {
                let term = pane.term();
                (term.lines(), term.live_top().0, term.seq())
            };
            let mut texts = lines.clone();
            let mut search = lines.since(LineId(top)).search(&pattern, SearchOrder::NewestFirst);
            let found = std::iter::from_fn(|| search.next_while(&mut |bytes| budget.take(bytes)));
            let on_screen = found.map(|found| found.range).take_while(|at| at.start.line.0 >= top);
            let mut places: Vec<TextMatch> = on_screen
                .take(MOST)
                .map(|at| {
                    let mut text = String::new();
                    texts.row_text(LineId(at.start.line.0), &mut text);
                    TextMatch {
                        row: at.start.line.0 - top,
                        col: at.start.col,
                        end_row: at.end.line.0 - top,
                        end_col: at.end.col,
                        text,
                    }
                })
                .collect();
            places.reverse();
            Ok(FindReply { places, seq, complete: !budget.is_spent() })
        };
        context.limits.search_limiter.of(caller.token).run(MOST_SEARCHED, find).await?
    }
}
