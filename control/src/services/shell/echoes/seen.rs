//! Finds the places where typed lines are shown. Applies the rule that [`super`] states to the lines of a screen.

use std::ops::Range;

use unterm_term::{LineId, Lines, Point, ScreenKind, Term, text_clusters};

use super::{
    shown_line::ShownLine,
    typed::{ByTerminal, Reader, Typed},
};
use crate::services::shell::question_line::ends_prompt;

/// The prompts that Python and gdb show for the further lines of a statement.
const CONTINUATIONS: [&str; 2] = ["... ", ">"];

/// A line that was typed, while a search runs.
struct Sought {
    typed: Typed,
    /// The positions of the ids in `typed`. `None` if the row is no longer kept.
    mark: Option<Point>,
    echo: Option<Point>,
    drawn: Option<Point>,
    /// Whether this search found the position of `echo`, or of `drawn`.
    is_new_echo: bool,
    is_new_drawn: bool,
}

/// A search for echoes in the lines of a screen, from the oldest line to the newest.
pub struct Search {
    sought: Vec<Sought>,
    cursor: Point,
    cols: u64,
    seq: u64,
    /// Whether the text that was removed last may turn out to be output, because it is only the beginning of a typed
    /// line.
    pub is_unsure: bool,
}

impl Search {
    pub(super) fn new(term: &Term, typed: Vec<Typed>) -> Self {
        let is_main = term.screen() == ScreenKind::Main;
        let typed = typed.into_iter().filter(|_| is_main);
        let sought = typed.map(|typed| Sought {
            mark: term.typed_from(typed.mark),
            echo: typed.echo.and_then(|id| term.typed_at(id)),
            drawn: typed.drawn.and_then(|id| term.typed_at(id)),
            is_new_echo: false,
            is_new_drawn: false,
            typed,
        });
        let cursor = term.cursor();
        let line = LineId(term.live_top().0 + u64::from(cursor.row));
        // A cursor in the last column may be about to wrap. It then stands after the character in that column.
        let col = if cursor.col + 1 == term.size().cols { cursor.col + 1 } else { cursor.col };
        Self {
            sought: sought.collect(),
            cursor: Point { line, col },
            cols: u64::from(term.size().cols),
            seq: term.seq(),
            is_unsure: false,
        }
    }

    /// The change after which all rows must be searched: the oldest change that no earlier search has covered.
    pub fn since(&self) -> Option<u64> {
        let open = self.sought.iter().filter(|it| {
            it.typed.may_be_echoed() || it.typed.may_be_drawn() && it.typed.prompts.is_empty()
        });
        open.map(|it| it.typed.looked).min()
    }

    /// Removes echoes from the output in a line. `revision`: the last change of the line's rows.
    pub fn remove_from(
        &mut self,
        lines: &mut Lines,
        rows: Range<u64>,
        revision: u64,
        output: &mut String,
    ) {
        if self.sought.is_empty() {
            return;
        }
        let mut text = String::new();
        for row in rows.clone() {
            lines.line_text(LineId(row), false, &mut text);
        }
        let has_cursor = rows.contains(&self.cursor.line.0);
        let concerns = |it: &Sought| {
            let needle = it.typed.needle();
            let has = |part: &str| !part.is_empty() && text.contains(part);
            let mut parts = it.typed.parts().skip(1).map(|part| &it.typed.text[part]);
            let is_there = has(needle)
                || it.echo.is_some_and(|echo| rows.contains(&echo.line.0))
                || it.typed.may_be_echoed() && parts.any(has);
            revision > it.typed.seq && (has_cursor || is_there)
        };
        if !self.sought.iter().any(concerns) {
            return;
        }
        let line = ShownLine::of(lines, rows.clone());
        let mut gone = Vec::new();
        for index in 0..self.sought.len() {
            if concerns(&self.sought[index]) {
                self.look(index, lines, &line, revision, &mut gone);
            }
        }
        if !gone.is_empty() {
            *output = line.output(&gone);
        }
    }

