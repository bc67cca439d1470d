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

mod anchors;
mod block;
mod cap;
mod capabilities;
mod cell;
mod charset;
mod click;
mod cluster;
mod cold;
mod color;
mod color_table;
mod commands;
mod conformance;
mod control;
mod csi;
mod cursor;
mod dcs;
mod dump;
mod edit;
mod esc;
mod event;
mod extra_cursors;
mod geometry;
mod glyphs;
mod graphics;
mod grid;
mod hex;
mod history;
mod keyboard;
mod left_behind;
mod line_size;
mod lines;
mod margins;
mod marks;
mod mode;
mod modes;
mod motion;
mod multicell;
mod notification;
mod osc;
mod page;
mod params;
mod parser;
mod pen;
mod presentation;
mod print;
mod rectangle;
mod redraw;
mod reflow;
mod report;
mod row;
mod scan;
mod search;
mod settings;
mod sgr;
mod sgr_stack;
mod snapshot;
mod stale_prompt;
mod style;
mod tables;
mod tabs;
mod term;
#[cfg(test)]
mod tests;
mod text;
mod text_size;
mod to_vt;
mod typed;
mod unicode;
mod unmarked_prompt;
mod view;
mod vt52;
mod window_ops;
mod work;

pub use cell::{Cell, Content, PromptRole, Width};
pub use cluster::text_clusters;
pub use color::{Color, Palette, Rgb};
pub use commands::{ClickEvents, ClickKeys, Command, CommandAlias, PromptOptions, Redraw};
pub use cursor::{Cursor, CursorShape};
pub use event::{ClipboardTarget, Event, WindowRequest};
pub use extra_cursors::{ExtraCursor, ExtraCursorColor, ExtraCursorColors};
pub use geometry::{LineId, Point, Size};
pub use glyphs::{
    ColorExtend, ColorLine, ColorPicture, ColorStop, CompositeMode, FontCoverage, GlyphAlign,
    GlyphColor, GlyphFill, GlyphOutline, GlyphPaint, GlyphPicture, GlyphPlacement, GlyphScale,
    OutlinePoint, RegisteredGlyph, RegisteredGlyphs,
};
pub use graphics::{
    CellRect, Decoding, Media, MediaError, MediaRequest, Medium, PixelRect, Pixels, RowImages,
    SnapshotImage,
};
pub use history::Compression;
pub use keyboard::{KeyboardMode, KittyFlags, function_key_number};
pub use lines::Lines;
pub use modes::{Modes, MouseEncoding, MouseTracking};
pub use notification::{Notification, Occasion, Progress, Urgency};
pub use osc::context::{Context, ContextExit, ContextKind, EndedContext};
pub use osc::prompt::unescape as unescape_command_line;
pub use osc::status::{BlockedOn, ProgramState, ProgramStatus};
pub use osc::title::TitleSet;
pub use osc::transfer::{
    TransferAction, TransferAnswer, TransferAnswerAction, TransferCommand, TransferKind,
    TransferReply,
};
pub use osc::typed_clipboard::{
    ClipboardData, ClipboardError, ClipboardItem, ClipboardRead, ClipboardReader,
    ClipboardRequester, ClipboardWrite,
};
pub use parser::Parser;
pub use row::LineSize;
pub use search::{Case, Pattern, PatternError, PatternKind, Search, SearchOrder};
pub use snapshot::{Link, MulticellPart, Snapshot, SnapshotRow, StyleRun};
pub use style::{Attrs, Style, Underline};
pub use term::{Allow, Match, Options, ScreenKind, Term, TextRange};
pub use text::WORD_SEPARATORS;
pub use text_size::{Align, TextSize};
pub use typed::TypedId;
