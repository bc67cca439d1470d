//! Tests of the server from the view of its clients: a real server with its own mux on a loopback port.

mod authority;
mod dialect;
mod mcp;
mod methods;
mod ptywright;
mod support;
mod tmux;
mod toolsets;
mod wires;
