//! `screen.diff` and `screen.cells`: the changes of a screen, and its text with styles, links and images.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};
use unterm_mux::Pane;
use unterm_term::{
    Attrs, Color, Content, LineId, LineSize, Modes, PromptRole, Snapshot, SnapshotRow, Underline,
    Width,
};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::session_params,
    screen::{Row, cells_of, reading},
    session::{CursorState, scrollback_rows},
};
use crate::{caller::Access, error::Error, services::pane::wait::changed_rows};

/// The maximum number of rows in one reply.
const MOST_ROWS: u64 = 10_000;

/// `screen.diff`.
pub struct Diff;

session_params! {
    /// A session, and the `seq` since which to report changes.
    DiffParams {
        /// A `seq` of the session from an earlier reply. 0: everything.
        #[serde(default)]
        since_seq: u64,
        /// Only rows that were written to, not rows that a resize moved.
        #[serde(default)]
        written_only: bool,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct DiffReply {
    /// The session's current `seq`: the next `since_seq`.
    pub seq: u64,
    /// The rows that changed, including rows that scrolled into the history.
    pub changes: Vec<Row>,
    /// False: some changed rows are no longer kept, or there are too many to return.
    pub complete: bool,
    pub cursor: CursorState,
    pub cols: u16,
    pub rows: u16,
    pub scrollback_rows: usize,
}

impl Method for Diff {
    const NAME: &'static str = "screen.diff";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns the rows of a session that changed since a seq.";
    type Params<'a> = DiffParams<'a>;
    type Reply = DiffReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: DiffParams<'a>,
    ) -> Result<DiffReply> {
        let pane = context.pane(params.target())?;
        let since = params.since_seq.number("since_seq", 0..=u64::MAX)?.unwrap_or(0);
        let written_only = params.written_only.is_set("written_only")?;
        let (mut reply, changed, oldest, mut lines) = {
            let term = pane.term();
            let (mut first, end) = changed_rows(&term, Some(since));
            let (oldest, top) = (term.oldest().0, term.live_top().0);
            let is_moved = !written_only && term.resized() > since;
            if is_moved {
                first = first.min(LineId(top));
            }
            let start = first.0.max(end.0.saturating_sub(MOST_ROWS));
            let is_new = |line: &u64| {
                let written = term.revision(LineId(*line)).is_some_and(|seq| seq > since);
                written || is_moved && *line >= top
            };
            let changed: Vec<u64> = (start..end.0).filter(is_new).collect();
            let cursor = term.cursor();
            let reply = DiffReply {
                seq: term.seq(),
                changes: Vec::new(),
                complete: start == first.0 && (oldest == 0 || first.0 > oldest),
                cursor: CursorState { x: cursor.col, y: cursor.row, visible: cursor.visible },
                cols: term.size().cols,
                rows: term.size().rows,
                scrollback_rows: scrollback_rows(&term),
            };
            (reply, changed, oldest, term.lines())
        };
        let cells = changed.len() * usize::from(reply.cols);
        reply.changes = reading(cells, move || {
            let changes = changed.into_iter().map(|line| {
                let mut text = String::new();
                lines.row_text(LineId(line), &mut text);
                Row::new(line - oldest, text, line)
            });
            changes.collect()
        })
        .await?;
        Ok(reply)
    }
}

/// `screen.cells`.
pub struct Cells;

session_params! {
    /// A session.
    CellsParams {
        /// Returns each printed cell as a separate run, also a blank. A run of two columns is a wide character.
        #[serde(default)]
        each_cell: bool,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CellsReply {
    pub seq: u64,
    /// The rows of the live screen.
    pub lines: Vec<Line>,
    pub images: Vec<Image>,
    pub cursor: CursorState,
    pub cols: u16,
    pub rows: u16,
    /// Whether a full-screen program shows the alternate screen.
    pub alternate_screen: bool,
    /// Whether foreground and background of the whole screen are swapped (DECSCNM).
    pub reverse_screen: bool,
    /// Whether cursor keys send application sequences (DECCKM).
    #[serde(default)]
    pub application_cursor: bool,
    /// Whether the keypad sends application sequences (DECKPAM).
    #[serde(default)]
    pub application_keypad: bool,
    /// The title that programs have set. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Line {
    pub row: u64,
    pub line_id: u64,
    /// Whether the text continues in the next row without a line break.
    pub wrapped: bool,
    /// The size of the line's characters. `double_width`: each cell is two columns wide, and its column on the screen
    /// is twice its column in the line. `double_top` and `double_bottom`: also twice as high, and the line shows the
    /// upper or the lower half. Absent: normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Word>,
    /// Adjacent cells with the same look, link and role, without trailing blanks.
    pub runs: Vec<Run>,
}

/// The look of text, apart from its colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Attribute {
    Bold,
    Dim,
    Italic,
    Blink,
    Inverse,
    Hidden,
    Strike,
    Overline,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Run {
    /// First column.
    pub col: u16,
    /// How many columns.
    pub cols: u16,
    pub text: String,
    /// `default`, `idx:N` or `rgb:R:G:B`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub foreground: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub background: Option<String>,
    /// `single`, `double`, `curly`, `dotted` or `dashed`. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub underline: Option<Word>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub underline_color: Option<String>,
    /// Some of `bold`, `dim`, `italic`, `blink`, `inverse`, `hidden`, `strike`, `overline`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// The target of the text's link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// `prompt` or `input`, if the shell marks them. Absent: output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Word>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Image {
    /// The cells of the screen that the image covers. May extend beyond the screen.
    pub col: i64,
    pub row: i64,
    pub cols: i64,
    pub rows: i64,
    /// The image's depth. 0 or more: in front of the text. Negative: behind the text.
    pub z: i32,
}

fn color(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Indexed(index) => Some(format!("idx:{index}")),
        Color::Rgb(rgb) => Some(format!("rgb:{}:{}:{}", rgb.r, rgb.g, rgb.b)),
    }
}

fn attributes(attrs: Attrs) -> Vec<Attribute> {
    const ALL: [(Attrs, Attribute); 8] = [
        (Attrs::BOLD, Attribute::Bold),
        (Attrs::DIM, Attribute::Dim),
        (Attrs::ITALIC, Attribute::Italic),
        (Attrs::BLINK, Attribute::Blink),
        (Attrs::REVERSE, Attribute::Inverse),
        (Attrs::HIDDEN, Attribute::Hidden),
        (Attrs::STRIKE, Attribute::Strike),
        (Attrs::OVERLINE, Attribute::Overline),
    ];
    ALL.iter().filter(|(attr, _)| attrs.contains(*attr)).map(|(_, attribute)| *attribute).collect()
}

fn underline(underline: Underline) -> Option<&'static str> {
    Some(match underline {
        Underline::None => return None,
        Underline::Single => "single",
        Underline::Double => "double",
        Underline::Curly => "curly",
        Underline::Dotted => "dotted",
        Underline::Dashed => "dashed",
    })
}

fn line_size(size: LineSize) -> Option<&'static str> {
    Some(match size {
        LineSize::Single => return None,
        LineSize::DoubleWidth => "double_width",
        LineSize::DoubleTop => "double_top",
        LineSize::DoubleBottom => "double_bottom",
    })
}