    /// Finds the echoes of one typed line in a shown line.
    fn look(
        &mut self,
        index: usize,
        lines: &mut Lines,
        line: &ShownLine,
        revision: u64,
        gone: &mut Vec<Range<usize>>,
    ) {
        let needle = self.sought[index].typed.needle().to_owned();
        let is_new = revision > self.sought[index].typed.looked;
        let echo = self.echo(index, line, is_new);
        let matches = line.text.match_indices(&needle).filter(|_| !needle.is_empty());
        let typed = &self.sought[index].typed;
        let reach = |start: usize, len: usize| {
            start..if typed.reaches_end { line.text.len() } else { start + len }
        };
        gone.extend(echo.clone().map(|echo| reach(echo.start, echo.len())));
        let mut drawn = None;
        let whole = echo.filter(|echo| echo.len() == needle.len());
        let is_other = |at: usize| whole.as_ref().is_none_or(|echo| echo.start != at);
        for (at, _) in matches.filter(|(at, _)| is_other(*at)) {
            if self.is_drawn(index, lines, line, at..at + needle.len(), is_new) {
                drawn = Some(at);
                gone.push(reach(at, needle.len()));
            }
        }
        if let Some(at) = drawn {
            let it = &mut self.sought[index];
            let prompt = &line.text[..at];
            if !it.typed.prompts.iter().any(|known| known == prompt) {
                it.typed.prompts.push(prompt.to_owned());
            }
            it.typed.is_announced |= line.is_drawn(at..at + needle.len());
            if it.typed.by_terminal == ByTerminal::Unknown {
                // The terminal echoes a line before the editor reads it. If the editor has drawn the line, no echo can
                // follow.
                it.typed.by_terminal = ByTerminal::Never;
            }
            (it.drawn, it.is_new_drawn) = (Some(line.point(at)), true);
        } else if whole.is_none()
            && let Some(begun) = self.begun(index, lines, line)
        {
            self.is_unsure = true;
            gone.push(begun);
        }
    }

    /// The place in this line where the terminal echoed a typed line, or a part of one.
    fn echo(&mut self, index: usize, line: &ShownLine, is_new: bool) -> Option<Range<usize>> {
        let Sought { typed, echo, .. } = &self.sought[index];
        if typed.by_terminal == ByTerminal::Yes {
            let at = echo.and_then(|at| line.byte(at))?;
            // After the echo, the terminal may have echoed further inputs of the line.
            let text = typed.text[typed.echoed.start..].trim_end();
            let same = text.chars().zip(line.text[at..].chars()).take_while(|(a, b)| a == b);
            let len: usize = same.map(|(char, _)| char.len_utf8()).sum();
            return (len >= typed.echoed.len()).then(|| at..at + len);
        }
        if !typed.may_be_echoed() || !is_new || typed.needle().is_empty() {
            return None;
        }
        let from = self.from(index, line)?;
        let earlier = self.echoes(index, line);
        // A place is not free if another line was echoed there, unless that echo is only a part of this longer text.
        let is_free = |at: usize, len: usize| {
            earlier.iter().all(|(_, echo)| {
                let is_apart = echo.end <= at || at + len <= echo.start;
                is_apart || at <= echo.start && echo.end <= at + len && echo.len() < len
            })
        };
        let (part, at) = typed.parts().find_map(|part| {
            let text = &typed.text[part.clone()];
            let mut starts = line.text[from..].char_indices().map(|(at, _)| from + at);
            let at = starts.find(|at| {
                line.text[*at..].starts_with(text)
                    && (typed.is_joined() || is_free(*at, text.len()))
            })?;
            Some((part, at))
        })?;
        let echo = at..at + part.len();
        let is_drawn = typed.reader == Reader::Any && line.is_drawn(echo.clone());
        let it = &mut self.sought[index];
        if is_drawn {
            it.typed.by_terminal = ByTerminal::Never;
            return None;
        }
        it.typed.by_terminal = ByTerminal::Yes;
        it.typed.echoed = part;
        (it.echo, it.is_new_echo) = (Some(line.point(at)), true);
        let is_joined = it.typed.is_joined();
        for (index, _) in earlier.iter().filter(|(_, it)| !is_joined && echo.contains(&it.start)) {
            let part = &mut self.sought[*index];
            part.typed.by_terminal = ByTerminal::Unknown;
            (part.echo, part.typed.echo, part.is_new_echo) = (None, None, false);
        }
        Some(echo)
    }

    /// The places of the echoes of earlier typed lines in this line, each with the index of its typed line.
    fn echoes(&self, index: usize, line: &ShownLine) -> Vec<(usize, Range<usize>)> {
        let earlier = self.sought[..index].iter().enumerate();
        let found = earlier.filter(|(_, it)| !it.typed.is_joined()).filter_map(|(index, it)| {
            let (at, echoed) = (line.byte(it.echo?)?, it.typed.needle());
            line.text[at..].starts_with(echoed).then(|| (index, at..at + echoed.len()))
        });
        found.collect()
    }

