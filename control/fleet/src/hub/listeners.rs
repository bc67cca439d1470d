//! The addresses on which a hub listens.
//!
//! Passkeys need a host name, which on the loopback address is `localhost`. Browsers resolve it to 127.0.0.1 and to
//! `[::1]`, and another user's program could listen on the address that the hub does not use. So a hub on one of these
//! addresses listens on the same port of both.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use rustix::io::Errno;
use tokio::net::{TcpListener, TcpStream};

/// The maximum number of ports that are tried until a port is free on both addresses.
const TRIES: usize = 10;

/// The listening sockets of a hub.
pub struct Listeners {
    first: TcpListener,
    /// The listener on the other loopback address.
    second: Option<TcpListener>,
    has_localhost: bool,
}

impl Listeners {
    /// Listens on an address. If it is 127.0.0.1 or `[::1]`, also listens on the same port of the other loopback
    /// address, unless another program uses that port.
    ///
    /// # Errors
    /// The address can't be used.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let other: IpAddr = match address.ip() {
            IpAddr::V4(Ipv4Addr::LOCALHOST) => Ipv6Addr::LOCALHOST.into(),
            IpAddr::V6(Ipv6Addr::LOCALHOST) => Ipv4Addr::LOCALHOST.into(),
            _ => {
                let first = TcpListener::bind(address).await?;
                return Ok(Self { first, second: None, has_localhost: false });
            }
        };
        let mut tries = if address.port() == 0 { TRIES } else { 1 };
        loop {
            let first = TcpListener::bind(address).await?;
            let other = SocketAddr::new(other, first.local_addr()?.port());
            tries -= 1;
            match TcpListener::bind(other).await {
                Ok(second) => {
                    return Ok(Self { first, second: Some(second), has_localhost: true });
                }
                Err(error) if is_without_ipv6(&error) => {
                    return Ok(Self { first, second: None, has_localhost: true });
                }
                Err(_) if tries > 0 => {}
                // If the hub listened only on `[::1]`, the redirect from `localhost` would send users to the other
                // program.
                Err(error) if address.is_ipv6() => return Err(error),
                Err(error) => {
                    tracing::warn!(
                        "can't listen on {other}: {error}. The dashboard uses 127.0.0.1, without passkeys"
                    );
                    return Ok(Self { first, second: None, has_localhost: false });
                }
            }
        }
    }

    /// Whether no other program can answer at `localhost` with the port of these listeners.
    pub fn has_localhost(&self) -> bool {
        self.has_localhost
    }

    /// The address on which the hub was configured to listen. If the configured port was 0, contains the port that the
    /// system chose.
    ///
    /// # Errors
    /// The system does not report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.first.local_addr()
    }

    /// The host and port of the address for agents.
    ///
    /// # Errors
    /// The system does not report the port.
    pub fn for_agents(&self) -> io::Result<String> {
        let address = self.local_addr()?;
        Ok(match self.has_localhost {
            true => format!("{}:{}", Ipv4Addr::LOCALHOST, address.port()),
            false => address.to_string(),
        })
    }

    /// The host and port of the address for users.
    ///
    /// # Errors
    /// The system does not report the port.
    pub fn for_people(&self) -> io::Result<String> {
        match self.has_localhost {
            true => Ok(format!("localhost:{}", self.local_addr()?.port())),
            false => self.for_agents(),
        }
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// No connection can be accepted, for example because the process has no free file descriptors.
    pub async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = match &self.second {
            None => self.first.accept().await?,
            Some(second) => tokio::select! {
                accepted = self.first.accept() => accepted?,
                accepted = second.accept() => accepted?,
            },
        };
        Ok(stream)
    }
}

/// Whether an error means that the machine has no IPv6. In that case, `localhost` is only 127.0.0.1.
fn is_without_ipv6(error: &io::Error) -> bool {
    error.kind() == ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY_PORT: &str = "127.0.0.1:0";

    #[tokio::test]
    async fn the_hub_binds_both_loopback_addresses() {
        let listeners = Listeners::bind(ANY_PORT.parse().unwrap()).await.unwrap();
        assert!(listeners.has_localhost());
        let port = listeners.local_addr().unwrap().port();
        assert_eq!(listeners.for_agents().unwrap(), format!("127.0.0.1:{port}"));
        assert_eq!(listeners.for_people().unwrap(), format!("localhost:{port}"));
        // A machine without IPv6 has no second address.
        for address in [Some(&listeners.first), listeners.second.as_ref()].into_iter().flatten() {
            let address = address.local_addr().unwrap();
            let (connected, accepted) =
                tokio::join!(TcpStream::connect(address), listeners.accept());
            assert_eq!(
                accepted.unwrap().peer_addr().unwrap(),
                connected.unwrap().local_addr().unwrap()
            );
            assert!(TcpListener::bind(address).await.is_err());
        }
    }

    #[tokio::test]
    async fn localhost_is_not_used_if_another_program_has_the_port() {
        let (taken, listeners) = loop {
            let Ok(taken) = TcpListener::bind("[::1]:0").await else { return };
            let port = taken.local_addr().unwrap().port();
            // Another program may already use this port of 127.0.0.1.
            if let Ok(listeners) = Listeners::bind((Ipv4Addr::LOCALHOST, port).into()).await {
                break (taken, listeners);
            }
        };
        assert!(!listeners.has_localhost());
        let port = taken.local_addr().unwrap().port();
        assert_eq!(listeners.for_people().unwrap(), format!("127.0.0.1:{port}"));
    }

    #[tokio::test]
    async fn a_hub_on_ipv6_does_not_start_if_127_0_0_1_is_in_use() {
        let (taken, other) = loop {
            let taken = TcpListener::bind(ANY_PORT).await.unwrap();
            let other = SocketAddr::new(
                IpAddr::V6(Ipv6Addr::LOCALHOST),
                taken.local_addr().unwrap().port(),
            );
            match TcpListener::bind(other).await {
                Ok(_) => break (taken, other),
                Err(error) if is_without_ipv6(&error) => return,
                Err(_) => {}
            }
        };
        assert!(Listeners::bind(other).await.is_err());
        drop(taken);
        assert!(Listeners::bind(other).await.unwrap().has_localhost());
    }
}