fn role(role: PromptRole) -> Option<&'static str> {
    match role {
        PromptRole::Prompt => Some("prompt"),
        PromptRole::Input => Some("input"),
        PromptRole::Output => None,
    }
}

/// Whether a run that ends before this column continues in it, because the column contains the second half of a wide
/// character.
fn is_inside(row: &SnapshotRow, col: u16) -> bool {
    row.cells.get(usize::from(col)).is_some_and(|cell| cell.width() == Width::Tail)
}

fn runs(row: &SnapshotRow, each_cell: bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for style in &row.styles {
        let mut col = style.start;
        while col < style.end {
            let at = |col: u16| row.cells.get(usize::from(col)).copied().unwrap_or_default();
            let first = at(col).prompt_role();
            let start = col;
            let mut text = String::new();
            while col < style.end && at(col).prompt_role() == first {
                if each_cell && col > start && !is_inside(row, col) {
                    break;
                }
                match at(col).content() {
                    _ if at(col).width() == Width::Tail => {}
                    Content::Empty if each_cell => {}
                    Content::Empty => text.push(' '),
                    Content::Char(char) => text.push(char),
                    Content::Cluster(_) => text.push_str(row.cluster(col).unwrap_or(" ")),
                }
                col += 1;
            }
            let look = style.style;
            let mut run = Run {
                col: start,
                cols: col - start,
                foreground: color(look.foreground),
                background: color(look.background),
                underline: underline(look.underline).map(Word::Borrowed),
                underline_color: color(look.underline_color),
                attributes: attributes(look.attrs),
                link: style.link.as_ref().map(|link| link.uri.clone()),
                role: role(first).map(Word::Borrowed),
                text,
            };
            let is_plain = (!each_cell || run.foreground.is_none())
                && run.background.is_none()
                && run.underline.is_none()
                && run.attributes.is_empty()
                && run.link.is_none();
            if is_plain && !each_cell {
                let length = run.text.trim_end_matches(' ').len();
                run.cols -= (run.text.len() - length) as u16;
                run.text.truncate(length);
            }
            if !run.text.is_empty() || each_cell && !is_plain {
                runs.push(run);
            }
        }
    }
    runs
}

impl Method for Cells {
    const NAME: &'static str = "screen.cells";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Returns the live screen with styles, links, images and marked prompts.";
    type Params<'a> = CellsParams<'a>;
    type Reply = CellsReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: CellsParams<'a>,
    ) -> Result<CellsReply> {
        let pane = context.pane(params.target())?;
        let each_cell = params.each_cell.is_set("each_cell")?;
        reading(cells_of(&pane), move || cells(&pane, each_cell)).await
    }
}

