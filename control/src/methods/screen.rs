//! `screen.*`: a session's live screen and history, regardless of where the user has scrolled to.
//!
//! A `row` counts from the oldest kept row, so it changes when old rows are dropped. A `line_id` never changes.

use std::{borrow::Cow, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeSeq};
use serde_json::value::{RawValue, to_raw_value};
use unterm_mux::Pane;
use unterm_term::{Case, CursorShape, LineId, Pattern, PatternKind, SearchOrder};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{Arg, SessionOnly, session_params},
    session::{CursorState, blocking, scrollback_rows},
};
use crate::{error::Error, services::limits::search_limiter::Budget};

/// The number of rows that are read while the terminal is locked once. Between two batches, the terminal's program can
/// write output.
const STRIDE: u64 = 512;
/// The maximum number of rows in one reply.
pub const MOST_ROWS: u64 = 100_000;
/// The maximum number of bytes of text that a regular expression is matched against.
pub const MOST_SEARCHED: u64 = 256 << 20;

/// The maximum number of cells that are read on an async worker. Larger screens are read on a blocking thread, because
/// workers also serve other connections.
const INLINE: usize = 64 << 10;

/// Runs a function that reads this many cells. Chooses an async worker or a blocking thread by their number.
pub async fn reading<T: Send + 'static>(
    cells: usize,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if cells <= INLINE { Ok(read()) } else { blocking(read).await }
}

/// The number of cells of a session's screen.
pub fn cells_of(pane: &Pane) -> usize {
    let size = pane.term().size();
    usize::from(size.cols) * usize::from(size.rows)
}

/// One row of a session.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Row {
    /// The row's index, counted from the oldest kept row.
    pub row: u64,
    /// The row's text without trailing blanks.
    pub text: String,
    /// The row's id, valid as long as the row is kept.
    pub line_id: u64,
}

impl Row {
    /// Builds a row from its index, text and id.
    pub fn new(row: u64, text: String, line_id: u64) -> Self {
        Self { row, text, line_id }
    }
}

/// Reads up to `count` rows from `start`, in batches. Rows that the terminal drops meanwhile are left out.
pub fn rows(pane: &Pane, start: LineId, count: u64) -> impl Iterator<Item = Row> {
    let end = start.0.saturating_add(count);
    let mut next = start.0;
    let mut batch = Vec::new().into_iter();
    std::iter::from_fn(move || {
        loop {
            if let Some(row) = batch.next() {
                return Some(row);
            }
            let term = pane.term();
            let oldest = term.oldest().0;
            let bottom = term.live_top().0 + u64::from(term.size().rows);
            next = next.max(oldest);
            let until = end.min(bottom).min(next.saturating_add(STRIDE));
            if next >= until {
                return None;
            }
            let mut rows = Vec::with_capacity((until - next) as usize);
            for line in next..until {
                let mut text = String::new();
                if term.row_text(LineId(line), &mut text) {
                    rows.push(Row { row: line - oldest, text, line_id: line });
                }
            }
            drop(term);
            next = until;
            batch = rows.into_iter();
        }
    })
}

/// Texts of rows in one piece of memory.
#[derive(Default, JsonSchema)]
#[schemars(with = "Vec<String>")]
pub struct Lines {
    text: String,
    ends: Vec<usize>,
}

impl Lines {
    fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut lines = serializer.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|line| lines.serialize_element(line))?;
        lines.end()
    }
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut lines = Self::default();
        for line in Vec::<Cow<'de, str>>::deserialize(deserializer)? {
            lines.push_with(|text| text.push_str(&line));
        }
        Ok(lines)
    }
}

/// `screen.read`.
pub struct Read;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReadReply {
    /// The rows of the live screen, one string each.
    pub cells: Vec<Row>,
    pub cursor: CursorState,
    pub cols: u16,
    pub rows: u16,
    /// Rows of the history and the screen.
    pub scrollback_rows: usize,
}

