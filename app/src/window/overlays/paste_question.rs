//! The question before a paste whose text may do harm.

use std::sync::Arc;

use unterm_mux::input::PasteRisk;

use crate::window::overlays::{
    answer::Answer,
    confirm::{Confirm, Preview},
    receiver::Receiver,
};

/// The maximum number of text lines in the question's preview, and of characters per line.
const PREVIEW: usize = 8;
const PREVIEW_LINE: usize = 160;

/// The question before a risky paste.
pub(crate) fn question(receivers: Vec<Receiver>, text: &str, risk: PasteRisk) -> Confirm {
    let ends_line = text.ends_with(['\r', '\n']);
    let title = title(risk.line_ends + usize::from(!ends_line), receivers.len());
    let mut about = Vec::new();
    if risk.ends_bracket {
        about.push(
            "The text contains the sequence that ends a paste, so that what follows would be typed. The sequence was removed.",
        );
    } else if risk.controls > 0 {
        about.push("The text contains control characters, which are left out.");
    }
    match risk.line_ends {
        0 => {}
        1 if ends_line => {
            about.push("The text ends with a line break, so the program may run it at once.")
        }
        _ => about.push("The program may run each line as a command."),
    }
    let (whole, receivers): (Arc<str>, Arc<[Receiver]>) = (text.into(), receivers.into());
    let answer = |joined| {
        let (text, receivers) = (Arc::clone(&whole), Arc::clone(&receivers));
        Answer::Paste { receivers, text, joined }
    };
    let confirm = Confirm::new(title, about.join(" "));
    let confirm = confirm.preview(preview(text)).button("Paste", 'p', answer(false));
    match risk.line_ends {
        0 => confirm.cancel(),
        _ => confirm.button("As one line", 'l', answer(true)).cancel(),
    }
}

pub(crate) fn title(lines: usize, panes: usize) -> String {
    let what = match lines {
        1 => "this line".to_owned(),
        lines => format!("{lines} lines"),
    };
    match panes {
        1 => format!("Paste {what}?"),
        panes => format!("Paste {what} into each of {panes} panes?"),
    }
}

/// The first lines of a text, with control characters in caret notation (`^[`).
fn preview(text: &str) -> Vec<Preview> {
    let text = text.trim_end_matches(['\r', '\n']);
    // A carriage return that is not at the end of a line is shown as a control character.
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut shown: Vec<Preview> = lines.by_ref().take(PREVIEW).map(preview_line).collect();
    match lines.count() {
        0 => {}
        // The last line of the preview is replaced by the number of hidden lines.
        more => {
            let text = format!("… {} more lines", more + 1);
            shown[PREVIEW - 1] = Preview { text, odd: Vec::new() };
        }
    }
    shown
}

fn preview_line(line: &str) -> Preview {
    let mut shown = Preview::default();
    for (index, char) in line.chars().enumerate() {
        if index == PREVIEW_LINE {
            shown.text.push('…');
            break;
        }
        let start = shown.text.len();
        match char {
            '\t' => shown.text.push_str("    "),
            '\u{7f}' => shown.text.push_str("^?"),
            '\0'..='\x1f' => shown.text.extend(['^', char::from(char as u8 + b'@')]),
            char if char.is_control() => {
                shown.text.push_str(&format!("<{:02x}>", char as u32));
            }
            char => shown.text.push(char),
        }
        if char.is_control() && char != '\t' {
            match shown.odd.last_mut() {
                Some(last) if last.end == start => last.end = shown.text.len(),
                _ => shown.odd.push(start..shown.text.len()),
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_into_how_many_panes() {
        assert_eq!(title(1, 1), "Paste this line?");
        assert_eq!(title(3, 1), "Paste 3 lines?");
        assert_eq!(title(1, 12), "Paste this line into each of 12 panes?");
        assert_eq!(title(3, 12), "Paste 3 lines into each of 12 panes?");
    }

    #[test]
    fn a_preview_shows_what_does_not_show_by_itself() {
        let lines = preview("ls\tx\r\n\x1b[201~rm\x03\u{9b}\n");
        assert_eq!(lines[0], Preview { text: "ls    x".to_owned(), odd: Vec::new() });
        assert_eq!(
            lines[1],
            Preview { text: "^[[201~rm^C<9b>".to_owned(), odd: vec![0..2, 9..15] }
        );
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn a_long_text_is_cut_and_says_by_how_much() {
        let lines = preview(&"line\n".repeat(100));
        assert_eq!(lines.len(), PREVIEW);
        assert_eq!(lines[PREVIEW - 1].text, "… 93 more lines");
        let lines = preview(&"x".repeat(1 << 20));
        assert_eq!(lines[0].text.chars().count(), PREVIEW_LINE + 1);
    }
}
