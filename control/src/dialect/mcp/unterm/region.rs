//! Cuts a part of a screen by rows and columns, and masks secrets.

use std::ops::Range;

use crate::{
    dialect::mcp::{
        rows::{columns_of, cut},
        tool::{Ask, ToolResult},
    },
    methods::{
        cells::{Line, Run},
        session::blocking,
    },
    services::{
        limits::search_limiter::Budget,
        records::{recording::settings::Settings, redact::Redaction},
    },
};

/// The redaction with the built-in patterns, and the user's own patterns for recordings (`recording.json`).
pub async fn redaction(ask: &Ask<'_>, is_on: bool) -> ToolResult<Redaction> {
    if !is_on {
        return Ok(Redaction::off());
    }
    let home = ask.server.dispatcher.context().registration.home().to_owned();
    let new = move || Redaction::new(true, &Settings::read(&home)?.redaction.custom_patterns);
    blocking(new).await.map_err(|error| error.to_string())?
}

/// Masks the secrets of a text on a blocking thread, because the text may be long.
pub async fn redacted<T: Send + 'static>(
    ask: &Ask<'_>,
    redaction: &mut Redaction,
    redact: impl FnOnce(&mut Redaction) -> T + Send + 'static,
) -> ToolResult<T> {
    if !redaction.is_on() {
        return Ok(redact(redaction));
    }
    let mut taken = std::mem::take(redaction);
    let work = move |_: &mut Budget| {
        let done = redact(&mut taken);
        (taken, done)
    };
    let searches = ask.server.dispatcher.context().limits.search_limiter.of(ask.caller.token);
    let (given_back, done) = searches.run(0, work).await.map_err(|error| error.to_string())?;
    *redaction = given_back;
    Ok(done)
}

/// The rows of a screen, in the form that `screen.cells` returns.
pub struct Screen(pub Vec<Line>);

impl Screen {
    /// Masks the secrets on a blocking thread.
    pub async fn covered(mut self, ask: &Ask<'_>, redaction: &mut Redaction) -> ToolResult<Self> {
        redacted(ask, redaction, move |redaction| {
            self.cover(redaction);
            self
        })
        .await
    }

    /// Masks secrets, including secrets that continue in another row or style.
    fn cover(&mut self, redaction: &mut Redaction) {
        if !redaction.is_on() {
            return;
        }
        let mut text = String::new();
        for row in &self.0 {
            let mut end = 0;
            for run in &row.runs {
                text.extend((end..run.col).map(|_| ' '));
                text.push_str(&run.text);
                end = run.col + run.cols;
            }
            text.extend((!row.wrapped).then_some('\n'));
        }
        let covered = redaction.cover(&text);
        let mut chars = covered.chars();
        for row in &mut self.0 {
            let mut end = 0;
            for run in &mut row.runs {
                chars.by_ref().take(usize::from(run.col - end)).for_each(drop);
                let mut text = String::new();
                for (was, char) in run.text.chars().zip(&mut chars) {
                    // A mask of two characters replaces a wide character, so that the columns stay.
                    let is_wide = was != char && columns_of(was) == 2;
                    text.extend(std::iter::repeat_n(char, 1 + usize::from(is_wide)));
                }
                run.text = text;
                run.link = run.link.as_deref().map(|link| redaction.cover(link));
                end = run.col + run.cols;
            }
            if !row.wrapped {
                chars.next();
            }
        }
    }

    /// The runs in a region, each with its row.
    pub fn runs(self, first_row: usize, row_count: usize, cols: &Range<u64>) -> Vec<(u64, Run)> {
        let rows = self.0.into_iter().enumerate().skip(first_row).take(row_count);
        rows.flat_map(|(at, row)| {
            row.runs.into_iter().filter_map(move |run| {
                let (start, end) = (u64::from(run.col), u64::from(run.col + run.cols));
                let (from, to) = (cols.start.max(start), cols.end.min(end));
                let is_there = from < to;
                let of_run = |col: u64| (col - start) as u16;
                is_there.then(|| {
                    let text = cut(&run.text, run.cols, of_run(from), of_run(to));
                    (at as u64, Run { col: from as u16, cols: (to - from) as u16, text, ..run })
                })
            })
        })
        .collect()
    }

    /// The text in a region, without trailing blanks and trailing blank rows.
    pub fn text(self, first_row: usize, row_count: usize, cols: &Range<u64>) -> String {
        let last = self.0.len().min(first_row.saturating_add(row_count));
        let mut lines = vec![String::new(); last.saturating_sub(first_row)];
        let mut ends = vec![cols.start; lines.len()];
        for (row, run) in self.runs(first_row, row_count, cols) {
            let at = row as usize - first_row;
            lines[at].extend((ends[at]..run.col.into()).map(|_| ' '));
            lines[at].push_str(&run.text);
            ends[at] = (run.col + run.cols).into();
        }
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        lines.join("\n").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(wrapped: bool, runs: Value) -> Line {
        let line = json!({"row": 0, "line_id": 0, "wrapped": wrapped, "runs": runs});
        serde_json::from_value(line).unwrap()
    }

    fn screen() -> Screen {
        let first = json!([
            {"col": 2, "cols": 4, "text": "user"},
            {"col": 7, "cols": 9, "text": "password:", "attributes": ["bold"]},
            {"col": 17, "cols": 3, "text": "abc"},
        ]);
        Screen(vec![
            line(false, first),
            line(true, json!([{"col": 0, "cols": 20, "text": "token=01234567890123"}])),
            line(false, json!([{"col": 0, "cols": 8, "text": "45 漢字b"}])),
            line(false, json!([])),
        ])
    }

    #[test]
    fn a_part_is_a_range_of_rows_and_of_columns() {
        let all = 0..u64::MAX;
        assert_eq!(
            screen().text(0, usize::MAX, &all),
            "  user password: abc\ntoken=01234567890123\n45 漢字b"
        );
        assert_eq!(screen().text(0, 3, &(4..9)), "er pa\nn=012\n 字b");
        assert_eq!(screen().text(2, 9, &(6..7)), "");
        assert_eq!(screen().text(9, 9, &all), "");
        let runs = screen().runs(0, 1, &(9..18));
        let places: Vec<_> =
            runs.iter().map(|(row, run)| (*row, run.col, run.cols, run.text.as_str())).collect();
        assert_eq!(places, [(0, 9, 7, "ssword:"), (0, 17, 1, "a")]);
    }

    #[test]
    fn a_secret_is_covered_in_several_looks_and_rows() {
        let mut screen = screen();
        let mut redaction = Redaction::new(true, &[]).unwrap();
        screen.cover(&mut redaction);
        assert_eq!(
            screen.text(0, usize::MAX, &(0..u64::MAX)),
            "  user password: ***\ntoken=**************\n** 漢字b"
        );
        assert_eq!(redaction.count, 2);
        let wide = json!([{"col": 0, "cols": 15, "text": "password: 漢字b"}]);
        let mut wide = Screen(vec![line(false, wide)]);
        wide.cover(&mut redaction);
        assert_eq!(wide.text(0, 1, &(0..u64::MAX)), "password: *****");
    }
}
