//! The terminal: screens, history and modes, and the methods that read them.
//!
//! Owns the state and its public interface. The effects of sequences live in modules named after what they change
//! (`print`, `motion`, `edit`, `mode`, `report`, `osc`), called from `csi`, `esc`, `control`, `dcs` and `osc`.

pub(crate) mod event;
pub(crate) mod glyphs;
pub(crate) mod graphics;
pub(crate) mod notification;
pub(crate) mod osc;
pub(crate) mod painter;
pub(crate) mod rendition;
mod reply;
pub(crate) mod screen;
pub(crate) mod settings;
pub(crate) mod shell;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cap::Caps;
use crate::grid::Grid;
use crate::grid::reflow::TextPlace;
use crate::term::glyphs::{FontCoverage, RegisteredGlyphs};
use crate::term::graphics::{Graphics, Media};
use crate::term::osc::OscState;
use crate::term::osc::title::{TitleStack, TitlesSet};
use crate::term::rendition::charset::Charsets;
use crate::term::rendition::pen::Pen;
use crate::term::rendition::sgr_stack::SgrStack;
use crate::term::reply::window_ops::WindowState;
use crate::term::screen::edit::Protection;
use crate::term::screen::tabs::Tabs;
use crate::term::settings::conformance::Conformance;
use crate::term::settings::extra_cursors::ExtraCursors;
use crate::term::settings::keyboard::Keyboard;
use crate::term::settings::modes::DecModes;
use crate::term::settings::vt52::AnsiState;
use crate::term::shell::commands::Commands;
use crate::term::shell::marks::Marks;
use crate::term::shell::redraw::CutRows;
use crate::term::shell::stale_prompt::{LastLine, StalePrompt};
use crate::term::shell::typed::Typed;
use crate::{
    Compression, Cursor, CursorShape, Event, LineId, Modes, MouseEncoding, MouseTracking, Palette,
    Point, Size,
};

/// Maximum columns or rows of a grid.
const MAX_SIDE: u16 = 4096;
/// Maximum lines of history of a screen.
const MAX_SCROLLBACK: usize = 999_999_999;
/// Maximum bytes of replies queued until `Term::take_replies`.
const REPLIES_CAP: usize = 64 << 10;
/// Maximum events queued until `Term::take_events`.
const EVENTS_CAP: usize = 4096;

/// The settings of a new terminal.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lines of history the main screen keeps, at most 999,999,999. A line counts once, however many rows it takes. Memory
    /// grows as lines arrive; rows beyond one for each line are bounded to 2 KiB for each line of this limit.
    pub scrollback: usize,
    /// Reads the image files that a program names instead of sending; `None` if the program runs on another machine.
    pub media: Option<Arc<dyn Media>>,
    /// The fonts of the front end, which the Glyph Protocol reports; `None` if there are none.
    pub fonts: Option<Arc<dyn FontCoverage>>,
    /// The theme's colors. OSC 4/10/11/12 change a copy; OSC 104/110–112 restore these.
    pub palette: Arc<Palette>,
    /// Characters of ambiguous width (UAX #11) take two columns, as in East Asian fonts.
    pub ambiguous_wide: bool,
    /// Whether there is a clipboard, so that programs may use OSC 5522 and mode 5522; true by default.
    pub has_clipboard: bool,
    /// What sequences may do beyond the grid; nothing by default.
    pub allow: Allow,
    /// A secret that only the pane's own shells put in their marks (OSC 133 `nonce=`, OSC 633 E).
    pub nonce: Option<Arc<str>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scrollback: 10_000,
            palette: Arc::new(Palette::default()),
            ambiguous_wide: false,
            media: None,
            fonts: None,
            has_clipboard: true,
            allow: Allow::empty(),
            nonce: None,
        }
    }
}

bitflags::bitflags! {
    /// Sequences that work only if the user allows them (compare xterm's `allowWindowOps`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Allow: u8 {
        /// XTWINOPS, DECSLPP, DECSCPP, DECSNLS and DECCOLM resize the grid and move the window.
        const WINDOW_OPS = 1 << 0;
        /// DECRQCRA replies: a program can read the screen through checksums.
        const CHECKSUM_REPORTS = 1 << 1;
        /// XTWINOPS 20 and 21 report the titles, which may hold text from any program (CVE-2003-0063).
        const TITLE_REPORTS = 1 << 2;
    }
}

