//! Writes the whole state as text, which tests compare.

use std::fmt::Write;

use crate::LineId;
use crate::grid::Scratch;
use crate::grid::cell::{Cell, HEAD, PromptRole};
use crate::grid::row::MARKS;
use crate::term::Term;

impl Term {
    /// The whole state as text, for tests: size, cursor, modes, and every stored row with its styles and marks.
    /// Terminals with equal dumps look and behave alike.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        let mut saved_modes = self.saved_modes.clone();
        saved_modes.sort_unstable();
        let size = self.size;
        let _ = writeln!(
            out,
            "size {}x{} cell {}x{} screen {:?} region {}..{} margins {}..{}",
            size.cols,
            size.rows,
            size.cell_width,
            size.cell_height,
            self.screen,
            self.top,
            self.bottom,
            self.left,
            self.right
        );
        let _ = writeln!(
            out,
            "cursor {:?} {:?} blinking {} hidden {:?} saved {:?} hidden {:?}",
            self.cursor,
            self.shape,
            self.blinking,
            self.hidden_cursor,
            self.saved.position,
            self.hidden_saved.position
        );
        for saved in [&self.saved, &self.hidden_saved] {
            let _ = writeln!(
                out,
                "saved {} {:?} protected {} {:?} origin {}",
                saved.is_set,
                saved.pen.style(),
                saved.pen.is_protected(),
                saved.charsets,
                saved.origin
            );
        }
        let _ = writeln!(
            out,
            "pen {:?} {:?} {:?} protected {}",
            self.pen.style(),
            self.pen.link(),
            self.pen.role(),
            self.pen.is_protected()
        );
        let _ = writeln!(
            out,
            "modes {:?} mouse {:?} {:?}",
            self.modes, self.mouse_tracking, self.mouse_encoding
        );
        if self.is_vt52() {
            let _ = writeln!(out, "put aside {:?}", self.ansi_state());
        }
        let _ = writeln!(
            out,
            "{:?} tabs {:?} last {:?}",
            self.charsets,
            self.tabs.columns().collect::<Vec<_>>(),
            self.last_printed
        );
        let _ = writeln!(
            out,
            "{:?} {:?} title modes {}",
            self.dec,
            self.conformance,
            self.title_modes()
        );
        let _ = writeln!(
            out,
            "title {:?} icon {:?} {:?} cwd {:?} saved modes {:?} {:?}",
            self.title, self.icon_title, self.titles, self.cwd, saved_modes, self.keyboard
        );
        self.dump_osc_state(&mut out);
        let _ = writeln!(out, "{:?} {:?}", self.sgr_stack, self.graphics.sixel);
        self.dump_extra_cursors(&mut out);
        self.dump_glyphs(&mut out);
        if self.palette != self.base_palette {
            let _ = writeln!(out, "palette {:?}", self.palette);
        }
        dump_grid(&self.grid, &mut out);
        out.push_str("hidden\n");
        dump_grid(&self.hidden, &mut out);
        out
    }
}

fn dump_grid(grid: &crate::grid::Grid, out: &mut String) {
    let mut scratch = Scratch::default();
    let live = grid.live_top();
    for line in grid.oldest()..grid.end() {
        let Some(view) = grid.read(line, &mut scratch) else { continue };
        let place = LineId(line).0 as i64 - live as i64;
        let wrapped = if view.meta.is_wrapped() { '\\' } else { '|' };
        let _ = write!(out, "{place:4} |");
        let mut notes = String::new();
        let mut before = (Default::default(), None, PromptRole::Output, false);
        let is_shown = |cell: &Cell| cell.0 & !HEAD != 0;
        let last = view.cells.iter().rposition(is_shown).map_or(0, |last| last + 1);
        for (col, cell) in view.cells[..last].iter().enumerate() {
            use crate::{Content, Width};
            match (cell.width(), cell.content()) {
                (Width::Tail, _) => {}
                // A wide character did not fit here. Anywhere else, such a cell remains from a row that was changed
                // after it wrapped, and is an ordinary blank.
                (Width::Head, _) if view.meta.is_wrapped() && col + 1 == grid.cols() => {
                    out.push('»')
                }
                (_, Content::Empty) => out.push('·'),
                (_, Content::Char(c)) => out.push(c),
                (_, Content::Cluster(id)) => {
                    let text = view.tables.cluster(id as u16).map_or("?", |text| text);
                    let _ = write!(out, "<{text}>");
                }
            }
            let look = (
                view.tables.style(cell.style_id()),
                view.tables.link(cell.link_id()).cloned(),
                cell.prompt_role(),
                cell.is_protected(),
            );
            if look != before {
                let _ = write!(notes, "\n       from {col}: {look:?}");
                before = look;
            }
        }
        if before != (Default::default(), None, PromptRole::Output, false) {
            let _ = write!(notes, "\n       until {last}");
        }
        let _ = write!(out, "{wrapped}");
        if view.meta.is_double() {
            let _ = write!(out, " {:?}", view.meta.line_size());
        }
        if view.meta.flags & MARKS != 0 {
            let _ = write!(out, " marks {:#b}", view.meta.flags & MARKS);
        }
        let _ = writeln!(out, "{notes}");
    }
}
