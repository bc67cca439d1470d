//! XTWINOPS and related sequences: reports of sizes and titles, and requests to resize and move the window.
//!
//! [`Allow`] determines what a program may request. An allowed resize takes effect here at once, so that the next
//! sequence uses the new size, and [`Event::Window`] asks the owner to resize the real window. Other requests are only
//! recorded, so that reports agree with them even if there is no window. Source: xterm ctlseqs, "Window manipulation".

use crate::grid::cell::Cell;
use crate::params::Params;
use crate::term::{Allow, Term};
use crate::{Event, Size, WindowRequest};

/// The size in pixels that is assumed for the display. The engine cannot query the real size.
const DISPLAY: (u32, u32) = (1920, 1080);
/// The maximum number of rows or columns that a program may request.
const MAX_ASKED: u32 = 1000;
/// The smallest XTWINOPS parameter that has the meaning of DECSLPP.
const FIRST_LINES: u16 = 24;

/// The modes of XTSMTITLE: whether titles that are set, and titles that are reported, are in hexadecimal.
mod title_mode {
    pub const SET_HEX: u8 = 1 << 0;
    pub const GET_HEX: u8 = 1 << 1;
    pub const MAX: u16 = 3;
}

/// The state of the window, according to the program's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowState {
    pub iconified: bool,
    /// The position of the window's top left corner, in pixels.
    pub position: (u16, u16),
    /// The number of columns and of rows before the window was maximized in that direction.
    restore_cols: Option<u16>,
    restore_rows: Option<u16>,
    /// Bit n is set if mode n of XTSMTITLE is on.
    title_modes: u8,
}

impl WindowState {
    /// Resets the encoding of titles, for RIS. The window does not move.
    pub fn forget(&mut self) {
        self.title_modes = 0;
    }
}

impl Term {
    /// XTWINOPS: performs a window operation or reports the window's state.
    pub(crate) fn window_operation(&mut self, params: &Params) {
        let operation = params.get(0);
        match operation {
            11 => self.reply_text(format!("\x1b[{}t", 1 + self.window.iconified as u8)),
            13 => {
                // The text area begins at the window's corner, so both have the same position.
                let (x, y) = self.window.position;
                self.reply_text(format!("\x1b[3;{x};{y}t"));
            }
            14 => {
                let (width, height) = self.size.pixels();
                self.reply_text(format!("\x1b[4;{height};{width}t"));
            }
            15 => self.reply_text(format!("\x1b[5;{};{}t", DISPLAY.1, DISPLAY.0)),
            16 => {
                let (width, height) = self.size.cell_pixels();
                self.reply_text(format!("\x1b[6;{height};{width}t"));
            }
            18 => self.reply_text(format!("\x1b[8;{};{}t", self.size.rows, self.size.cols)),
            19 => {
                let (rows, cols) = self.display_cells();
                self.reply_text(format!("\x1b[9;{rows};{cols}t"));
            }
            20 => self.report_title('L'),
            21 => self.report_title('l'),
            22 => self.push_title(params.get(1), params.get(2)),
            23 => self.pop_title(params.get(1), params.get(2)),
            _ if !self.allow.contains(Allow::WINDOW_OPS) => {
                tracing::debug!(operation, "window operation refused");
            }
            1 => self.iconify(false),
            2 => self.iconify(true),
            3 => {
                self.window.position = (params.get(1), params.get(2));
                let (x, y) = self.window.position;
                self.event(Event::Window(WindowRequest::Move { x, y }));
            }
            4 => {
                let (width, height) = self.size.cell_pixels();
                let cells = |pixels: u16, cell: u16| pixels.div_ceil(cell);
                let rows = params.given(1).map(|pixels| cells(pixels, height));
                let cols = params.given(2).map(|pixels| cells(pixels, width));
                self.request_size(rows, cols);
            }
            5 => self.event(Event::Window(WindowRequest::Raise)),
            6 => self.event(Event::Window(WindowRequest::Lower)),
            // Refresh. Nothing to do, because views redraw by themselves.
            7 => {}
            8 => self.request_size(params.given(1), params.given(2)),
            9 => match params.get(1) {
                0 => self.maximize(false, false, false),
                1 => self.maximize(true, true, true),
                2 => self.maximize(true, false, true),
                3 => self.maximize(true, true, false),
                _ => {}
            },
            10 => match params.get(1) {
                0 => self.maximize(false, false, false),
                1 => self.maximize(true, true, true),
                2 => {
                    let on = self.window.restore_cols.is_none();
                    self.maximize(on, true, true);
                }
                _ => {}
            },
            lines if lines >= FIRST_LINES => self.request_size(Some(lines), None), // DECSLPP
            _ => tracing::debug!(operation, "unknown window operation"),
        }
    }

    /// The number of rows and columns of a window that fills the display.
    fn display_cells(&self) -> (u16, u16) {
        let (width, height) = self.size.cell_pixels();
        let cells = |pixels: u32, cell: u16| (pixels / cell as u32).clamp(1, MAX_ASKED) as u16;
        (cells(DISPLAY.1, height), cells(DISPLAY.0, width))
    }

    fn iconify(&mut self, on: bool) {
        if self.window.iconified != on {
            self.window.iconified = on;
            self.event(Event::Window(WindowRequest::Iconify(on)));
        }
    }

