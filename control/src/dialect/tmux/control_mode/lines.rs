//! Output of panes as lines of control mode.

use std::{fmt::Write as _, time::Duration};

/// A notification about output. `age`: how long the output has waited, for a client that can be paused.
pub fn output(pane: u64, bytes: &[u8], age: Option<Duration>) -> String {
    let mut line = match age {
        Some(age) => format!("%extended-output %{pane} {} : ", age.as_millis()),
        None => format!("%output %{pane} "),
    };
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\\' | '\0'..='\u{1f}' => escape(char as u8, &mut line),
                char => line.push(char),
            }
        }
        // The rest of a character may follow in the next line. Clients join the bytes after they decode the escapes.
        chunk.invalid().iter().for_each(|byte| escape(*byte, &mut line));
    }
    line.push('\n');
    line
}

fn escape(byte: u8, line: &mut String) {
    // Writing to memory can't fail.
    let _ = write!(line, "\\{byte:03o}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_parts_of_characters_are_escaped() {
        assert_eq!(
            output(3, b"a\r\n\\\x1b[m\x7f", None),
            "%output %3 a\\015\\012\\134\\033[m\x7f\n"
        );
        assert_eq!(output(3, "é".as_bytes(), None), "%output %3 é\n");
        assert_eq!(output(3, b"x\xc3", None), "%output %3 x\\303\n");
        assert_eq!(
            output(3, b"x", Some(Duration::from_millis(1500))),
            "%extended-output %3 1500 : x\n"
        );
    }
}
