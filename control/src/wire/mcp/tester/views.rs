//! A session's screen in the formats of document 4.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::apps::App;
use crate::wire::mcp::tool::{Ask, Said};

/// The formats there are.
pub const FORMATS: [&str; 5] = ["plain", "raw", "ansi", "scrollback", "passthrough"];

/// Rows of history that are shown.
const HISTORY: u64 = 1000;

/// The screen's content and where the cursor is, row and column from 0.
pub async fn view(ask: &Ask<'_>, app: &App, format: &str) -> Said<(String, u64, u64)> {
    let cells: Value = ask.method("screen.cells", json!({"id": app.pane})).await?;
    let at = |name: &str| cells["cursor"][name].as_u64().unwrap_or_default();
    let (row, col) = (at("y"), at("x"));
    let content = match format {
        "raw" => raw(&cells, row, col),
        "ansi" => grid(&cells, Some((row, col))),
        "scrollback" => {
            let mut lines = history(ask, app, &cells).await?;
            lines.push(grid(&cells, None));
            lines.join("\n")
        }
        "passthrough" => {
            let bytes: Value = ask.method("screen.bytes", json!({"id": app.pane})).await?;
            let bytes = STANDARD.decode(bytes["base64"].as_str().unwrap_or_default());
            String::from_utf8_lossy(&bytes.map_err(|error| error.to_string())?).into_owned()
        }
        _ => grid(&cells, None),
    };
    Ok((content, row, col))
}

/// The rows above the screen.
async fn history(ask: &Ask<'_>, app: &App, cells: &Value) -> Said<Vec<String>> {
    let Some(top) = cells["lines"][0]["row"].as_u64() else { return Ok(Vec::new()) };
    let offset = top.saturating_sub(HISTORY);
    let params = json!({"id": app.pane, "offset": offset, "count": top - offset});
    let rows: Value = ask.method("screen.scroll", params).await?;
    let lines = rows["lines"].as_array().into_iter().flatten();
    Ok(lines.map(|line| line.as_str().unwrap_or_default().to_owned()).collect())
}

fn runs(line: &Value) -> impl Iterator<Item = (u64, u64, &str, &Value)> {
    line["runs"].as_array().into_iter().flatten().map(|run| {
        let number = |name: &str| run[name].as_u64().unwrap_or_default();
        (number("col"), number("cols"), run["text"].as_str().unwrap_or_default(), run)
    })
}

/// Every row in full width, without the blanks at the end of the whole; with the cursor and blanks made visible if asked.
fn grid(cells: &Value, cursor: Option<(u64, u64)>) -> String {
    let cols = cells["cols"].as_u64().unwrap_or_default();
    let blank = if cursor.is_some() { '·' } else { ' ' };
    let mut rows = Vec::new();
    for (y, line) in cells["lines"].as_array().into_iter().flatten().enumerate() {
        // What each column shows; nothing where a wide character goes on.
        let mut row: Vec<String> = vec![blank.to_string(); cols as usize];
        for (col, count, text, _) in runs(line) {
            let clusters: Vec<char> = text.chars().collect();
            let is_narrow = clusters.len() as u64 == count;
            let mut at = col as usize;
            if is_narrow {
                for char in clusters {
                    if let Some(cell) = row.get_mut(at) {
                        *cell = if char == ' ' { blank.to_string() } else { char.to_string() };
                    }
                    at += 1;
                }
            } else {
                // Wide or combined characters: the run as a whole, and nothing behind it in its columns.
                for cell in row.iter_mut().skip(at).take(count as usize) {
                    cell.clear();
                }
                if let Some(cell) = row.get_mut(at) {
                    *cell = text.replace(' ', &blank.to_string());
                }
            }
        }
        if let Some((_, x)) = cursor.filter(|(row, _)| *row == y as u64)
            && let Some(cell) = row.get_mut(x as usize)
        {
            *cell = "▮".to_owned();
        }
        rows.push(row.concat());
    }
    let text = rows.join("\n");
    if cursor.is_some() { text } else { text.trim_end_matches([' ', '\n']).to_owned() }
}

