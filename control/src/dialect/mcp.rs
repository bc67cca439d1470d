//! The Model Context Protocol, both eras of it (`initialize`, up to 2025-11-25, and the requests of 2026-07-28 that stand for
//! themselves): over lines on the TCP wire, which `unterm-cli mcp` relays to a client's stdio, and over HTTP, also as
//! clients of 2024 speak it.
//!
//! Owns the toolsets, their names, schemas and replies, and what calls take over several requests ([`jobs`]). A tool does
//! nothing by itself: it calls methods of the one table through the dispatcher, as every wire does, with its client's
//! scopes, policy and audit. The protocol itself is rmcp's.

mod approve;
mod arguments;
pub mod http;
mod iterm;
mod jobs;
mod owed;
mod prompts;
mod resources;
mod rows;
mod schema;
mod seats;
mod session;
mod sse;
mod tester;
mod tool;
mod unterm;
mod words;

use std::sync::Arc;

use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use self::{jobs::Jobs, owed::Owing, seats::Seats, session::Session};
pub use self::{
    owed::Owed,
    tool::{Hints, Toolset},
};
use crate::{caller::Caller, dispatch::Dispatcher, untrusted};

/// The longest message of a client, in bytes.
const LONGEST_MESSAGE: usize = 16 << 20;

/// The toolsets, the usual one first.
pub static TOOLSETS: [&Toolset; 3] = [&unterm::TOOLSET, &iterm::TOOLSET, &tester::TOOLSET];

/// What all sessions of an instance share.
pub struct Server {
    dispatcher: Arc<Dispatcher>,
    jobs: Jobs,
    seats: Seats,
    iterm: iterm::Memory,
    tester: tester::Apps,
}

impl Server {
    /// For an instance.
    pub fn new(dispatcher: Arc<Dispatcher>) -> Self {
        Self {
            dispatcher,
            jobs: Jobs::default(),
            seats: Seats::default(),
            iterm: iterm::Memory::default(),
            tester: tester::Apps::default(),
        }
    }

    /// Serves a client that has logged in, until it goes; `folder`: where it was started; `owed`: kept while it is served.
    pub async fn serve(
        self: Arc<Self>,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        caller: Caller,
        toolset: &'static Toolset,
        folder: Option<String>,
        owed: Owed,
    ) {
        let connection = caller.connection;
        let gone = watch::Sender::new(false);
        let session =
            Session::of_connection(self.clone(), caller, toolset, folder, gone.subscribe());
        let transport =
            AsyncRwTransport::new_server(reader, writer).with_max_line_length(LONGEST_MESSAGE);
        match rmcp::serve_server(session, Owing::new(transport, owed, gone)).await {
            Ok(running) => {
                let end = running.waiting().await;
                tracing::debug!(connection, ?end, "a client of the Model Context Protocol went");
            }
            Err(error) => tracing::debug!(connection, %error, "no session began"),
        }
        self.forget(connection).await;
    }

    /// What a client held that has no connection of its own is given back.
    fn release(self: &Arc<Self>, connection: u64) {
        let server = self.clone();
        tokio::spawn(async move {
            server.forget(connection).await;
            server.dispatcher.disconnected(connection);
        });
    }

    /// What a client had of ours goes with it.
    async fn forget(&self, connection: u64) {
        self.jobs.release(connection);
        self.iterm.release(connection);
        self.tester.release(self, connection).await;
    }
}

/// The toolset of that name, or the usual one.
///
/// # Errors
/// There is none of that name; for people.
pub fn toolset(name: Option<&str>) -> Result<&'static Toolset, String> {
    let Some(name) = name else { return Ok(TOOLSETS[0]) };
    TOOLSETS.into_iter().find(|toolset| toolset.name == name).ok_or_else(|| {
        let known: Vec<_> = TOOLSETS.iter().map(|toolset| toolset.name).collect();
        format!("There is no toolset {name:?}; there are: {}", known.join(", "))
    })
}
