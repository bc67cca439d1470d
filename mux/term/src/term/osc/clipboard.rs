//! OSC 52: programs write to clipboards and query them.
//!
//! A query becomes an event, and only the terminal's owner can answer it; the engine itself never does.

use std::collections::VecDeque;

use base64::Engine as _;

use super::terminator;
use super::text::BASE64;
use crate::term::Term;
use crate::{ClipboardTarget, Event};

/// Maximum unanswered queries; the oldest is dropped.
const QUESTIONS_CAP: usize = 8;

/// An unanswered query: the clipboard, the letter the program used for it, and the query's terminator.
#[derive(Debug)]
pub(super) struct Question {
    target: ClipboardTarget,
    letter: char,
    bell: bool,
}

pub(super) type Questions = VecDeque<Question>;

/// xterm ctlseqs: `c` clipboard, `p` primary, `s` the selection, `q` secondary, 0–7 cut buffers.
fn target(letter: u8) -> Option<ClipboardTarget> {
    match letter {
        b'p' | b's' => Some(ClipboardTarget::Primary),
        b'c' | b'q' | b'0'..=b'7' => Some(ClipboardTarget::Clipboard),
        _ => None,
    }
}

impl Term {
    /// `selections ; base64`. The scanner's cap on strings limits the text. Invalid base64 clears the selection, as in
    /// xterm.
    pub(super) fn use_clipboard(&mut self, rest: &[u8], bell: bool) {
        let Some(at) = rest.iter().position(|&b| b == b';') else { return };
        let (letters, data) = (&rest[..at], &rest[at + 1..]);
        let letters = if letters.is_empty() { b"c" } else { letters };
        if data == b"?" {
            let Some((letter, target)) =
                letters.iter().find_map(|&letter| Some((letter as char, target(letter)?)))
            else {
                return;
            };
            if self.osc.questions.len() == QUESTIONS_CAP {
                self.caps.oldest_dropped("question for the clipboard", QUESTIONS_CAP);
                self.osc.questions.pop_front();
            }
            self.osc.questions.push_back(Question { target, letter, bell });
            self.event(Event::ClipboardQuery { target });
            return;
        }
        let text = match BASE64.decode(data).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => return tracing::debug!("OSC 52 is no UTF-8"),
            Err(_) => String::new(),
        };
        for own in [ClipboardTarget::Clipboard, ClipboardTarget::Primary] {
            if letters.iter().any(|&letter| target(letter) == Some(own)) {
                self.event(Event::Clipboard { target: own, text: text.clone() });
            }
        }
    }

    /// Answers all queries for a clipboard ([`Event::ClipboardQuery`]) with its text. `None` refuses them without a
    /// reply to the program. A text that is too long for a reply is not sent.
    pub fn answer_clipboard(&mut self, target: ClipboardTarget, text: Option<&str>) {
        let questions = std::mem::take(&mut self.osc.questions);
        let (asked, others) =
            questions.into_iter().partition::<Questions, _>(|q| q.target == target);
        self.osc.questions = others;
        let Some(text) = text else { return };
        let text = BASE64.encode(text);
        for Question { letter, bell, .. } in asked {
            self.reply(format!("\x1b]52;{letter};{text}{}", terminator(bell)).as_bytes());
        }
    }
}