/// One of the two screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ScreenKind {
    /// The screen with history.
    #[default]
    Main,
    /// The screen without history (?1049).
    Alternate,
}

/// A range of text between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRange {
    /// First cell.
    pub start: Point,
    /// Last cell, inclusive; not before `start` in reading order.
    pub end: Point,
    /// The range is the rectangle between the two corners, not a run of text.
    pub block: bool,
}

/// A match of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// First and last cell.
    pub range: TextRange,
    /// The screen of the match.
    pub screen: ScreenKind,
    /// The terminal's `seq` when the search copied its lines; see [`Term::still_holds`].
    pub seq: u64,
}

/// Where the next character goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub row: usize,
    pub col: usize,
    /// The last column has been printed to, so the next character wraps first (DEC's "last column flag").
    pub wrap_pending: bool,
}

impl Position {
    /// Row, column and flag packed into one number.
    #[inline]
    pub fn key(self) -> u64 {
        (self.row as u64) << 32 | (self.col as u64) << 1 | self.wrap_pending as u64
    }
}

/// A [key](Position::key) that no position has.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// What DECSC saves (DEC STD 070; xterm ctlseqs).
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedCursor {
    pub position: Position,
    pub pen: Pen,
    pub charsets: Charsets,
    pub origin: bool,
    /// Whether a program saved it; the initial values do not count.
    pub is_set: bool,
}

/// The state of one terminal.
pub struct Term {
    /// The visible screen.
    pub(crate) grid: Grid,
    /// The other screen.
    pub(crate) hidden: Grid,
    pub(crate) screen: ScreenKind,
    pub(crate) seq: u64,
    /// See [`Term::resized`].
    pub(crate) resized: u64,
    pub(crate) size: Size,
    pub(crate) cursor: Position,
    pub(crate) pen: Pen,
    pub(crate) sgr_stack: SgrStack,
    pub(crate) charsets: Charsets,
    /// The state to restore when ANSI mode returns; `Some` while VT52 mode is on.
    pub(crate) ansi: Option<Box<AnsiState>>,
    /// DECSC of the visible screen, and of the hidden screen.
    pub(crate) saved: SavedCursor,
    pub(crate) hidden_saved: SavedCursor,
    /// The cursor when the hidden screen was last visible. A resize moves it along with the text there.
    pub(crate) hidden_cursor: Position,
    /// Scroll region: the first row, and the row after the last; at least two rows, or the whole screen.
    pub(crate) top: usize,
    pub(crate) bottom: usize,
    /// Margins: the first column between them, and the column after the last; all columns unless DECLRMM is set.
    pub(crate) left: usize,
    pub(crate) right: usize,
    /// Modes that only the engine reads.
    pub(crate) dec: DecModes,
    /// The conformance level, 7-bit or 8-bit replies, and the settings of DECSACE and XTCHECKSUM.
    pub(crate) conformance: Conformance,
    /// Which erase functions respect protection, as SPA or DECSCA set it.
    pub(crate) protection: Protection,
    /// The state of XTWINOPS and XTSMTITLE.
    pub(crate) window: WindowState,
    /// What sequences may do beyond the grid.
    pub(crate) allow: Allow,
    pub(crate) tabs: Tabs,
    pub(crate) modes: Modes,
    pub(crate) mouse_tracking: MouseTracking,
    pub(crate) mouse_encoding: MouseEncoding,
    pub(crate) keyboard: Keyboard,
    pub(crate) osc: OscState,
    pub(crate) commands: Commands,
    /// What the last resize cut for a shell that draws its prompt again.
    pub(crate) held: Option<Box<CutRows>>,
    /// An old drawing of the prompt above the one that the shell draws now.
    pub(crate) stale_prompt: Option<Box<StalePrompt>>,
    pub(crate) last_line: LastLine,
    pub(crate) marks: Marks,
    pub(crate) typed: Typed,
    pub(crate) shape: CursorShape,
    pub(crate) blinking: bool,
    pub(crate) extra_cursors: ExtraCursors,
    /// The last printed character, for REP; `\0` after any other operation ([`Term::end_operation`]).
    pub(crate) last_printed: char,
    /// The [key](Position::key) of the cursor after the last print. While it still matches, combining marks join that
    /// text.
    pub(crate) printed_to: u64,
    /// See [`Options::ambiguous_wide`].
    pub(crate) ambiguous_wide: bool,
    /// See [`Options::has_clipboard`].
    pub(crate) has_clipboard: bool,
    /// Scratch memory for building a cluster.
    pub(crate) cluster: String,
    pub(crate) title: String,
    /// The icon's label (OSC 0, 1), which no front end displays.
    pub(crate) icon_title: String,
    pub(crate) titles: TitleStack,
    /// Titles set since the last `Term::take_titles_set`.
    pub(crate) titles_set: TitlesSet,
    pub(crate) cwd: Option<String>,
    /// Private modes saved by XTSAVE.
    pub(crate) saved_modes: Vec<(u16, bool)>,
    /// See [`Term::set_visible`].
    pub(crate) is_visible: bool,
    pub(crate) graphics: Graphics,
    /// The glyphs that programs registered. Snapshots share them.
    pub(crate) glyphs: Arc<RegisteredGlyphs>,
    /// See [`Options::fonts`].
    pub(crate) fonts: Option<Arc<dyn FontCoverage>>,
    /// Which caps have already been logged as exceeded.
    pub(crate) caps: Caps,
    pub(crate) base_palette: Arc<Palette>,
    pub(crate) palette: Arc<Palette>,
    replies: Vec<u8>,
    events: VecDeque<Event>,
}

