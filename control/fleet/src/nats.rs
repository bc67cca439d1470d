//! Connections to NATS.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use async_nats::{
    Auth, AuthError, Client, ConnectOptions, Message, ServerAddr, Subject, jetstream,
};
use serde::{Deserialize, Serialize};

use crate::identity;

/// The maximum delay between two tries to reconnect.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The number of messages of a subscription that may wait in memory, unless the caller chooses another number.
pub const WAITING: usize = 4096;
/// The maximum time to wait for a reply of NATS's own services.
const PATIENCE: Duration = Duration::from_secs(5);

/// The data with which a program connects to NATS.
#[derive(Clone, Serialize, Deserialize)]
pub struct Credentials {
    /// The servers: addresses such as `nats://host:4222` or `tls://host:4222`.
    pub servers: Vec<String>,
    /// The token that contains the program's permissions.
    pub jwt: String,
    /// A token of a machine that only allows it to request a new `jwt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<String>,
    /// The seed of the program's key.
    pub seed: String,
    /// A file of certificates that are trusted to sign the servers' certificates, in addition to the system's
    /// certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<PathBuf>,
}

impl Credentials {
    /// Connects, and reconnects whenever the connection breaks. `inbox`: the prefix of the subjects for replies.
    /// `waits`: returns immediately, even if no server answers yet.
    ///
    /// # Errors
    /// No server answers, or no server accepts the key.
    pub async fn connect(&self, name: &str, inbox: Option<&str>, waits: bool) -> Result<Client> {
        self.connect_with(name, inbox, waits, WAITING).await
    }

    /// Connects like [`Self::connect`]. `waiting`: the number of messages of a subscription that may wait in memory.
    /// Further messages are dropped.
    ///
    /// # Errors
    /// No server answers, or no server accepts the key.
    pub async fn connect_with(
        &self,
        name: &str,
        inbox: Option<&str>,
        waits: bool,
        waiting: usize,
    ) -> Result<Client> {
        let jwt = self.jwt.clone();
        self.connect_by(move || jwt.clone(), name, inbox, waits, waiting).await
    }

    /// Connects like [`Self::connect_with`]. `token` returns the token for each connection, also when the client
    /// reconnects.
    ///
    /// # Errors
    /// No server answers, or no server accepts the key.
    pub async fn connect_by(
        &self,
        token: impl Fn() -> String + Send + Sync + 'static,
        name: &str,
        inbox: Option<&str>,
        waits: bool,
        waiting: usize,
    ) -> Result<Client> {
        let key = Arc::new(identity::key(&self.seed)?);
        let prove = move |nonce: Vec<u8>| {
            let (key, jwt) = (key.clone(), token());
            async move {
                let mut auth = Auth::new();
                auth.jwt = Some(jwt);
                auth.signature = Some(key.sign(&nonce).map_err(AuthError::new)?);
                Ok(auth)
            }
        };
        let mut options = ConnectOptions::with_auth_callback(prove)
            .name(name)
            .subscription_capacity(waiting)
            .max_reconnects(None)
            .request_timeout(Some(PATIENCE))
            // A server may advertise any address, so the client uses only the servers in the credentials.
            .ignore_discovered_servers()
            .reconnect_delay_callback(pause)
            .event_callback(|event| async move { tracing::info!(%event, "nats") });
        let mut hosts = self.servers.iter().filter_map(|server| server.parse::<ServerAddr>().ok());
        if !hosts.all(|server| is_loopback(server.host())) {
            options = options.require_tls(true);
        }
        if let Some(inbox) = inbox {
            options = options.custom_inbox_prefix(inbox);
        }
        if let Some(certificates) = &self.certificates {
            options = options.add_root_certificates(certificates.clone());
        }
        if waits {
            options = options.retry_on_initial_connect();
        }
        let servers = self.servers.join(",");
        options.connect(&self.servers).await.with_context(|| format!("connecting to {servers}"))
    }
}

/// Whether a host is this machine.
pub fn is_loopback(host: &str) -> bool {
    let ip = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

/// The delay before a try to connect. It grows with the number of tries, and differs between machines, so that a server
/// that was restarted is not overloaded.
fn pause(tries: usize) -> Duration {
    let whole = Duration::from_millis(50) * 2_u32.saturating_pow(tries.min(10) as u32);
    let whole = whole.min(LONGEST_PAUSE);
    // The address of a local variable differs between processes, so it serves as a random number.
    let noise = std::ptr::from_ref(&tries).addr() as u32 ^ std::process::id();
    whole / 2 + whole / 2 * (noise / 16 % 64) / 64
}

/// The subject on which a message requests its reply, if it begins with `inbox`. A hub may publish to all subjects, so
/// it replies to no other subject: otherwise, a machine could make the hub publish where the machine may not.
pub fn reply_within(message: &Message, inbox: &str) -> Option<Subject> {
    let reply = message.reply.as_ref()?;
    let is_within = reply.strip_prefix(inbox).is_some_and(|rest| rest.starts_with('.'));
    is_within.then(|| reply.clone())
}

/// The client's access to the streams and key-value buckets of NATS.
pub fn jetstream(client: &Client) -> jetstream::Context {
    let mut context = jetstream::new(client.clone());
    context.set_timeout(PATIENCE);
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_servers_are_used_without_tls() {
        for host in ["127.0.0.1", "localhost", "[::1]", "::1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["10.0.0.1", "nats.example.org", "127.0.0.1.example.org", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn reconnect_delays_grow_up_to_a_limit() {
        assert!(pause(0) <= Duration::from_millis(50));
        for tries in 0..100 {
            assert!(pause(tries) <= LONGEST_PAUSE && pause(tries) >= Duration::from_millis(25));
        }
        assert!(pause(50) >= LONGEST_PAUSE / 2);
    }
}
