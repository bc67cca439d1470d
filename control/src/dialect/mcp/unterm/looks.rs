//! The cells of a screen in a compact form: each style is written once, and a repeated character is written once with a
//! count.

use schemars::JsonSchema;
use serde::Serialize;

use crate::methods::{
    Word,
    cells::{Attribute, Run},
};

/// The minimum number of equal characters that are written as one character and a count.
const REPEATED: usize = 6;

/// The style of cells. Absent fields have their default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Look {
    /// idx:N or rgb:R:G:B.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreground: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    underline: Option<Word>,
    /// Such as bold, italic, inverse.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    attributes: Vec<Attribute>,
    /// Target of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// prompt or input, if the shell marks them.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Word>,
}

/// Cells of one style.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunOfCells {
    /// First column, from 0.
    col: u64,
    text: String,
    /// How often the text is repeated; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<usize>,
    /// Absent: the default style.
    #[serde(skip_serializing_if = "Option::is_none")]
    look: Option<usize>,
}

/// The cells of a row.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowOfCells {
    /// Counts from 0.
    row: u64,
    runs: Vec<RunOfCells>,
}

/// Groups runs by row, and collects their styles. Stops at the first row that `fits` does not accept.
pub fn encoded(
    runs: impl Iterator<Item = (u64, Run)>,
    mut fits: impl FnMut(&RowOfCells) -> bool,
) -> (Vec<RowOfCells>, Vec<Look>) {
    let mut rows: Vec<RowOfCells> = Vec::new();
    let mut looks: Vec<Look> = Vec::new();
    for (row, run) in runs {
        let Run { col, text, foreground, background, underline, attributes, link, role, .. } = run;
        let look = Look { foreground, background, underline, attributes, link, role };
        let look = (look != Look::default()).then(|| {
            looks.iter().position(|known| *known == look).unwrap_or_else(|| {
                looks.push(look);
                looks.len() - 1
            })
        });
        let (text, times) = repeated(text);
        let run = RunOfCells { col: col.into(), text, times, look };
        match rows.last_mut() {
            Some(last) if last.row == row => last.runs.push(run),
            last => {
                if last.is_some_and(|last| !fits(last)) {
                    rows.pop();
                    return (rows, looks);
                }
                rows.push(RowOfCells { row, runs: vec![run] });
            }
        }
    }
    if rows.last().is_some_and(|last| !fits(last)) {
        rows.pop();
    }
    (rows, looks)
}

/// If a text repeats one character, returns that character and a count.
fn repeated(text: String) -> (String, Option<usize>) {
    let mut chars = text.chars();
    let first = chars.next();
    let count = text.chars().count();
    match first {
        Some(first) if count >= REPEATED && chars.all(|char| char == first) => {
            (first.to_string(), Some(count))
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looks_are_said_once_and_repeated_characters_counted() {
        let run = |row: u64, col: u64, text: &str, foreground: Option<&str>| {
            let run = json!({
                "col": col, "cols": text.chars().count(), "text": text, "foreground": foreground,
            });
            (row, serde_json::from_value(run).unwrap())
        };
        let runs = [
            run(0, 0, "────────", Some("idx:1")),
            run(0, 9, "a", None),
            run(2, 1, "漢字", Some("idx:2")),
            run(2, 8, "bb", Some("idx:1")),
        ];
        let (rows, looks) = encoded(runs.into_iter(), |_| true);
        assert_eq!(
            json!({"cells": rows, "looks": looks}),
            json!({
                "cells": [
                    {"row": 0, "runs": [
                        {"col": 0, "text": "─", "times": 8, "look": 0}, {"col": 9, "text": "a"},
                    ]},
                    {"row": 2, "runs": [
                        {"col": 1, "text": "漢字", "look": 1}, {"col": 8, "text": "bb", "look": 0},
                    ]},
                ],
                "looks": [{"foreground": "idx:1"}, {"foreground": "idx:2"}],
            })
        );
    }

    #[test]
    fn rows_that_do_not_fit_are_left_out() {
        let run = |row: u64| {
            let run = json!({"col": 0, "cols": 1, "text": "x"});
            (row, serde_json::from_value(run).unwrap())
        };
        for (most, rows) in [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3)] {
            let mut left = most + 1;
            let (kept, _) = encoded((0..3).map(run), |_| {
                left -= 1;
                left > 0
            });
            assert_eq!(kept.len(), rows, "{most}");
        }
    }
}
