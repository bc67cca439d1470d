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

/// Binds the preferred port, or else one of the next five. If none is free, the system chooses a port.
pub fn bind(preferred: u16) -> io::Result<std::net::TcpListener> {
    let listener = bind_from(preferred)?;
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