    /// The byte in this line from which the terminal may have echoed a typed line: after the cursor's position when the
    /// line was typed. If the typed line is part of an input of several lines, its echo must be directly below the line
    /// above it.
    fn from(&self, index: usize, line: &ShownLine) -> Option<usize> {
        let Sought { typed, mark, .. } = &self.sought[index];
        let of_above = |above: u64| self.sought.iter().find(|it| it.typed.number == above);
        let Some((above, gap)) = typed.above.and_then(|(above, gap)| Some((of_above(above)?, gap)))
        else {
            return line.byte_from((*mark)?);
        };
        let echo = above.echo?;
        let width: usize = text_clusters(above.typed.needle()).map(|(_, width)| width).sum();
        let cells = u64::from(echo.col) + width as u64;
        let last = echo.line.0 + cells.saturating_sub(1) / self.cols;
        (line.rows.start == last + 1 + gap).then_some(0)
    }

    /// Whether an editor drew a typed line, or its beginning, in this range of a line.
    fn is_drawn(
        &self,
        index: usize,
        lines: &mut Lines,
        line: &ShownLine,
        range: Range<usize>,
        is_new: bool,
    ) -> bool {
        let Sought { typed, drawn, .. } = &self.sought[index];
        let prompt = &line.text[..range.start];
        match &typed.reader {
            Reader::Line => return false,
            Reader::Keys(shown) => return prompt.trim_end() == shown.trim_end(),
            Reader::Any => {}
        }
        let is_edited = line.is_drawn(range.clone());
        if typed.prompts.iter().any(|known| known == prompt) {
            return is_edited || !typed.is_announced;
        }
        let ends = typed.reaches_end
            || line.ends_word(range.end)
            || Some(range.end) == line.byte(self.cursor);
        let mut is_shown = |at: Point| {
            let shown = ShownLine::at(lines, at.line);
            shown.byte(at).is_some_and(|at| shown.text[at..].starts_with(typed.needle()))
        };
        if !is_new {
            false
        } else if is_edited && ends {
            // The place must not follow another prompt, unless the editor has moved the line, such as to the top of the
            // screen.
            drawn.is_none_or(|at| at == line.point(range.start) || !is_shown(at))
        } else {
            // The editor does not enable bracketed paste.
            is_prompt(prompt) && typed.prompts.is_empty()
        }
    }

    /// The place of a typed line's beginning directly before the cursor. The rest of the typed line has not been shown
    /// yet.
    fn begun(&self, index: usize, lines: &mut Lines, line: &ShownLine) -> Option<Range<usize>> {
        let typed = &self.sought[index].typed;
        let end = line.byte(self.cursor)?;
        let from = self.from(index, line).filter(|_| typed.may_be_echoed());
        let shown = &line.text[..end];
        let later = typed.cuts.iter().map(|cut| &typed.text[*cut..]);
        let texts = typed.drafts.iter().map(String::as_str).chain(later);
        let texts = std::iter::once(typed.needle()).chain(texts);
        let starts = texts.filter_map(|text| {
            let mut starts = shown.char_indices().map(|(start, _)| start);
            starts.find(|start| {
                text.starts_with(&shown[*start..])
                    && (from.is_some_and(|from| from <= *start)
                        || self.is_drawn(index, lines, line, *start..end, true))
            })
        });
        starts.min().map(|start| start..end)
    }

    /// Ends a search of all rows. Returns the typed lines with the results of the search. The terminal tracks the found
    /// positions.
    pub(super) fn settle(self, term: &mut Term) -> Vec<Typed> {
        let seq = self.seq;
        let mut settled = Vec::new();
        for Sought { mut typed, echo, drawn, is_new_echo, is_new_drawn, .. } in self.sought {
            // If a row has changed since the search, the next search finds its places again.
            let mut remember = |at: Option<Point>| {
                let at = at?;
                let is_same = term.resized() <= seq
                    && term.revision(at.line).is_some_and(|revision| revision <= seq);
                is_same.then(|| term.mark_typed_at(at)).flatten()
            };
            if is_new_echo {
                typed.echo = remember(echo);
            }
            if is_new_drawn {
                typed.drawn = remember(drawn);
            }
            if is_new_echo && typed.echo.is_none() || is_new_drawn && typed.drawn.is_none() {
                continue;
            }
            typed.looked = typed.looked.max(seq);
            settled.push(typed);
        }
        settled
    }
}

/// Whether a line editor that does not enable bracketed paste shows input after this text.
fn is_prompt(text: &str) -> bool {
    ends_prompt(text) || CONTINUATIONS.contains(&text)
}
