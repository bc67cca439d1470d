//! The table of methods.
//!
//! A method is a type that implements [`Method`]: its name, what it reveals and changes, its typed parameters and
//! reply, a line of documentation, and the call. Dispatch and `server.capabilities` read the table. So does the test
//! that requires a wire test for each method. Methods never write to a wire, and never know which wire they were called
//! on.

pub mod action;
pub mod activity;
pub mod adapter;
pub mod aliases;
pub mod approvals;
pub mod audit;
pub mod blocks;
pub mod capture;
pub mod cells;
pub mod config;
mod context;
pub mod events;
pub mod exec;
pub mod explain;
pub mod files;
pub mod find;
mod group;
pub mod hand_over;
pub mod inbox;
pub mod input;
pub mod instance;
pub mod layout;
pub mod lease;
mod method;
pub mod moving;
pub mod nonce;
pub mod orchestrate;
pub mod params;
pub mod policy;
pub mod proxy;
pub mod recording;
pub mod replay;
pub mod screen;
pub mod search_all;
pub mod selftest;
pub mod server;
pub mod session;
pub mod settings;
pub mod signal;
pub mod system;
mod table;
pub mod titles;
pub mod token;
pub mod variables;
pub mod verify_handover;
pub mod view;
pub mod wait;
pub mod workspace;

pub use self::{
    context::Context,
    group::Group,
    method::{Entry, Method},
    table::METHODS,
};
pub(crate) use self::{
    context::hides_input,
    method::entry,
    params::Word,
    table::{find, names_by_group},
};
use crate::{authority::Subjects, caller::Caller, error::Result};