impl Method for Read {
    const NAME: &'static str = "screen.read";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Reads the rows of the live screen with their indices.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ReadReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ReadReply> {
        let pane = context.pane(params.session())?;
        let read = move |pane: &Pane| {
            let term = pane.term();
            let (size, cursor) = (term.size(), term.cursor());
            let (oldest, top) = (term.oldest().0, term.live_top().0);
            let cells = (top..top + u64::from(size.rows)).map(|line| {
                let mut text = String::new();
                term.row_text(LineId(line), &mut text);
                Row { row: line - oldest, text, line_id: line }
            });
            ReadReply {
                cells: cells.collect(),
                cursor: CursorState { x: cursor.col, y: cursor.row, visible: cursor.visible },
                cols: size.cols,
                rows: size.rows,
                scrollback_rows: scrollback_rows(&term),
            }
        };
        reading(cells_of(&pane), move || read(&pane)).await
    }
}

/// `screen.text`.
pub struct Text;

/// The reply, which may come from a cache.
#[derive(JsonSchema)]
#[schemars(with = "TextFields")]
pub struct TextReply(Arc<RawValue>);

impl TextReply {
    /// Parses the reply.
    ///
    /// # Errors
    /// The reply has an unexpected form, because another version of Unterm sent it.
    pub fn fields(&self) -> std::result::Result<TextFields, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }
}

impl Serialize for TextReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TextReply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|fields| Self(fields.into()))
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TextFields {
    pub lines: Lines,
    pub cursor: CursorPlace,
    pub cols: u16,
    pub rows: u16,
    /// The session's `seq` when the screen was read. Pass it as `since_seq` for later output.
    pub seq: u64,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CursorPlace {
    pub x: u16,
    pub y: u16,
}

impl Method for Text {
    const NAME: &'static str = "screen.text";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Reads the text of the live screen, row by row.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = TextReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<TextReply> {
        let pane = context.pane(params.session())?;
        let seq = pane.term().seq();
        if let Some(text) = context.panes.texts.get(pane.id(), seq) {
            return Ok(TextReply(text));
        }
        let id = pane.id();
        let (seq, text) = reading(cells_of(&pane), move || text_of(&pane)).await??;
        context.panes.texts.put(id, seq, &text);
        Ok(TextReply(text))
    }
}

/// Returns the session's `seq` and the reply with its screen.
fn text_of(pane: &Pane) -> Result<(u64, Arc<RawValue>)> {
    let mut lines = Lines::default();
    let term = pane.term();
    let seq = term.seq();
    let (size, cursor, top) = (term.size(), term.cursor(), term.live_top().0);
    lines.ends.reserve(usize::from(size.rows));
    for line in top..top + u64::from(size.rows) {
        lines.push_with(|text| {
            term.row_text(LineId(line), text);
        });
    }
    drop(term);
    let cursor = CursorPlace { x: cursor.col, y: cursor.row };
    let fields = TextFields { lines, cursor, cols: size.cols, rows: size.rows, seq };
    Ok((seq, to_raw_value(&fields).map_err(Error::Reply)?.into()))
}

/// `screen.cursor`.
pub struct Cursor;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CursorReply {
    pub x: u16,
    pub y: u16,
    pub visible: bool,
    /// `Default`, or `Blinking` or `Steady` with `Block`, `Underline` or `Bar`.
    pub shape: Word,
}

impl Method for Cursor {
    const NAME: &'static str = "screen.cursor";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns the cursor's position and shape.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = CursorReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<CursorReply> {
        let cursor = context.pane(params.session())?.term().cursor();
        Ok(CursorReply {
            x: cursor.col,
            y: cursor.row,
            visible: cursor.visible,
            shape: shape_name(cursor.shape, cursor.blinking).into(),
        })
    }
}

fn shape_name(shape: CursorShape, blinking: bool) -> &'static str {
    match (shape, blinking) {
        (CursorShape::Default, _) => "Default",
        (CursorShape::Block, true) => "BlinkingBlock",
        (CursorShape::Block, false) => "SteadyBlock",
        (CursorShape::Underline, true) => "BlinkingUnderline",
        (CursorShape::Underline, false) => "SteadyUnderline",
        (CursorShape::Bar, true) => "BlinkingBar",
        (CursorShape::Bar, false) => "SteadyBar",
    }
}

/// `screen.scroll`.
pub struct Scroll;

