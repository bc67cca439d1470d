//! The user and the clients: who is connected, with which token, what the user has approved and was asked.

pub mod approvals;
pub mod approved;
pub mod changes;
pub mod clients;
pub mod login_codes;
pub mod person;
pub mod questions;
pub mod tokens;
