//! The state that all sessions of an instance share.

use std::sync::Arc;

use super::{
    iterm::memory::Memory,
    jobs::Jobs,
    last_seen::LastSeen,
    stateless_clients::{ClientIdentity, Numbered, StatelessClients},
    tester::apps::Apps,
};
use crate::{caller::Caller, dispatch::Dispatcher, services::pane::hidden::HiddenPanes};

/// The state that all MCP sessions of an instance share.
pub struct Server {
    pub dispatcher: Arc<Dispatcher>,
    pub jobs: Jobs,
    pub last_seen: LastSeen,
    pub stateless: StatelessClients,
    pub iterm: Memory,
    pub tester: Apps,
}

impl Server {
    /// Creates the state of an instance.
    pub fn new(dispatcher: Arc<Dispatcher>) -> Self {
        Self {
            dispatcher,
            jobs: Jobs::default(),
            last_seen: LastSeen::default(),
            stateless: StatelessClients::default(),
            iterm: Memory::default(),
            tester: Apps::default(),
        }
    }

    /// The panes that are in no tab.
    pub fn hidden(&self) -> &HiddenPanes {
        &self.dispatcher.context().panes.hidden
    }

    /// Assigns a stateless client the connection number that it keeps in all its requests.
    pub fn number(self: &Arc<Self>, caller: Caller, who: ClientIdentity) -> Caller {
        let Numbered { caller, is_new, gone } =
            self.stateless.number(caller, who, || self.dispatcher.next_connection());
        if let Some(gone) = gone {
            self.release(gone);
        }
        if is_new {
            self.dispatcher.logged_in(&caller);
        }
        caller
    }

    /// Releases everything that a client without its own connection holds.
    pub fn release(self: &Arc<Self>, connection: u64) {
        let server = self.clone();
        tokio::spawn(async move {
            server.forget(connection).await;
            server.dispatcher.disconnected(connection);
        });
    }

    /// Releases the state that the toolsets store for a client.
    pub async fn forget(&self, connection: u64) {
        self.jobs.release(connection);
        self.last_seen.release(connection);
        self.iterm.release(connection);
        self.tester.release(self.hidden(), connection).await;
    }
}