fn cells(pane: &Pane, each_cell: bool) -> CellsReply {
    let mut snapshot = Snapshot::default();
    let title = {
        let term = pane.term();
        term.snapshot(&mut snapshot, None);
        Some(term.title()).filter(|title| !title.is_empty()).map(str::to_owned)
    };
    let lines = snapshot.rows.iter().map(|row| Line {
        row: row.line.0.saturating_sub(snapshot.oldest.0),
        line_id: row.line.0,
        wrapped: row.wrapped,
        size: line_size(row.size).map(Word::Borrowed),
        runs: runs(row, each_cell),
    });
    let images = snapshot.images.iter().map(|image| Image {
        col: image.area.left.round() as i64,
        row: image.area.top.round() as i64,
        cols: image.area.width.ceil() as i64,
        rows: image.area.height.ceil() as i64,
        z: image.z,
    });
    let cursor = snapshot.cursor;
    CellsReply {
        seq: snapshot.seq,
        lines: lines.collect(),
        images: images.collect(),
        cursor: CursorState { x: cursor.col, y: cursor.row, visible: cursor.visible },
        cols: snapshot.size.cols,
        rows: snapshot.size.rows,
        alternate_screen: snapshot.screen == unterm_term::ScreenKind::Alternate,
        reverse_screen: snapshot.modes.contains(Modes::REVERSE_SCREEN),
        application_cursor: snapshot.modes.contains(Modes::APP_CURSOR),
        application_keypad: snapshot.modes.contains(Modes::APP_KEYPAD),
        title,
    }
}

/// `screen.bytes`.
pub struct Bytes;

session_params! {
    /// A session, and the output that the caller has already.
    BytesParams {
        /// Returns only output after this byte offset, such as the end of an earlier reply. Default: all kept output. In a
        /// streamed session, a caller with act releases the output before the offset.
        #[serde(default)]
        from: u64,
        /// How long to wait for more output, or for the end of the output, in milliseconds. Default: 0.
        #[serde(default)]
        wait_ms: u64,
        /// With `wait_ms`: also returns once the session's `seq` exceeds this value, as after a resize.
        #[serde(default)]
        since_seq: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct BytesReply {
    /// The bytes, in base64. At most a megabyte.
    pub base64: String,
    /// The number of bytes of output before the returned bytes. If it is greater than the requested `from`, the bytes
    /// between are no longer kept.
    pub from: u64,
    /// How many bytes are missing from the output, because nothing read them in time.
    pub lost: u64,
    /// Whether no more output follows, because the program has ended.
    pub ended: bool,
    /// The session's current `seq`.
    pub seq: u64,
}

/// The maximum time to wait for output, in milliseconds.
const LONGEST_WAIT: u64 = 60 * 60 * 1000;

impl Method for Bytes {
    const NAME: &'static str = "screen.bytes";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns the output of a hidden or streamed session unchanged, except that stars replace the nonce of the shell's marks.";
    type Params<'a> = BytesParams<'a>;
    type Reply = BytesReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: BytesParams<'a>,
    ) -> Result<BytesReply> {
        let pane = context.pane(params.target())?;
        let id = pane.id();
        let from = params.from.number("from", 0..=u64::MAX)?.unwrap_or(0);
        let wait = params.wait_ms.number("wait_ms", 0..=LONGEST_WAIT)?.unwrap_or(0);
        let since = params.since_seq.number("since_seq", 0..=u64::MAX)?;
        let none = || {
            Error::Failed(format!(
                "Session {} is neither hidden nor streamed: nothing is kept",
                id.0
            ))
        };
        let output = context.panes.bytes.output(id).ok_or_else(none)?;
        let nonce = pane.nonce().map(|nonce| &**nonce);
        // A caller that may only read must not release output, because the caller that streams the session still needs
        // it.
        let releases = caller.scopes.allow(Access::Act);
        let deadline = Instant::now() + Duration::from_millis(wait);
        let (mut changes, mut arrived) = (pane.watch(), output.watch());
        loop {
            changes.borrow_and_update();
            arrived.borrow_and_update();
            let seq = pane.term().seq();
            let piece = output.after(from, nonce, releases);
            if piece.is_forgotten {
                return Err(Error::NoSession(id.0));
            }
            let is_news = !piece.bytes.is_empty()
                || piece.has_ended
                || since.is_some_and(|since| seq > since);
            if is_news || Instant::now() >= deadline {
                return Ok(BytesReply {
                    base64: STANDARD.encode(piece.bytes),
                    from: piece.from,
                    lost: piece.lost,
                    ended: piece.has_ended,
                    seq,
                });
            }
            tokio::select! {
                Ok(()) = changes.changed(), if since.is_some() => {}
                Ok(()) = arrived.changed() => {}
                () = sleep_until(deadline) => {}
            }
        }
    }
}