    /// Maximizes the window in one direction or in both, or reverts that.
    fn maximize(&mut self, on: bool, wide: bool, high: bool) {
        let window = &mut self.window;
        if on {
            window.restore_cols.get_or_insert(self.size.cols);
            window.restore_rows.get_or_insert(self.size.rows);
            let keep = |maximize: bool| if maximize { Some(0) } else { None };
            self.request_size(keep(high), keep(wide));
        } else {
            let (rows, cols) = (window.restore_rows.take(), window.restore_cols.take());
            self.request_size(rows, cols);
        }
    }

    /// Requests a size in cells. `None` keeps the current value, and 0 means as much as fits the display. Requires
    /// [`Allow::WINDOW_OPS`].
    pub(crate) fn request_size(&mut self, rows: Option<u16>, cols: Option<u16>) {
        if !self.allow.contains(Allow::WINDOW_OPS) {
            tracing::debug!("resize refused");
            return;
        }
        let (most_rows, most_cols) = self.display_cells();
        let side = |asked: Option<u16>, now: u16, most: u16| match asked {
            None => now,
            Some(0) => most,
            Some(asked) => asked.min(MAX_ASKED as u16),
        };
        let size = Size {
            rows: side(rows, self.size.rows, most_rows),
            cols: side(cols, self.size.cols, most_cols),
            ..self.size
        };
        if size != self.size {
            self.resize(size);
            self.event(Event::Window(WindowRequest::Resize(size)));
        }
    }

    /// DECCOLM (?3), if ?40 is set: sets 132 or 80 columns, clears the screen unless DECNCSM is set, and resets the
    /// margins.
    pub(crate) fn set_column_mode(&mut self, on: bool) {
        use crate::term::settings::modes::DecModes;
        if !self.dec.contains(DecModes::ALLOW_COLUMNS) {
            return;
        }
        let clears = !self.dec.contains(DecModes::KEEP_ON_COLUMNS);
        if clears {
            self.clear_screen();
        }
        self.dec.set(DecModes::COLUMNS_132, on);
        self.request_columns(if on { 132 } else { 80 });
        if clears {
            // The rows and columns that the resize added have no background color yet.
            self.clear_screen();
        }
        self.make_rows_single();
        (self.top, self.bottom) = (0, self.grid.rows());
        (self.left, self.right) = (0, self.grid.cols());
        self.move_to(1, 1);
    }

    /// DECSCPP: sets 80 (0 also means 80) or 132 columns, without the other effects of DECCOLM.
    pub(crate) fn set_columns(&mut self, columns: u16) {
        let columns = match columns {
            0 | 80 => 80,
            132 => 132,
            _ => return,
        };
        self.request_columns(columns);
    }

    /// Requests a number of columns, with the effect that a VT has: each row remains one row and loses the cells beyond
    /// its new end. A resize by the user rewraps rows instead.
    fn request_columns(&mut self, columns: u16) {
        let (now, end) = (self.grid.cols(), usize::from(columns));
        if end != now && self.allow.contains(Allow::WINDOW_OPS) {
            let end = end.min(now);
            for row in 0..self.grid.rows() {
                self.grid.part_wide(row, end, now, self.seq);
                // Clearing these cells also ends the wrap into the next row.
                self.grid.fill(row, end, now, Cell::EMPTY, self.seq);
            }
            if self.cursor.col >= end {
                self.cursor.col = end - 1;
                self.cursor.wrap_pending = false;
            }
        }
        self.request_size(None, Some(columns));
    }

    /// DECSNLS: sets 1 to 255 lines.
    pub(crate) fn set_lines(&mut self, lines: u16) {
        if (1..=255).contains(&lines) {
            self.request_size(Some(lines), None);
        }
    }

    /// XTSMTITLE: mode 0 sets titles in hexadecimal, mode 1 reports them in hexadecimal. Modes 2 and 3 do the same for
    /// UTF-8, which is always on here.
    pub(crate) fn set_title_modes(&mut self, params: &Params, on: bool) {
        for &mode in params.values() {
            if mode <= title_mode::MAX {
                let bit = 1 << mode;
                self.window.title_modes = self.window.title_modes & !bit | if on { bit } else { 0 };
            }
        }
    }

    /// Restores the value of [`Term::title_modes`].
    pub(crate) fn restore_title_modes(&mut self, modes: u8) {
        self.window.title_modes = modes;
    }

    /// The modes of XTSMTITLE that are on, for DECRQSS.
    pub(crate) fn title_modes(&self) -> u8 {
        self.window.title_modes
    }

    /// Whether OSC 0, 1 and 2 contain their text in hexadecimal.
    pub(crate) fn titles_come_in_hex(&self) -> bool {
        self.window.title_modes & title_mode::SET_HEX != 0
    }

    /// XTWINOPS 20 (`L`, the icon's label) and 21 (`l`, the title): reports one of them. Requires
    /// [`Allow::TITLE_REPORTS`].
    fn report_title(&mut self, which: char) {
        if !self.allow.contains(Allow::TITLE_REPORTS) {
            tracing::debug!("report of a title refused");
            return;
        }
        let title = if which == 'L' { &self.icon_title } else { &self.title };
        let title = if self.window.title_modes & title_mode::GET_HEX != 0 {
            crate::hex::hex(title, crate::hex::Case::Upper)
        } else {
            title.clone()
        };
        self.reply_text(format!("\x1b]{which}{title}\x1b\\"));
    }
}