impl Term {
    /// An empty terminal. Sides are limited to 4,096 cells.
    pub fn new(size: Size, options: Options) -> Self {
        let size = clamp(size);
        let (cols, rows) = (size.cols as usize, size.rows as usize);
        Self {
            grid: Grid::new(cols, rows, options.scrollback.min(MAX_SCROLLBACK), 0, 1),
            hidden: Grid::new(cols, rows, 0, 0, 1),
            screen: ScreenKind::Main,
            seq: 1,
            resized: 0,
            size,
            cursor: Position::default(),
            pen: Pen::default(),
            sgr_stack: SgrStack::default(),
            charsets: Charsets::default(),
            ansi: None,
            saved: SavedCursor::default(),
            hidden_saved: SavedCursor::default(),
            hidden_cursor: Position::default(),
            top: 0,
            bottom: rows,
            left: 0,
            right: cols,
            dec: Self::first_dec_modes(),
            conformance: Conformance::default(),
            protection: Protection::Off,
            window: WindowState::default(),
            allow: options.allow,
            tabs: Tabs::new(cols),
            modes: Self::first_modes(),
            mouse_tracking: MouseTracking::Off,
            mouse_encoding: MouseEncoding::Legacy,
            keyboard: Keyboard::default(),
            osc: OscState::default(),
            commands: Commands::new(options.nonce),
            held: None,
            stale_prompt: None,
            last_line: LastLine::default(),
            marks: Marks::default(),
            typed: Typed::default(),
            shape: CursorShape::Default,
            blinking: false,
            extra_cursors: ExtraCursors::default(),
            last_printed: '\0',
            printed_to: NOWHERE,
            ambiguous_wide: options.ambiguous_wide,
            has_clipboard: options.has_clipboard,
            cluster: String::new(),
            title: String::new(),
            icon_title: String::new(),
            titles: TitleStack::default(),
            titles_set: TitlesSet::default(),
            cwd: None,
            saved_modes: Vec::new(),
            is_visible: true,
            graphics: Graphics::new(options.media),
            glyphs: Arc::default(),
            fonts: options.fonts,
            caps: Caps::default(),
            base_palette: options.palette.clone(),
            palette: options.palette,
            replies: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// The modes of a new or reset terminal.
    pub(crate) fn first_modes() -> Modes {
        Modes::AUTO_WRAP
            | Modes::SHOW_CURSOR
            | Modes::ALTERNATE_SCROLL
            | Modes::ALT_SENDS_ESC
            | Modes::GRAPHEMES
    }

    /// The engine's own modes of a new or reset terminal.
    pub(crate) fn first_dec_modes() -> DecModes {
        DecModes::SEND_RECEIVE | DecModes::FONT_KEYS
    }

    /// The number of the last change. Every batch of output, resize and reset advances it.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The size of the grid.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Changes the grid's size. The main screen and its history reflow; the alternate screen is cut or padded. Sides
    /// are limited to 4,096 cells.
    pub fn resize(&mut self, size: Size) {
        self.resize_following(size, &mut []);
    }

    /// Like [`Term::resize`], and updates `points` of the visible screen (a selection's ends, a scroll position) to
    /// where the same text now is, or to `None` if that text is no longer kept.
    pub fn resize_following(&mut self, size: Size, points: &mut [Option<Point>]) {
        let size = clamp(size);
        let cells_changed = (size.cols, size.rows) != (self.size.cols, self.size.rows);
        if size == self.size {
            return;
        }
        self.seq += 1;
        self.size = size;
        if self.modes.contains(Modes::IN_BAND_RESIZE) {
            self.report_size();
        }
        self.graphics.changed();
        if !cells_changed {
            return;
        }
        self.resized = self.seq;
        self.flush_scrolled_images();
        self.hold_prompt(size.cols as usize);
        let is_behind_text = self.printed_to == self.cursor.key();
        let (cols, rows) = (size.cols as usize, size.rows as usize);
        let old_cols = self.grid.cols();
        let place = |position: Position| TextPlace {
            row: position.row,
            col: position.col,
            // A wrap can be pending elsewhere (CBT, DECRC); there it ends.
            past: position.wrap_pending && position.col + 1 == old_cols,
        };
        let mut shown = [place(self.cursor), place(self.saved.position)];
        let mut hidden = [place(self.hidden_cursor), place(self.hidden_saved.position)];
        let is_main = self.screen == ScreenKind::Main;
        let mut anchors =
            [ScreenKind::Main, ScreenKind::Alternate].map(|s| self.collect_anchors(s));
        anchors[!is_main as usize].extend_from_slice(points);
        let [main_anchors, alternate_anchors] = &mut anchors;
        let (main, alternate) = if is_main {
            ((&mut self.grid, &mut shown[..]), (&mut self.hidden, &mut hidden[..]))
        } else {
            ((&mut self.hidden, &mut hidden[..]), (&mut self.grid, &mut shown[..]))
        };
        let layers = [&self.graphics.shown, &self.graphics.hidden];
        let tiles = &layers[!is_main as usize].tiles;
        main.0.reflow(cols, rows, main.1, main_anchors, tiles, self.seq);
        alternate.0.cut_or_pad(cols, rows, alternate.1, alternate_anchors, self.seq);
        let given = &mut anchors[!is_main as usize];
        points.copy_from_slice(&given.split_off(given.len() - points.len()));
        self.place_anchors(ScreenKind::Main, &anchors[0]);
        self.place_anchors(ScreenKind::Alternate, &anchors[1]);
        for (position, place) in [
            (&mut self.cursor, shown[0]),
            (&mut self.saved.position, shown[1]),
            (&mut self.hidden_cursor, hidden[0]),
            (&mut self.hidden_saved.position, hidden[1]),
        ] {
            position.wrap_pending = place.past;
            position.col = place.col;
            position.row = place.row;
        }
        self.saved.rows_have_moved();
        self.hidden_saved.rows_have_moved();
        self.top = 0;
        self.bottom = rows;
        self.left = 0;
        self.right = cols;
        // Origin mode referred to the old scroll region, so it ends with it, as in xterm.
        self.modes.remove(Modes::ORIGIN);
        self.cursor.col = self.cursor.col.min(self.row_cols() - 1);
        self.settle_wrap();
        self.printed_to = if is_behind_text { self.cursor.key() } else { NOWHERE };
        self.tabs.resize(cols);
        self.extra_cursors.resize(rows, cols);
        self.pen.forget_ids();
        self.show_held();
        self.debug_check();
    }

    /// The next part of history that is due for compression, or `None`. Run it without the lock while the program is
    /// silent, then pass it to [`Term::compressed`].
    pub fn compression(&mut self) -> Option<Compression> {
        self.main_grid().history.due()
    }

    /// Stores a finished [`Compression`]. Ignores it if the pages it was made from are gone.
    pub fn compressed(&mut self, compression: Compression) {
        self.main_grid().history.replace(compression);
    }

    /// The main screen, visible or hidden.
    pub(crate) fn main_grid(&mut self) -> &mut Grid {
        if self.screen == ScreenKind::Main { &mut self.grid } else { &mut self.hidden }
    }

    /// Bytes of memory the lines of history use.
    pub fn history_size(&self) -> usize {
        self.grid.history.size() + self.hidden.history.size()
    }

    /// Changes the theme's colors, keeping the colors that the program set.
    pub fn set_base_palette(&mut self, palette: Arc<Palette>) {
        if palette == self.base_palette {
            return;
        }
        self.seq += 1;
        let was_dark = self.palette.is_dark();
        self.rebase_palette(palette);
        if self.modes.contains(Modes::COLOR_SCHEME) && self.palette.is_dark() != was_dark {
            self.report_color_scheme();
        }
        self.event(Event::Palette);
    }

    /// Sets whether any view of the terminal may be seen, and reports a change to a program that asked for it (mode 2033,
    /// rockorager's "Terminal Visibility Reports"). A new terminal counts as visible. The state belongs to the owner: no
    /// reset changes it, and [`Term::to_vt`] does not write it. Pass `false` only if all views are known to be hidden.
    pub fn set_visible(&mut self, visible: bool) {
        if std::mem::replace(&mut self.is_visible, visible) != visible {
            self.repeat_visibility();
        }
    }

    /// Whether any view of the terminal may be seen.
    pub fn is_visible(&self) -> bool {
        self.is_visible
    }

    /// Reports the visibility again to a program that asked for reports. For an owner that adopts a running program: the
    /// program may last have heard something else from its former owner.
    pub fn repeat_visibility(&mut self) {
        if self.modes.contains(Modes::VISIBILITY) {
            self.report_visibility();
        }
    }

    /// Changes [`Options::ambiguous_wide`] for text printed from now on.
    pub fn set_ambiguous_wide(&mut self, wide: bool) {
        self.ambiguous_wide = wide;
    }

    /// Takes the bytes to send to the program (replies to DA, DSR, …), in order. If 64 KiB are queued, whole replies
    /// are dropped.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.replies)
    }

    /// Takes the events since the last call, in order. At most 4,096 are kept; equal consecutive events count once.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events).into()
    }

