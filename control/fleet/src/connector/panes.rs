//! The panes that a connector offers: panes of live instances, or simulated panes.

use std::{pin::Pin, sync::Arc};

use anyhow::Result;
use tokio::{sync::Mutex, time::Instant};

use super::{
    blocked_lines::TypingError, headless::Headless, instances::Instances, programs::Programs,
};
use crate::{
    identity::machine_name,
    protocol::{Presence, Session, SessionText, TypeReply, TypeRequest},
};

/// An answer that is being prepared.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of typing.
pub type TypingFuture<'a> = BoxFuture<'a, Result<TypeReply, TypingError>>;

/// The panes of a machine.
pub trait Panes: Send + Sync + 'static {
    /// The state of the machine, for its presence.
    fn presence(&self) -> BoxFuture<'_, Presence>;
    /// The sessions of the machine.
    fn sessions(&self) -> BoxFuture<'_, Vec<Session>>;
    /// The last rows of a session.
    fn read<'a>(&'a self, sid: &'a str) -> BoxFuture<'a, Result<SessionText>>;
    /// Types into a session. The caller must hold the session's turn.
    fn type_in<'a>(&'a self, request: &'a TypeRequest, deadline: Instant) -> TypingFuture<'a>;
}

/// The panes of the live instances in a home.
pub struct LivePanes {
    instances: Arc<Instances>,
    /// The starter of instances, and the AI programs that were found. Both are used when the machine's state is read.
    looking: Mutex<(Option<Headless>, Programs)>,
}

impl LivePanes {
    /// Offers the panes of these instances. `headless`: starts an instance when none is running.
    pub fn new(instances: Arc<Instances>, headless: Option<Headless>) -> Self {
        Self { instances, looking: Mutex::new((headless, Programs::default())) }
    }
}

impl Panes for LivePanes {
    fn presence(&self) -> BoxFuture<'_, Presence> {
        Box::pin(async {
            let mut looking = self.looking.lock().await;
            let (headless, programs) = &mut *looking;
            if let Some(headless) = headless {
                headless.start_if_none_runs().await;
            }
            let sessions = self.instances.sessions().await;
            let running = sessions.iter().filter_map(|session| session.ai.as_deref());
            Presence {
                name: machine_name(),
                platform: std::env::consts::OS.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                scan: programs.scan(running).await,
                sessions,
            }
        })
    }

    fn sessions(&self) -> BoxFuture<'_, Vec<Session>> {
        Box::pin(self.instances.sessions())
    }

    fn read<'a>(&'a self, sid: &'a str) -> BoxFuture<'a, Result<SessionText>> {
        Box::pin(self.instances.read(sid))
    }

    fn type_in<'a>(&'a self, request: &'a TypeRequest, deadline: Instant) -> TypingFuture<'a> {
        Box::pin(self.instances.type_in(request, deadline))
    }
}
