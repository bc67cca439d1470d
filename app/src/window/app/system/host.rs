//! Answers the control server's requests to the window, on the main thread.

use unterm_control::{Acted, Bounds, HostRequest};

use crate::window::{
    app::App,
    effect::Effect,
    system::caller_actions::{refusal, typed_by},
};
use crate::{action::Action, config::keys};

impl App {
    /// Answers a request. If the caller has disconnected, the answer is dropped.
    pub(crate) fn asked_by_host(&mut self, request: HostRequest) {
        match request {
            HostRequest::Actions(answer) => drop(answer.send(self.prefs.keymap.table())),
            HostRequest::Raise(answer) => {
                if self.surface.screen.is_some() {
                    self.effect(Effect::Raise);
                    self.effect(Effect::Answer(Box::new(move |_| {
                        let _ = answer.send(());
                    })));
                }
            }
            HostRequest::Act { name, argument, bounds, answer } => {
                let acted = self.act_by_name(&name, argument.as_deref(), &bounds);
                self.effect(Effect::Answer(Box::new(move |failure| {
                    let _ = answer.send(failure.map_or(acted, Err));
                })));
            }
        }
    }

    fn act_by_name(
        &mut self,
        name: &str,
        argument: Option<&str>,
        bounds: &Bounds,
    ) -> Result<Acted, String> {
        let action = keys::find(name)?.action(argument)?;
        // A key that the user is about to type into a program could answer a question of a panel that a caller opened. The
        // next pane that needs the user can be one of another instance, or a question without a pane, which opens a panel.
        if matches!(action, Action::AnswerAgent | Action::Inbox | Action::NextAttention) {
            return Err("Only the user can do this, with a key or the mouse".to_owned());
        }
        if let Some(why) = refusal(&action, bounds, &self.workspace.broadcast, &self.mux) {
            return Ok(Acted::Refused(why));
        }
        if let Some(typed) =
            typed_by(&action, &self.workspace.broadcast, &self.workspace.views, &self.mux)
        {
            return typed.map(Acted::Types);
        }
        // The caller does not see the window, so it receives the error that the action shows.
        self.overlays.toasts.take_complaint();
        let done = self.act(action);
        self.overlays.toasts.take_complaint().map_or(Ok(Acted::Done(done)), Err)
    }
}
