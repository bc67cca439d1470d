//! Computes what a terminal shows for output with control characters. This is a separate, small model, so that the
//! comparison shares no code with the engine. Its screen is unlimited, because the generated commands never reach the right or the lower edge.

/// The text without invisible parts: styles, titles, links, marks, bells. `None` if the output moves the cursor.
pub fn flowing(output: &str) -> Option<String> {
    let mut text = String::new();
    for piece in pieces(output) {
        match piece {
            Piece::Char('\r') if !text.is_empty() && !text.ends_with('\n') => return None,
            Piece::Char('\r' | '\0' | '\u{7}' | '\u{7f}') | Piece::String => {}
            Piece::Char('\u{8}') => return None,
            Piece::Char(char) => text.push(char),
            Piece::Control(_, 'm') | Piece::Control("?25" | "", 'h' | 'l' | 'K') => {}
            Piece::Control(..) => return None,
        }
    }
    Some(text)
}

/// The rows that remain on the screen, for output that moves the cursor.
pub fn drawn(output: &str) -> String {
    let mut screen = Screen { rows: vec![Vec::new()], row: 0, col: 0 };
    for piece in pieces(output) {
        match piece {
            Piece::Char(char) => screen.put(char),
            Piece::Control(number, kind) => screen.control(number, kind),
            Piece::String => {}
        }
    }
    let rows = screen.rows.iter().map(|row| row.iter().collect::<String>());
    let rows: Vec<_> = rows.map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end_matches('\n').to_owned()
}

struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    col: usize,
}

impl Screen {
    fn put(&mut self, char: char) {
        match char {
            '\r' => self.col = 0,
            '\n' => {
                // The terminal driver returns to the first column.
                (self.row, self.col) = (self.row + 1, 0);
                if self.rows.len() == self.row {
                    self.rows.push(Vec::new());
                }
            }
            '\u{8}' => self.col = self.col.saturating_sub(1),
            '\t' => self.col = (self.col / 8 + 1) * 8,
            char if char.is_control() => {}
            char => {
                let row = &mut self.rows[self.row];
                row.resize(row.len().max(self.col + 1), ' ');
                row[self.col] = char;
                self.col += 1;
            }
        }
    }

    fn control(&mut self, number: &str, kind: char) {
        let count = number.parse::<usize>().unwrap_or(1);
        match kind {
            'A' => self.row = self.row.saturating_sub(count),
            'D' => self.col = self.col.saturating_sub(count),
            'G' => self.col = count - 1,
            'H' => (self.row, self.col) = (0, 0),
            'J' if number == "2" => self.rows.iter_mut().for_each(Vec::clear),
            'J' => {
                self.rows.truncate(self.row + 1);
                self.rows[self.row].truncate(self.col);
            }
            'K' if number == "2" => self.rows[self.row].clear(),
            'K' => self.rows[self.row].truncate(self.col),
            _ => {}
        }
    }
}

enum Piece<'a> {
    Char(char),
    /// A control sequence: the part before its final character, and that character.
    Control(&'a str, char),
    /// An operating system command.
    String,
}

fn pieces(output: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = output;
    std::iter::from_fn(move || {
        if let Some(control) = rest.strip_prefix("\u{1b}[") {
            let end = control.find(|char: char| ('@'..='~').contains(&char))?;
            let kind = control[end..].chars().next()?;
            rest = &control[end + 1..];
            return Some(Piece::Control(&control[..end], kind));
        }
        if let Some(string) = rest.strip_prefix("\u{1b}]") {
            let end = string.find(['\u{7}', '\u{1b}'])?;
            rest = string[end..].trim_start_matches("\u{1b}\\").trim_start_matches('\u{7}');
            return Some(Piece::String);
        }
        let char = rest.chars().next()?;
        rest = &rest[char.len_utf8()..];
        Some(Piece::Char(char))
    })
}
