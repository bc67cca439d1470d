//! Agents that use the Model Context Protocol.

mod access;
mod clients;
mod commands;
mod http;
mod relay;
