//! Executes the commands of hooks.

use std::collections::BTreeMap;

use super::{CommandResult, Failure, Run};
use crate::dialect::tmux::options::Owner;

impl Run<'_> {
    /// Executes the commands that the client's program has set for a hook. Skips commands that another program has set,
    /// because they would run with the rights of this program.
    pub async fn hook(&mut self, name: &str) -> CommandResult {
        let opener = self.opener();
        if !self.server.state.lock().hooks.has(&opener, name) {
            return Ok(());
        }
        let world = self.world().await?;
        let owners = match self.current(&world) {
            Some(target) => Self::owners(&world, target).to_vec(),
            None => vec![Owner::Windows, Owner::Sessions],
        };
        let texts = self.server.state.lock().hooks.commands(&opener, &owners, name);
        self.hook.insert("hook", name.to_owned());
        for text in texts {
            // Pass the event's values as variables of formats, which a command expands once, so that a value never
            // becomes a command. A hook that fails does not make its command fail.
            match self.text(&text).await {
                Err(Failure::Disconnected) => return Err(Failure::Disconnected),
                Err(Failure::Message(why)) => tracing::debug!(name, why, "a hook failed"),
                Ok(()) => {}
            }
        }
        self.hook.remove("hook");
        Ok(())
    }

    /// Executes the commands of a hook at an event. `pane`: the pane that the commands act on. `values`: the variables
    /// of formats.
    pub async fn hook_at(
        &mut self,
        name: &str,
        pane: Option<u64>,
        values: BTreeMap<&'static str, String>,
    ) -> CommandResult {
        let own = self.pane;
        self.pane = pane.or(own);
        self.hook = values;
        let done = self.hook(name).await;
        self.hook.clear();
        self.pane = own;
        done
    }
}
