//! Executes the commands of hooks.

use std::collections::BTreeMap;

use super::{Done, Execution, Failure, Run};
use crate::dialect::tmux::{language::Words, options::Owner};

impl Run<'_> {
    /// Executes the commands that the client's program has set for a hook. Commands that another program has set would
    /// run with the rights of this one.
    pub async fn hook(&mut self, name: &str) -> Done {
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
            // The commands of a monitor name its values as formats.
            let done = match name.starts_with('@') {
                true => self.expanded_text(&text).await,
                false => self.text(&text).await,
            };
            // A hook that fails does not make its command fail.
            match done {
                Err(Failure::Gone) => return Err(Failure::Gone),
                Err(Failure::Message(why)) => tracing::debug!(name, why, "a hook failed"),
                Ok(()) => {}
            }
        }
        self.hook.remove("hook");
        Ok(())
    }

    /// Executes the commands of a hook at an event. `pane`: what the commands act on. `values`: the variables of formats.
    pub async fn hook_at(
        &mut self,
        name: &str,
        pane: Option<u64>,
        values: BTreeMap<&'static str, String>,
    ) -> Done {
        let own = self.pane;
        self.pane = pane.or(own);
        self.hook = values;
        let done = self.hook(name).await;
        self.hook.clear();
        self.pane = own;
        done
    }

    /// Executes the commands of a text, whose words are formats. They are expanded after the text is divided into words, so
    /// that a value never becomes a command.
    fn expanded_text<'r>(&'r mut self, text: &'r str) -> Execution<'r> {
        Box::pin(async move {
            let lines = self.parsed(text).await?.map_err(|error| error.message.to_owned())?;
            let mut world = self.world().await?;
            let target = self.current(&world);
            let mut commands = Vec::new();
            for line in lines {
                let mut words = Words::new();
                for word in line.words {
                    words.push(self.expand(&word, &mut world, target).await?);
                }
                commands.push(words);
            }
            self.words(commands).await
        })
    }
}
