//! Prompts that a shell with integration drew without marks.
//!
//! A user may remove every part of the integration that draws marks (bash: `PROMPT_COMMAND=('PS1="> "')`). The shell then
//! still reports that the next line begins to run, with the terminal's own nonce. Owns the search for the prompt at which
//! that line was entered, so that the line is a command of its own and its prompt is no output of the command before.

use crate::grid::row::PROMPT;
use crate::term::Term;
use crate::term::shell::commands::PromptOptions;
use crate::{LineId, Point};

/// The maximum number of rows of such a prompt above the entered line.
const ROWS: u64 = 16;

impl Term {
    /// The shell reports that a line begins to run, and its output begins at `at`. If the last command has ended and no
    /// prompt has been marked since, begins a command at the unmarked prompt.
    pub(crate) fn begin_unmarked(&mut self, at: Point) {
        let Some(last) = self.commands.last().filter(|last| last.end_seq != 0) else { return };
        // If the shell reported the end of the last command in time, the prompt begins after that end.
        let is_late = last.exit_code.is_none() && last.end >= Some(at);
        let end = if is_late { last.output } else { last.end };
        let Some(prompt) = self.find_unmarked(at, end) else { return };
        if is_late {
            self.commands.change(|last| last.end = Some(prompt));
        }
        self.begin_command(prompt, PromptOptions::default(), false);
        self.grid.meta_mut((prompt.line.0 - self.grid.live_top()) as usize).flags |= PROMPT;
    }

    /// The beginning of the line that was entered above `at`, or of the rows above it that a line editor drew too, but
    /// not before `after`. `None` if it is not on the screen.
    fn find_unmarked(&self, at: Point, after: Option<Point>) -> Option<Point> {
        let entered = LineId(at.line.0.checked_sub(1)?);
        let floor = after.map_or(0, |after| after.line.0 + u64::from(after.col > 0));
        let live = self.grid.live_top();
        let is_edited = |line: u64| {
            let row = line.checked_sub(live).map(|row| self.grid.row(row as usize));
            row.and_then(|cells| cells.first()).is_some_and(|cell| cell.is_edited())
        };
        let mut first = self.line_at(entered).start.line.0;
        let top = floor.max(first.saturating_sub(ROWS));
        while first > top && is_edited(first - 1) {
            first -= 1;
        }
        (first >= floor && first >= live).then_some(Point { line: LineId(first), col: 0 })
    }
}
