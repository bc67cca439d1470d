//! The user and the clients: the connected clients, their tokens, and the user's approvals and open questions.

pub mod approvals;
pub mod approved;
pub mod changes;
pub mod clients;
pub mod login_codes;
pub mod questions;
pub mod tokens;
pub mod user_typing;

use std::{path::Path, sync::Arc};

use self::{
    approvals::{Approval, Approvals},
    changes::Changes,
    clients::Clients,
    login_codes::LoginCodes,
    questions::Questions,
    tokens::Tokens,
};

/// The people and clients of an instance.
pub struct People {
    /// The connected clients, and the switch that pauses agents.
    pub clients: Arc<Clients>,
    /// The one-time codes and the tokens of settings pages.
    pub login_codes: Arc<LoginCodes>,
    /// The channel that notifies settings pages of changes.
    pub changes: Arc<Changes>,
    /// The tokens that the user created for agents.
    pub tokens: Arc<Tokens>,
    /// The clients that may act.
    pub approvals: Arc<Approvals>,
    /// The open questions to the user.
    pub questions: Arc<Questions>,
}

impl People {
    /// `home`: Unterm's home. `instance`: the instance's id and start. `rule`: the rule for unknown clients.
    pub fn new(home: &Path, instance: String, rule: Approval, changes: Arc<Changes>) -> Self {
        Self {
            clients: Arc::default(),
            login_codes: Arc::default(),
            changes,
            tokens: Arc::new(Tokens::new(home, instance)),
            approvals: Arc::new(Approvals::new(home, rule)),
            questions: Arc::default(),
        }
    }
}
