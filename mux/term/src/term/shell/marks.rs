//! Lines of the main screen that programs have marked (iTerm2's OSC 1337 SetMark).
//!
//! Owns the positions of marks. Each row records whether its mark still exists. Prompts are also marks, but
//! [`crate::term::shell::commands`] owns them. Jumping between marks includes both.

use std::collections::VecDeque;

use crate::cap::Caps;
use crate::grid::row::MARK;
use crate::term::Term;
use crate::term::shell::anchors::Visit;
use crate::{LineId, Point};

/// The maximum number of marks. If there are more, the oldest is dropped.
const MARKS_CAP: usize = 4096;

/// The marks, in the order of their lines.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The position of each mark. `None` if a reflow lost the mark.
    points: VecDeque<Option<Point>>,
    /// Whether some of the points may be `None`.
    has_lost: bool,
}

impl Marks {
    /// Adds a mark, unless its line already has one.
    pub fn add(&mut self, at: Point, caps: &mut Caps) {
        if std::mem::take(&mut self.has_lost) {
            self.points.retain(Option::is_some);
        }
        let line = |point: &Option<Point>| point.map(|at| at.line);
        let Err(place) = self.points.binary_search_by_key(&Some(at.line), line) else { return };
        self.points.insert(place, Some(at));
        if self.points.len() > MARKS_CAP {
            caps.oldest_dropped("mark", MARKS_CAP);
            self.points.pop_front();
        }
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = LineId> {
        self.points.iter().flatten().map(|at| at.line)
    }

    /// Calls `visit` for the position of every mark.
    pub fn visit(&mut self, visit: &mut Visit<'_>) {
        self.points.iter_mut().for_each(visit);
        self.has_lost = true;
    }
}

impl Term {
    /// The marked lines of the main screen that still exist, from the top.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = LineId> {
        self.marks.lines().filter(|line| self.is_marked(*line))
    }

    /// Whether a line still exists and is marked. If the line is in a frozen group of history, this thaws the group.
    fn is_marked(&self, line: LineId) -> bool {
        self.main_screen().line_meta(line.0).is_some_and(|meta| meta.flags & MARK != 0)
    }

    /// The last line before `line` that is marked or begins with a prompt.
    pub fn mark_before(&self, line: LineId) -> Option<LineId> {
        let mark = self.marks.lines().rev().find(|mark| *mark < line && self.is_marked(*mark));
        mark.max(self.prompt_before(line))
    }

    /// The first line after `line` that is marked or begins with a prompt.
    pub fn mark_after(&self, line: LineId) -> Option<LineId> {
        let mark = self.marks.lines().find(|mark| *mark > line && self.is_marked(*mark));
        mark.into_iter().chain(self.prompt_after(line)).min()
    }
}
