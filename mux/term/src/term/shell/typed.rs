//! Positions at which callers typed text, and the cells that a line editor drew.
//!
//! Owns positions on the main screen, so that the echo of typed text can be found where it was drawn. A position
//! follows its row when lines rewrap. It is lost when it scrolls out of history, or when there are too many positions.
//! A cell counts as drawn by a line editor if it is printed while the program requests bracketed pastes (mode 2004,
//! [`crate::Cell::is_edited`]): editors request the mode with their prompt, and end it before they run what was typed.

use std::collections::VecDeque;

use crate::Point;
use crate::grid::row::TYPED;
use crate::term::Term;
use crate::term::shell::anchors::Visit;
use crate::{LineId, Modes};

/// The maximum number of positions. If there are more, the oldest is dropped.
const TYPED_CAP: usize = 512;

/// Identifies a position as long as the terminal exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedId(u64);

/// The positions, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    /// The positions. `None` for a position that a reflow lost.
    points: VecDeque<Option<Point>>,
    /// The id of the first position.
    first: u64,
    /// See [`Term::has_edited_lines`].
    has_edited_lines: bool,
}

impl Typed {
    fn add(&mut self, at: Point) -> TypedId {
        if self.points.len() == TYPED_CAP {
            self.points.pop_front();
            self.first += 1;
        }
        self.points.push_back(Some(at));
        TypedId(self.first + self.points.len() as u64 - 1)
    }

    fn get(&self, id: TypedId) -> Option<Point> {
        let index = usize::try_from(id.0.checked_sub(self.first)?).ok()?;
        self.points.get(index).copied().flatten()
    }

    /// Calls `visit` for every position.
    pub fn visit(&mut self, visit: &mut Visit<'_>) {
        self.points.iter_mut().for_each(visit);
    }

    /// Drops all positions. Their ids are not used again.
    pub fn clear(&mut self) {
        self.first += self.points.len() as u64;
        self.points.clear();
    }
}

impl Term {
    /// Stores the cursor's position, at which input is about to be typed. Returns `None` on the alternate screen.
    pub fn mark_typed(&mut self) -> Option<TypedId> {
        let at = self.cursor_point()?;
        self.mark_typed_at(at)
    }

    /// Stores a position on the main screen at which typed text is shown. Returns `None` if its row is not stored, or
    /// if the alternate screen is visible.
    pub fn mark_typed_at(&mut self, at: Point) -> Option<TypedId> {
        self.cursor_point()?;
        if at.line < self.oldest() || at.line.0 >= self.grid.end() {
            return None;
        }
        if let Some(row) = at.line.0.checked_sub(self.grid.live_top()) {
            self.grid.meta_mut(row as usize).flags |= TYPED;
        }
        Some(self.typed.add(at))
    }

    /// The position with this id, if its row was not cleared.
    pub fn typed_at(&self, id: TypedId) -> Option<Point> {
        let at = self.typed.get(id)?;
        let screen = self.main_screen();
        // Rows of history cannot be cleared. Skipping them avoids thawing.
        let stands = at.line.0 < screen.live_top() && at.line.0 >= screen.oldest()
            || screen.line_meta(at.line.0).is_some_and(|meta| meta.flags & TYPED != 0);
        stands.then_some(at)
    }

    /// The position with this id, even if its row was cleared.
    pub fn typed_from(&self, id: TypedId) -> Option<Point> {
        let at = self.typed.get(id)?;
        (at.line >= LineId(self.main_screen().oldest())).then_some(at)
    }

    /// Whether a line editor has run on the main screen: a program requested bracketed pastes (mode 2004) there.
    pub fn has_edited_lines(&self) -> bool {
        self.typed.has_edited_lines
    }

    /// Makes the pen mark the cells that a line editor draws, as long as a line editor runs.
    pub(crate) fn follow_editor(&mut self) {
        let edits = self.modes.contains(Modes::BRACKETED_PASTE);
        self.pen.set_edits(edits);
        self.typed.has_edited_lines |= edits && self.cursor_point().is_some();
    }
}
