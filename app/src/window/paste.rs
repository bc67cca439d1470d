//! Pasting: from the clipboards to the program, in the order of what is typed, and not without a question where it could
//! do harm.
//!
//! Owns the way of a text from its coming to its bytes; the clipboards themselves are `clipboard.rs`, and what a text
//! holds is judged by the mux.

use std::sync::Arc;

use unterm_mux::{
    PaneId,
    input::{self, PasteRisk},
};

use super::{
    App,
    clipboard::Buffer,
    confirm::{Answer, Confirm, Preview},
    send,
};
use crate::config::ConfirmPaste;

/// Lines of a text that a question shows, and characters of each.
const PREVIEW: usize = 8;
const PREVIEW_LINE: usize = 160;

impl App {
    /// Asks for text to paste into a pane. What is typed there until it comes waits, so that no Enter overtakes it.
    pub(super) fn paste(&mut self, buffer: Buffer, pane: PaneId) {
        if self.clipboard.paste(buffer, pane) {
            self.views.entry(pane).or_default().pastes_due += 1;
        }
    }

    /// Asks for text to paste into the panel or the search.
    pub(super) fn paste_into_chrome(&mut self, buffer: Buffer) {
        if let Some(pane) = self.focused_pane() {
            self.paste(buffer, pane.id());
        }
    }

    /// The text to paste has come, or there is none. A panel or a search that is open takes it.
    pub(super) fn pasted(&mut self, id: PaneId, text: Option<&str>) {
        let Some(view) = self.views.get_mut(&id) else { return };
        view.pastes_due = view.pastes_due.saturating_sub(1);
        let behind = match view.pastes_due {
            0 => std::mem::take(&mut view.typed_ahead),
            _ => Vec::new(),
        };
        let text = match text {
            Some(text) if self.overlay_text(text) => None,
            text => text,
        };
        self.paste_text(id, text.unwrap_or_default(), &behind);
    }

    /// Pastes text into a pane, and behind it what was typed while it came; asks before, where it could do harm.
    pub(super) fn paste_text(&mut self, id: PaneId, text: &str, behind: &[u8]) {
        let Some(pane) = self.mux.pane(id) else { return };
        let modes = pane.term().modes();
        let risk = PasteRisk::of(text);
        let asks = match self.config.paste.confirm {
            ConfirmPaste::Never => false,
            ConfirmPaste::Unsafe => risk.wants_asking(modes),
            ConfirmPaste::Always => !risk.is_none(),
        };
        if asks {
            return self.ask(question(id, text, risk, behind));
        }
        if !text.is_empty() {
            self.before_input(id);
            send(&pane, &input::encode_paste(text, modes));
        }
        if !behind.is_empty() {
            send(&pane, behind);
        }
    }

    /// The person wants it, as it is or as one line.
    pub(super) fn paste_asked(&mut self, id: PaneId, text: &str, joined: bool, behind: &[u8]) {
        let Some(pane) = self.mux.pane(id) else { return };
        let modes = pane.term().modes();
        self.before_input(id);
        let bytes = match joined {
            true => input::encode_paste(&input::join_lines(text), modes),
            false => input::encode_paste(text, modes),
        };
        send(&pane, &bytes);
        send(&pane, behind);
    }

    /// What every input to a pane does to its view: the live screen shows and the selection ends, so that the next
    /// Ctrl+C interrupts.
    pub(super) fn before_input(&mut self, pane: PaneId) {
        self.end_copy_mode(pane);
        let Some(view) = self.views.get_mut(&pane) else { return };
        if view.scroll_to_live() | view.selection.take().is_some() {
            self.pacing.ask();
        }
    }
}

/// What is asked before a text is pasted.
fn question(pane: PaneId, text: &str, risk: PasteRisk, behind: &[u8]) -> Confirm {
    let ends_line = text.ends_with(['\r', '\n']);
    let lines = risk.line_ends + usize::from(!ends_line);
    let title = match lines {
        1 => "Paste this line?".to_owned(),
        lines => format!("Paste {lines} lines?"),
    };
    let mut about = Vec::new();
    if risk.ends_bracket {
        about.push(
            "The text tries to end the paste and to type what follows. That was taken out of it.",
        );
    } else if risk.controls > 0 {
        about.push("The text holds control characters, which are left out.");
    }
    match risk.line_ends {
        0 => {}
        1 if ends_line => about.push("It ends with a line end: the program may run it at once."),
        _ => about.push("The program may take each line end for Enter and run what stands before."),
    }
    let (whole, behind): (Arc<str>, Arc<[u8]>) = (text.into(), behind.into());
    let answer = |joined| {
        let (text, behind) = (Arc::clone(&whole), Arc::clone(&behind));
        Answer::Paste { pane, text, joined, behind }
    };
    let confirm = Confirm::new(title, about.join(" "));
    let confirm = confirm.preview(preview(text)).button("Paste", 'p', answer(false));
    match risk.line_ends {
        0 => confirm.cancel(),
        _ => confirm.button("As one line", 'l', answer(true)).cancel(),
    }
}

/// The first lines of a text, control characters as `^[`.
fn preview(text: &str) -> Vec<Preview> {
    let text = text.trim_end_matches(['\r', '\n']);
    // A CR that is no part of a line end is a control like others.
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut shown: Vec<Preview> = lines.by_ref().take(PREVIEW).map(preview_line).collect();
    match lines.count() {
        0 => {}
        // The last one makes room for what is said.
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
