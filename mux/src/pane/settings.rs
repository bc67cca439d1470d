//! Settings of a pane that the user or a caller changes, and those it was opened with.
//!
//! Owns its name, the theme's colours of its terminal, and replies to its notifications. Never reads or writes a
//! settings file.

use std::sync::Arc;

use unterm_term::{Palette, Term};

use super::Pane;
use crate::MuxEvent;

impl Pane {
    /// Changes the theme's colours. Colours that the program has set stay.
    pub fn set_palette(&self, palette: Arc<Palette>) {
        self.act_on(|term| term.set_base_palette(palette));
    }

    /// Reports a click on the program's notification `handle`, or on one of its buttons, counted from 1.
    pub fn notification_clicked(&self, handle: u64, button: Option<u8>) {
        self.act_on(|term| term.activate_notification(handle, button));
    }

    /// Reports that a notification of the program was closed or could not be shown.
    pub fn notification_closed(&self, handle: u64) {
        self.act_on(|term| term.close_notification(handle));
    }

    /// Changes the terminal and sends its replies to the program.
    fn act_on(&self, act: impl FnOnce(&mut Term)) {
        let mut term = self.term.lock();
        act(&mut term);
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.reply(&replies);
        self.announce(seq, events);
    }

    /// Sets the pane's name, which replaces its programs' titles. An empty name removes it.
    pub fn set_name(&self, name: &str) {
        *self.name.lock() = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        self.observers.event(MuxEvent::Title(self.id));
    }

    /// Whether the pane has a name ([`Pane::set_name`]).
    pub fn has_name(&self) -> bool {
        self.name.lock().is_some()
    }

    /// The requested program and its arguments; `None`: the default shell.
    pub fn command(&self) -> Option<(&str, &[String])> {
        self.command.as_ref().map(|(program, args)| (program.as_str(), args.as_slice()))
    }

    /// The secret in the prompt marks of the pane's own shells (OSC 133 `nonce=`); `None`: no shell integration.
    pub fn nonce(&self) -> Option<&Arc<str>> {
        self.nonce.as_ref()
    }
}