    /// Which screen is visible.
    pub fn screen(&self) -> ScreenKind {
        self.screen
    }

    /// The current modes.
    pub fn modes(&self) -> Modes {
        self.modes
    }

    /// Which mouse events the program requested.
    pub fn mouse_tracking(&self) -> MouseTracking {
        self.mouse_tracking
    }

    /// The encoding of mouse events.
    pub fn mouse_encoding(&self) -> MouseEncoding {
        self.mouse_encoding
    }

    /// The first and the last row of the scroll region (DECSTBM), from 0.
    pub fn scroll_region(&self) -> (u16, u16) {
        (self.top as u16, (self.bottom - 1) as u16)
    }

    /// Ends synchronized output (mode 2026). The owner calls this 150 ms after the mode was set.
    pub fn end_synchronized(&mut self) {
        if self.modes.contains(Modes::SYNCHRONIZED) {
            self.seq += 1;
            self.modes.remove(Modes::SYNCHRONIZED);
        }
    }

    /// The character that REP would repeat, or NUL, and whether a combining mark would join the character before the
    /// cursor. [`Term::to_vt`] does not write this.
    pub fn last_printed(&self) -> (char, bool) {
        (self.last_printed, self.printed_to == self.cursor.key())
    }

    /// Restores what [`Term::last_printed`] has returned, for a terminal that was rebuilt.
    pub fn set_last_printed(&mut self, (character, joins): (char, bool)) {
        self.last_printed = character;
        self.printed_to = if joins { self.cursor.key() } else { NOWHERE };
    }

