//! The terminal engine: bytes of a program go in; screen state, replies and events come out.
//!
//! Owns the grid, its history, modes, styles and everything else that an escape sequence can change. Never does I/O,
//! starts threads, reads clocks or handles JSON. A [`Term`] is the state, a [`Parser`] changes it, and a [`Snapshot`]
//! is a copy of what a viewer sees. The owner of the `Term` (a pane of `unterm-mux`) drives both and passes replies
//! back to the program.
//!
//! A [`LineId`] identifies a line. Ids count from the first line that the terminal ever had. An id never changes while
//! the line exists, except that a reflow assigns new ids. Columns count cells from 0 at the left. Every batch of output
//! increases [`Term::seq`]. The `revision` of a row is the `seq` that last changed it.

mod cap;
mod color;
mod grid;
mod hex;
mod params;
mod parse;
mod read;
mod scan;
mod term;
#[cfg(test)]
mod tests;
mod unicode;
mod work;

pub use color::{Color, Palette, Rgb};
pub use grid::cell::{Cell, Content, PromptRole, Width};
pub use grid::geometry::{LineId, Point, Size};
pub use grid::history::Compression;
pub use grid::link::Link;
pub use grid::row::LineSize;
pub use grid::style::{Attrs, Style, Underline};
pub use grid::text_size::{Align, TextSize};
pub use parse::parser::Parser;
pub use read::lines::Lines;
pub use read::search::{Case, Pattern, PatternError, PatternKind, Search, SearchOrder};
pub use read::snapshot::{MulticellPart, Snapshot, SnapshotRow, StyleRun};
pub use read::text::WORD_SEPARATORS;
pub use term::event::{ClipboardTarget, Event, WindowRequest};
pub use term::glyphs::{
    ColorExtend, ColorLine, ColorPicture, ColorStop, CompositeMode, FontCoverage, GlyphAlign,
    GlyphColor, GlyphFill, GlyphOutline, GlyphPaint, GlyphPicture, GlyphPlacement, GlyphScale,
    OutlinePoint, RegisteredGlyph, RegisteredGlyphs,
};
pub use term::graphics::{
    CellRect, Decoding, Media, MediaError, MediaRequest, Medium, PixelRect, Pixels, RowImages,
    SnapshotImage,
};
pub use term::notification::{Notification, Occasion, Progress, Urgency};
pub use term::osc::context::{Context, ContextExit, ContextKind, EndedContext};
pub use term::osc::prompt::unescape as unescape_command_line;
pub use term::osc::status::{BlockedOn, ProgramState, ProgramStatus};
pub use term::osc::title::TitleSet;
pub use term::osc::transfer::{
    TransferAction, TransferAnswer, TransferAnswerAction, TransferCommand, TransferKind,
    TransferReply,
};
pub use term::osc::typed_clipboard::{
    ClipboardData, ClipboardError, ClipboardItem, ClipboardRead, ClipboardReader,
    ClipboardRequester, ClipboardWrite,
};
pub use term::settings::cursor::{Cursor, CursorShape};
pub use term::settings::extra_cursors::{ExtraCursor, ExtraCursorColor, ExtraCursorColors};
pub use term::settings::keyboard::{KeyboardMode, KittyFlags, function_key_number};
pub use term::settings::modes::{Modes, MouseEncoding, MouseTracking};
pub use term::shell::commands::{
    ClickEvents, ClickKeys, Command, CommandAlias, PromptOptions, Redraw,
};
pub use term::shell::typed::TypedId;
pub use term::{Allow, Match, Options, ScreenKind, Term, TextRange};
pub use unicode::cluster::text_clusters;
