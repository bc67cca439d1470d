//! Ports on the loopback address.

use std::{
    io::{self, ErrorKind},
    net::Ipv4Addr,
};

/// The address on which servers listen.
pub const HOST: &str = "127.0.0.1";
/// The preferred port of the control server. It is used if it is free.
pub const PREFERRED_PORT: u16 = 19876;
/// The number of further ports that are tried before the system chooses one.
const PORT_RETRIES: u16 = 5;

/// Binds the port of a former instance, or else the preferred port or one of the next five ports. If none of these
/// ports is free, the system chooses a port.
pub fn bind(former: Option<u16>, preferred: u16) -> io::Result<std::net::TcpListener> {
    let again = former.filter(|port| *port != 0).and_then(|port| {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let complain = |error| tracing::warn!(port, %error, "clients can't reconnect");
        listener.map_err(complain).ok()
    });
    let listener = again.map_or_else(|| bind_from(preferred), Ok)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn bind_from(preferred: u16) -> io::Result<std::net::TcpListener> {
    for port in preferred..=preferred + PORT_RETRIES {
        match std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => tracing::debug!(port, %error, "cannot listen"),
            Ok(listener) => return Ok(listener),
        }
    }
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}