session_params! {
    /// A session, and the rows to read.
    ScrollParams {
        /// The first row, counted from the oldest kept row. Default: 0.
        #[serde(default)]
        offset: u64,
        /// How many rows. Default: 100.
        #[serde(default)]
        count: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ScrollReply {
    pub lines: Lines,
    pub offset: u64,
    /// How many rows there are in all.
    pub count: usize,
    /// The id of the first returned row, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_id: Option<u64>,
}

impl Method for Scroll {
    const NAME: &'static str = "screen.scroll";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Reads rows of history and screen, counted from the oldest.";
    type Params<'a> = ScrollParams<'a>;
    type Reply = ScrollReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ScrollParams<'a>,
    ) -> Result<ScrollReply> {
        let pane = context.pane(params.target())?;
        let offset = params.offset.number("offset", 0..=u64::MAX)?.unwrap_or(0);
        let count = params.count.number("count", 0..=u64::MAX)?.unwrap_or(100).min(MOST_ROWS);
        let read = move || {
            let start = pane.term().oldest().0.saturating_add(offset);
            let mut lines = Lines::default();
            let mut line_id = None;
            for row in rows(&pane, LineId(start), count) {
                line_id.get_or_insert(row.line_id);
                lines.push_with(|text| text.push_str(&row.text));
            }
            (lines, line_id)
        };
        let (lines, line_id) = if count <= STRIDE { read() } else { blocking(read).await? };
        Ok(ScrollReply { count: lines.len(), lines, offset, line_id })
    }
}

/// `screen.search`.
pub struct Search;

session_params! {
    /// A session, and a text to find in it.
    SearchParams {
        /// The text to find. Case-sensitive.
        pattern: String,
        /// Treat the text as a regular expression.
        #[serde(default)]
        regex: bool,
        /// Ignore case.
        #[serde(default)]
        ignore_case: bool,
        /// How many matches to return. Default: 50.
        #[serde(default)]
        max_results: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SearchReply {
    /// The rows in which a match begins, oldest first.
    pub matches: Vec<Row>,
    /// How many such rows there are in all.
    pub total: u64,
    /// False: the history is too long for the pattern, so its oldest rows were not searched. Otherwise absent.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(with = "bool")]
    pub complete: bool,
}

/// The default of a field that [`is_true`] leaves out.
pub fn yes() -> bool {
    true
}

/// Whether serde leaves out a field, because its value is true.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub fn is_true(value: &bool) -> bool {
    *value
}

impl Method for Search {
    const NAME: &'static str = "screen.search";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Finds a text in history and screen, even where it wraps.";
    type Params<'a> = SearchParams<'a>;
    type Reply = SearchReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SearchParams<'a>,
    ) -> Result<SearchReply> {
        let pane = context.pane(params.target())?;
        let pattern = pattern_of(&params.pattern, &params.regex, &params.ignore_case)?;
        let max = params.max_results.number("max_results", 0..=u64::MAX)?.unwrap_or(50);
        // A search for plain text is so fast that a limit on its time suffices.
        let bytes = if pattern.is_regex() { MOST_SEARCHED } else { u64::MAX };
        let search = move |budget: &mut Budget| {
            let lines = pane.term().lines();
            search(lines, &pattern, max.min(MOST_ROWS), budget)
        };
        context.limits.search_limiter.of(caller.token).run(bytes, search).await?
    }
}

/// A pattern that is not compiled yet, because that takes time.
pub struct Wanted {
    text: String,
    kind: PatternKind,
    case: Case,
}

/// The pattern from the parameters `pattern`, `regex` and `ignore_case`.
pub fn pattern_of(
    text: &Arg<'_, String>,
    regex: &Arg<'_, bool>,
    ignore_case: &Arg<'_, bool>,
) -> Result<Wanted> {
    let text = text.required("pattern")?.into_owned();
    let is_regex = regex.is_set("regex")?;
    let kind = if is_regex { PatternKind::Regex } else { PatternKind::Literal };
    let ignored = ignore_case.is_set("ignore_case")?;
    let case = if ignored { Case::Insensitive } else { Case::Sensitive };
    Ok(Wanted { text, kind, case })
}

impl Wanted {
    fn is_regex(&self) -> bool {
        self.kind == PatternKind::Regex
    }

    /// Compiles the pattern.
    pub fn ready(&self) -> Result<Pattern> {
        let expected =
            if self.is_regex() { "a regular expression" } else { "a text to search for" };
        Pattern::new(&self.text, self.kind, self.case).map_err(|error| Error::Invalid {
            name: "pattern",
            expected: expected.to_owned(),
            got: error.to_string(),
        })
    }
}

/// Searches from the newest line to the oldest. If there are too many lines, the oldest are not searched.
fn search(
    lines: unterm_term::Lines,
    wanted: &Wanted,
    max: u64,
    budget: &mut Budget,
) -> Result<SearchReply> {
    let pattern = wanted.ready()?;
    let (oldest, end) = (lines.oldest().0, lines.end().0);
    let mut texts = lines.clone();
    let mut rows = Vec::new();
    if wanted.text.is_empty() {
        // An empty text is found in every row.
        rows.extend((oldest..end).rev());
    }
    let mut search = lines.search(&pattern, SearchOrder::NewestFirst);
    while let Some(found) = search.next_while(&mut |bytes| budget.take(bytes)) {
        let line = found.range.start.line.0;
        if rows.last() != Some(&line) {
            rows.push(line);
        }
    }
    let matches = rows.iter().rev().take(usize::try_from(max).unwrap_or(usize::MAX)).map(|&line| {
        let mut text = String::new();
        texts.row_text(LineId(line), &mut text);
        Row { row: line - oldest, text, line_id: line }
    });
    let matches = matches.collect();
    Ok(SearchReply { matches, total: rows.len() as u64, complete: !budget.is_spent() })
}

/// `screen.detect_errors`.
pub struct DetectErrors;

/// The documented patterns of errors. Only the first match in a row counts.
const ERROR_PATTERNS: [&str; 22] = [
    "error:",
    "Error:",
    "ERROR:",
    "error[",
    "fatal:",
    "Fatal:",
    "FATAL:",
    "panic:",
    "PANIC:",
    "not found",
    "command not found",
    "Permission denied",
    "permission denied",
    "No such file or directory",
    "failed",
    "FAILED",
    "traceback",
    "Traceback",
    "Exception",
    "exception:",
    "segfault",
    "Segmentation fault",
];

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct DetectErrorsReply {
    pub has_errors: bool,
    pub errors: Vec<FoundError>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct FoundError {
    #[serde(flatten)]
    pub row: Row,
    /// The part of the row that looks like an error.
    pub pattern: Word,
}

impl Method for DetectErrors {
    const NAME: &'static str = "screen.detect_errors";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Finds rows of the live screen that look like errors.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = DetectErrorsReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<DetectErrorsReply> {
        let pane = context.pane(params.session())?;
        let find = move |pane: &Pane| -> Vec<FoundError> {
            let (top, count) = {
                let term = pane.term();
                (term.live_top(), u64::from(term.size().rows))
            };
            let found = rows(pane, top, count).filter_map(|row| {
                let pattern = error_pattern(&row.text)?;
                Some(FoundError { row, pattern: pattern.into() })
            });
            found.collect()
        };
        let errors = reading(cells_of(&pane), move || find(&pane)).await?;
        Ok(DetectErrorsReply { has_errors: !errors.is_empty(), errors })
    }
}

fn error_pattern(text: &str) -> Option<&'static str> {
    ERROR_PATTERNS.into_iter().find(|pattern| text.contains(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pattern_of_the_list_counts() {
        assert_eq!(error_pattern("bash: foo: command not found"), Some("not found"));
        assert_eq!(error_pattern("error[E0001]: FAILED"), Some("error["));
        assert_eq!(error_pattern("an Error: and an error:"), Some("error:"));
        assert_eq!(error_pattern("all is well"), None);
        assert_eq!(error_pattern("terror"), None);
        assert_eq!(error_pattern(""), None);
    }

    #[test]
    fn shapes_are_named_as_documented() {
        assert_eq!(shape_name(CursorShape::Default, true), "Default");
        assert_eq!(shape_name(CursorShape::Block, true), "BlinkingBlock");
        assert_eq!(shape_name(CursorShape::Underline, false), "SteadyUnderline");
        assert_eq!(shape_name(CursorShape::Bar, false), "SteadyBar");
    }
}