/// The screen as sequences that draw it.
fn raw(cells: &Value, row: u64, col: u64) -> String {
    let mut text = String::from("\x1b[0m");
    let mut look = String::new();
    for (y, line) in cells["lines"].as_array().into_iter().flatten().enumerate() {
        if y > 0 {
            change(&mut text, &mut look, "");
            text.push_str("\r\n");
        }
        let mut at = 0;
        for (start, count, shown, run) in runs(line) {
            if start > at {
                change(&mut text, &mut look, "");
                text.extend(std::iter::repeat_n(' ', (start - at) as usize));
            }
            change(&mut text, &mut look, &sgr(run));
            text.push_str(shown);
            at = start + count;
        }
    }
    change(&mut text, &mut look, "");
    let _ = write!(text, "\x1b[{};{}H", row + 1, col + 1);
    text
}

/// Goes over to another look.
fn change(text: &mut String, look: &mut String, to: &str) {
    if look != to {
        text.push_str("\x1b[0");
        text.push_str(to);
        text.push('m');
        to.clone_into(look);
    }
}

/// The parameters of SGR for a run, each behind a semicolon; ECMA-48, 8.3.117.
fn sgr(run: &Value) -> String {
    let mut sgr = String::new();
    for (name, number) in [
        ("bold", 1),
        ("dim", 2),
        ("italic", 3),
        ("blink", 5),
        ("inverse", 7),
        ("hidden", 8),
        ("strike", 9),
        ("overline", 53),
    ] {
        let attributes = run["attributes"].as_array().into_iter().flatten();
        if attributes.into_iter().any(|attribute| attribute == name) {
            let _ = write!(sgr, ";{number}");
        }
    }
    if run["underline"].is_string() {
        sgr.push_str(";4");
    }
    for (name, base) in [("foreground", 38), ("background", 48)] {
        let Some(color) = run[name].as_str() else { continue };
        if let Some((red, green, blue)) = rgb(color) {
            let _ = write!(sgr, ";{base};2;{red};{green};{blue}");
        }
    }
    sgr
}

/// A colour's parts: of those with a number, as xterm has them.
fn rgb(color: &str) -> Option<(u8, u8, u8)> {
    if let Some(parts) = color.strip_prefix("rgb:") {
        let mut parts = parts.split(':').map(|part| part.parse().ok());
        return Some((parts.next()??, parts.next()??, parts.next()??));
    }
    const SYSTEM: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let index: u8 = color.strip_prefix("idx:")?.parse().ok()?;
    Some(match index {
        0..=15 => SYSTEM[usize::from(index)],
        16..=231 => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let n = index - 16;
            (level(n / 36), level(n / 6 % 6), level(n % 6))
        }
        _ => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Value {
        json!({
            "cols": 6,
            "lines": [
                {"runs": [{"col": 1, "cols": 2, "text": "ab", "foreground": "idx:9", "attributes": ["bold"]},
                          {"col": 4, "cols": 2, "text": "漢"}]},
                {"runs": []},
            ],
        })
    }

    #[test]
    fn a_grid_has_every_column_and_no_blanks_at_its_end() {
        assert_eq!(grid(&cells(), None), " ab 漢");
        assert_eq!(grid(&cells(), Some((1, 0))), "·ab·漢\n▮·····");
        assert_eq!(raw(&cells(), 1, 0), "\x1b[0m \x1b[0;1;38;2;255;0;0mab\x1b[0m 漢\r\n\x1b[2;1H");
    }

    #[test]
    fn colours_have_parts() {
        assert_eq!(rgb("rgb:1:2:3"), Some((1, 2, 3)));
        assert_eq!(rgb("idx:16"), Some((0, 0, 0)));
        assert_eq!(rgb("idx:231"), Some((255, 255, 255)));
        assert_eq!(rgb("idx:244"), Some((128, 128, 128)));
        assert_eq!(rgb("default"), None);
    }
}
