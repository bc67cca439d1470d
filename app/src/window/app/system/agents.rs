//! Whether agents are paused, and the switch that pauses them.

use crate::window::app::App;

impl App {
    /// Whether agents are paused, so that their calls that change anything wait.
    pub(crate) fn are_agents_paused(&self) -> bool {
        self.server.as_ref().is_some_and(unterm_control::Server::is_paused)
    }

    /// Pauses or resumes the agents. Returns false if there is no control server.
    pub(crate) fn toggle_agents(&mut self) -> bool {
        let Some(server) = &self.server else { return false };
        let paused = !server.is_paused();
        server.pause(paused);
        let press = self.prefs.press("pause_agents", "resumes them");
        self.notify(
            "agents",
            if paused { format!("Agents paused{press}") } else { "Agents resumed".to_owned() },
        );
        true
    }
}
