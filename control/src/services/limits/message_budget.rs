//! Bounds the memory of long messages: partly received messages, messages in progress, and replies that the client has not
//! read.
//!
//! All connections of the process share one budget, regardless of their transport ([`FairShare`]). Short messages do not
//! count, so every client can always send one.

use std::sync::Arc;

use super::fair_share::{Exceeded, FairShare, SharePart};
use crate::caller::TokenKind;

/// A message of up to this many bytes does not count, and is short enough to be parsed by an async worker.
pub const SHORT: usize = 64 << 10;
/// The budget in bytes. If no other token uses the budget, the owner's token can use half of it: eight messages of the
/// maximum length.
const BUDGET: usize = 256 << 20;

/// The budget of the process.
pub struct MessageBudget(Arc<FairShare>);

impl Default for MessageBudget {
    fn default() -> Self {
        Self(FairShare::new(BUDGET))
    }
}

/// A token exceeds its share of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "The long messages of this token would take {} bytes at once, and {} of {} bytes would be left to other tokens: \
     wait for replies before you send more",
    .0.wanted, .0.left, .0.total
)]
pub struct OverBudget(Exceeded);

impl MessageBudget {
    /// A reservation for messages of a token, empty at first.
    pub fn reserve(&self, token: TokenKind) -> Reservation {
        Reservation(self.0.part(token))
    }
}

/// The memory reserved for some messages. Dropping it releases the memory.
pub struct Reservation(SharePart);

impl Reservation {
    /// Changes the number of reserved bytes. Up to 64 KiB count as 0.
    ///
    /// # Errors
    /// The token would exceed its share. The size is then unchanged.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.0.resize(if bytes <= SHORT { 0 } else { bytes }).map_err(OverBudget)
    }

    /// The number of reserved bytes.
    pub fn bytes(&self) -> usize {
        self.0.units()
    }

    /// Moves all bytes to a new reservation, so that this one becomes empty.
    pub fn take(&mut self) -> Self {
        Self(self.0.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_do_not_count() {
        let budget = MessageBudget::default();
        let mut long = budget.reserve(TokenKind::Instance);
        long.resize(BUDGET / 2).unwrap();
        let mut short = budget.reserve(TokenKind::Instance);
        assert_eq!(short.resize(SHORT), Ok(()));
        let refused = short.resize(SHORT + 1).unwrap_err().to_string();
        assert!(refused.contains("would take 134283265 bytes"), "{refused}");
        assert!(refused.contains("134152191 of 268435456 bytes"), "{refused}");
    }
}