    /// The cursor on the live screen.
    pub fn cursor(&self) -> Cursor {
        Cursor {
            row: self.cursor.row as u16,
            col: self.cursor.col as u16,
            visible: self.modes.contains(Modes::SHOW_CURSOR),
            shape: self.shape,
            blinking: self.blinking,
        }
    }

    /// The title (OSC 0, 2), empty if none was set. Without control characters, at most 4 KiB.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The working directory that the program last reported (OSC 7: a `file://` URI).
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The current colors.
    pub fn palette(&self) -> &Arc<Palette> {
        &self.palette
    }

    /// Rows of history above the live screen (0 on the alternate screen).
    pub fn history_rows(&self) -> usize {
        (self.grid.live_top() - self.grid.oldest()) as usize
    }

    /// Id of the oldest row kept for the visible screen.
    pub fn oldest(&self) -> LineId {
        LineId(self.grid.oldest())
    }

    /// Id of the first row of the live screen: `oldest() + history_rows()`. A resize and kitty's unscroll can lower it.
    pub fn live_top(&self) -> LineId {
        LineId(self.grid.live_top())
    }

    /// The `seq` of the row's last change, or `None` if the row is not kept.
    pub fn revision(&self, line: LineId) -> Option<u64> {
        Some(self.grid.line_meta(line.0)?.revision)
    }

