//! Positions of the main screen at which a caller typed, so that an echo is found where it was drawn.
//!
//! Owns the positions. A position follows its row when lines rewrap. It is gone when its row is cleared, scrolls out of
//! history, or is one of too many.

use std::collections::VecDeque;

use crate::Point;
use crate::anchors::Visit;
use crate::row::TYPED;
use crate::term::Term;

/// Maximum positions kept; the oldest is dropped.
const TYPED_CAP: usize = 256;

/// Names a position for as long as the terminal exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedId(u64);

/// The positions, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    /// `None` for positions that a reflow lost.
    points: VecDeque<Option<Point>>,
    /// The number of the first position.
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

    /// Calls `visit` for every anchor of the list.
    pub fn visit(&mut self, visit: &mut Visit<'_>) {
        self.points.iter_mut().for_each(visit);
    }

    /// Records that a line editor has begun.
    pub fn begin_editor(&mut self) {
        self.has_edited_lines = true;
    }

    /// Drops all positions. Their names stay used.
    pub fn clear(&mut self) {
        self.first += self.points.len() as u64;
        self.points.clear();
    }
}

impl Term {
    /// Remembers the cursor's position, where input is about to be typed. `None` on the alternate screen.
    pub fn mark_typed(&mut self) -> Option<TypedId> {
        let at = self.cursor_point()?;
        self.grid.meta_mut(self.cursor.row).flags |= TYPED;
        Some(self.typed.add(at))
    }

    /// Whether a line editor has run on the main screen: a program asked there for bracketed pastes (mode 2004).
    pub fn has_edited_lines(&self) -> bool {
        self.typed.has_edited_lines
    }

    /// A remembered position, if its row still exists.
    pub fn typed_at(&self, id: TypedId) -> Option<Point> {
        let at = self.typed.get(id)?;
        let screen = self.main_screen();
        // Rows of history can't be cleared. Not to look at them spares thawing them.
        let stands = at.line.0 < screen.live_top() && at.line.0 >= screen.oldest()
            || screen.line_meta(at.line.0).is_some_and(|meta| meta.flags & TYPED != 0);
        stands.then_some(at)
    }
}
