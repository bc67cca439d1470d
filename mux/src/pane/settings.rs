//! What a person or a caller sets of a pane, and what it was opened with.
//!
//! Owns its name, the theme's colours under its terminal, and answers to its notifications. Never reads or writes a setting's
//! file.

use std::sync::Arc;

use unterm_term::{Palette, Term};

use super::Pane;
use crate::MuxEvent;

impl Pane {
    /// Changes the theme's colours under what the program set.
    pub fn set_palette(&self, palette: Arc<Palette>) {
        self.act_on(|term| term.set_base_palette(palette));
    }

    /// A person clicked a notification of the program's, by its handle, or a button of it, from 1.
    pub fn notification_clicked(&self, handle: u64, button: Option<u8>) {
        self.act_on(|term| term.activate_notification(handle, button));
    }

    /// A notification of the program's is not on show, or no longer.
    pub fn notification_closed(&self, handle: u64) {
        self.act_on(|term| term.close_notification(handle));
    }

    /// Does something to the terminal that its program may have to hear of.
    fn act_on(&self, act: impl FnOnce(&mut Term)) {
        let mut term = self.term.lock();
        act(&mut term);
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.reply(&replies);
        self.announce(seq, events);
    }

    /// Gives it a title that its program doesn't change; an empty one takes it away.
    pub fn set_name(&self, name: &str) {
        *self.name.lock() = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        self.observers.event(MuxEvent::Title(self.id));
    }

    /// Whether it was given a name ([`Pane::set_name`]).
    pub fn has_name(&self) -> bool {
        self.name.lock().is_some()
    }

    /// The program it was asked to run, with its arguments; `None`: a shell, whichever the defaults say.
    pub fn command(&self) -> Option<(&str, &[String])> {
        self.command.as_ref().map(|(program, args)| (program.as_str(), args.as_slice()))
    }

    /// What the marks of its own shells carry and nothing else can know (OSC 133 `nonce=`); `None`: no shell integration.
    pub fn nonce(&self) -> Option<&Arc<str>> {
        self.nonce.as_ref()
    }
}
