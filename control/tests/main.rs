//! The server as its clients see it: a real server on a loopback port with a mux of its own, driven over its wires.

mod authority;
mod dialect;
mod mcp;
mod methods;
mod ptywright;
mod support;
mod toolsets;
mod wires;