    /// The `seq` of the last change of columns or rows, 0 before the first. A resize may renumber rows and wrap them
    /// elsewhere, but rows keep their revisions, since a resize writes no text.
    pub fn resized(&self) -> u64 {
        self.resized
    }

    /// Whether the row's text continues in the next row without a line break.
    pub fn is_wrapped(&self, line: LineId) -> bool {
        self.grid.line_meta(line.0).is_some_and(|meta| meta.is_wrapped())
    }

    // --- for the modules that change the state

    /// Starts a batch of output.
    pub(crate) fn begin_batch(&mut self) {
        self.seq += 1;
    }

    /// Ends a batch of output.
    pub(crate) fn end_batch(&mut self) {
        if self.graphics.shown.has_placements() {
            self.settle_images();
        }
        #[cfg(debug_assertions)]
        {
            self.grid.check_rows(|meta| meta.revision == self.seq);
            if self.seq.is_multiple_of(64) {
                self.debug_check();
            }
        }
    }

    /// Runs after each sequence or control. REP then has no character to repeat, and a pending wrap ends if the cursor
    /// is now inside a row of double width. In debug builds, panics if the cursor, the region or the cursor's row is in an
    /// invalid state.
    #[inline(always)]
    pub(crate) fn end_operation(&mut self) {
        self.last_printed = '\0';
        if self.cursor.wrap_pending && self.grid.meta(self.cursor.row).is_double() {
            self.settle_wrap();
        }
        #[cfg(debug_assertions)]
        {
            self.check_place();
            self.grid.check_row(self.cursor.row);
        }
    }

    #[cfg(debug_assertions)]
    fn check_place(&self) {
        assert!(self.cursor.row < self.grid.rows() && self.cursor.col < self.grid.cols());
        assert!(self.top < self.bottom && self.bottom <= self.grid.rows());
        assert!(self.left < self.right && self.right <= self.grid.cols());
        let margins = self.dec.contains(DecModes::LEFT_RIGHT);
        assert!(margins || self.scrolls_whole_rows(), "margins without DECLRMM");
    }

    /// Queues bytes for the program. Callers pass fixed texts and numbers. The only program-written text they may pass
    /// is the names that [`crate::term::reply::report`] lists.
    pub(crate) fn reply(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() > REPLIES_CAP {
            // The owner is not taking replies.
            return self.caps.dropped("reply", REPLIES_CAP);
        }
        if self.conformance.eight_bit {
            self.conformance.widen(bytes, &mut self.replies);
        } else {
            self.replies.extend_from_slice(bytes);
        }
    }

    pub(crate) fn event(&mut self, event: Event) {
        if self.events.back() == Some(&event) {
            return;
        }
        if self.events.len() >= EVENTS_CAP {
            return self.caps.dropped("event", EVENTS_CAP);
        }
        self.events.push_back(event);
    }

    /// Panics if the state is inconsistent; does nothing in release builds. For tests: a batch already checks what it
    /// changed.
    #[doc(hidden)]
    pub fn debug_check(&self) {
        #[cfg(debug_assertions)]
        {
            self.grid.check();
            self.hidden.check();
            self.check_place();
            assert_eq!(self.grid.cols(), self.size.cols as usize);
            assert_eq!(self.grid.rows(), self.size.rows as usize);
        }
    }
}

fn clamp(size: Size) -> Size {
    Size { cols: size.cols.clamp(1, MAX_SIDE), rows: size.rows.clamp(1, MAX_SIDE), ..size }
}
