//! Prompts that shells redraw after a resize (OSC 133 A, `redraw`).
//!
//! Owns which rows those are, and keeps them as the shell expects them. The shell moves up from the cursor by as many
//! rows as it drew in the old width, clears everything below, and draws again. If its text rewrapped to the new width,
//! every resize would leave a part of the old prompt behind. Source: kitty's shell integration ("notes for shell
//! developers"), and ghostty for `redraw=last`.

use crate::cell::Cell;
use crate::commands::{Command, Redraw};
use crate::row::{INPUT, WRAPPED};
use crate::term::{ScreenKind, Term};

impl Term {
    /// The first row of the screen that the shell redraws; `None` if no shell waits at a prompt that it redraws.
    fn redrawn_from(&self) -> Option<usize> {
        // A command is dropped together with its prompt's line.
        let is_there = |last: &&Command| last.is_prompting() && self.prompt_line(last).is_some();
        let prompt = self.commands.last().filter(is_there)?;
        let live = self.grid.live_top();
        let meta = |line: u64| self.grid.line_meta(line);
        // The row where the last input begins: after the prompt, or after a continuation prompt, which is redrawn
        // separately.
        let mut typed = (live..=live + self.cursor.row as u64)
            .rev()
            .find(|line| meta(*line).is_some_and(|meta| meta.flags & INPUT != 0))?;
        let continues = prompt.input.is_some_and(|input| typed > input.line.0);
        while typed > live && meta(typed - 1).is_some_and(|above| above.is_wrapped()) {
            typed -= 1;
        }
        let line = match prompt.options.redraw {
            Redraw::Nothing => return None,
            Redraw::Prompt if !continues => prompt.prompt?.line.0,
            Redraw::Prompt | Redraw::LastLine => typed,
        };
        let row = line.saturating_sub(live) as usize;
        (self.screen == ScreenKind::Main && row <= self.cursor.row).then_some(row)
    }

    /// Prepares for a width of `cols` columns: the rows that the shell redraws become lines of their own, cut to the
    /// new width, so that reflow leaves them in place.
    pub(crate) fn hold_prompt(&mut self, cols: usize) {
        let old = self.grid.cols();
        if cols == old {
            return;
        }
        let Some(first) = self.redrawn_from() else { return };
        if self.cursor.col >= cols {
            (self.cursor.col, self.cursor.wrap_pending) = (cols - 1, false);
        }
        for row in first.saturating_sub(1)..self.grid.rows() {
            if self.grid.meta(row).is_wrapped() {
                let (cells, meta) = self.grid.row_mut(row);
                meta.flags &= !WRAPPED;
                if let Some(last) = cells.last_mut().filter(|last| last.is_head()) {
                    *last = last.blanked();
                }
            }
            if row >= first && cols < old {
                self.grid.part_wide(row, cols, old, self.seq);
                self.grid.fill(row, cols, old, Cell::EMPTY, self.seq);
            }
        }
    }
}
