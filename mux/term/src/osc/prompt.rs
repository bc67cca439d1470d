//! OSC 133: where prompts, input and output begin (FinalTerm's marks; the "semantic prompts" page).

use crate::Event;
use crate::cell::PromptRole;
use crate::row::{INPUT, OUTPUT, PROMPT};
use crate::term::Term;

impl Term {
    /// `A` prompt, `B` input, `C` output, `D[;exit code]` end. Parameters other than the exit code are not looked at.
    pub(super) fn mark_prompt(&mut self, rest: &[u8]) {
        let mut parts = rest.split(|&b| b == b';');
        match parts.next() {
            Some(b"A") => self.mark(PROMPT, PromptRole::Prompt, Event::PromptStart),
            // A prompt's continuation or right side: no new command.
            Some(b"P") => self.pen.set_role(PromptRole::Prompt),
            Some(b"B") => self.mark(INPUT, PromptRole::Input, Event::InputStart),
            Some(b"C") => self.mark(OUTPUT, PromptRole::Output, Event::CommandStart),
            Some(b"D") => {
                let code = parts.next().and_then(|code| std::str::from_utf8(code).ok());
                let exit_code = code.and_then(|code| code.parse().ok());
                self.pen.set_role(PromptRole::Output);
                self.event(Event::CommandEnd { exit_code });
            }
            _ => tracing::debug!("unknown OSC 133"),
        }
    }

    fn mark(&mut self, mark: u8, role: PromptRole, event: Event) {
        let seq = self.seq;
        let meta = self.grid.meta_mut(self.cursor.row);
        if meta.flags & mark == 0 {
            meta.flags |= mark;
            meta.revision = seq;
        }
        self.pen.set_role(role);
        self.event(event);
    }
}
