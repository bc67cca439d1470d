//! Tests of what all methods share: transports, messages, limits, and servers that fail or share a home.

mod backend;
mod faults;
mod folder;
mod hardening;
mod http;
mod instances;
mod long_messages;
mod shares;
mod socket;
mod transcripts;
mod wire;
