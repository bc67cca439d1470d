//! Bounds the memory of long messages: those of which a part has arrived, those that are being answered, and replies that
//! their client has not read.
//!
//! All connections of the process share one budget, whatever their wire. A token may use as much as it leaves to others:
//! half of the budget if it is the only one, a third each if there are two. So a token that takes all it can leaves
//! room for every other token. Short messages do not count, so that every client can always send one.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::caller::TokenKind;

/// A message of up to this many bytes does not count, and is short enough to be parsed by an async worker.
pub const SHORT: usize = 64 << 10;
/// The budget, in bytes. One token gets half of it: eight messages of the greatest length.
const BUDGET: usize = 256 << 20;

/// The budget of the process.
pub struct MessageBudget {
    budget: usize,
    used: Mutex<HashMap<TokenKind, usize>>,
}

impl Default for MessageBudget {
    fn default() -> Self {
        Self { budget: BUDGET, used: Mutex::default() }
    }
}

/// A token exceeds its share of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "The long messages of this token would take {wanted} bytes at once, and {left} of {budget} bytes would be left to \
     other tokens: wait for replies before you send more"
)]
pub struct OverBudget {
    wanted: usize,
    left: usize,
    budget: usize,
}

impl MessageBudget {
    /// A reservation for messages of a token, empty at first.
    pub fn reserve(self: &Arc<Self>, token: TokenKind) -> Reservation {
        Reservation { budget: self.clone(), token, bytes: 0 }
    }
}

/// The memory that some messages may use. Dropping it gives the memory back.
pub struct Reservation {
    budget: Arc<MessageBudget>,
    token: TokenKind,
    bytes: usize,
}

impl Reservation {
    /// Changes the size. A size of up to [`SHORT`] counts as 0.
    ///
    /// # Errors
    /// The token would exceed its share. The size is then unchanged.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let bytes = if bytes <= SHORT { 0 } else { bytes };
        if bytes == self.bytes {
            return Ok(());
        }
        let budget = self.budget.budget;
        let mut used = self.budget.used.lock();
        let of_token = used.get(&self.token).copied().unwrap_or(0);
        let wanted = of_token - self.bytes + bytes;
        if bytes > self.bytes {
            let left = budget.saturating_sub(used.values().sum::<usize>() - of_token + wanted);
            if wanted > left {
                return Err(OverBudget { wanted, left, budget });
            }
        }
        match wanted {
            0 => used.remove(&self.token),
            _ => used.insert(self.token, wanted),
        };
        self.bytes = bytes;
        Ok(())
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves all of it to a new reservation, and leaves this one empty.
    pub fn take(&mut self) -> Self {
        let bytes = std::mem::take(&mut self.bytes);
        Self { budget: self.budget.clone(), token: self.token, bytes }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // A smaller size is never refused.
        let _ = self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn budget() -> Arc<MessageBudget> {
        Arc::new(MessageBudget { budget: 64 * MIB, used: Mutex::default() })
    }

    /// The most bytes that a token can take, in steps of 1 MiB.
    fn greedy(budget: &Arc<MessageBudget>, number: u64) -> Vec<Reservation> {
        let mut taken = Vec::new();
        loop {
            let mut next = budget.reserve(TokenKind::Agent(number));
            if next.resize(MIB).is_err() {
                return taken;
            }
            taken.push(next);
        }
    }

    #[test]
    fn a_token_leaves_as_much_to_others_as_it_uses() {
        let budget = budget();
        let first = greedy(&budget, 1);
        let second = greedy(&budget, 2);
        let third = greedy(&budget, 3);
        assert_eq!([first.len(), second.len(), third.len()], [32, 16, 8]);
        let mut other = budget.reserve(TokenKind::Instance);
        assert!(other.resize(4 * MIB).is_ok());
        let refused = other.resize(6 * MIB).unwrap_err();
        let (wanted, left) = (6 * MIB, 2 * MIB);
        assert_eq!(refused, OverBudget { wanted, left, budget: 64 * MIB });
        assert_eq!(other.bytes(), 4 * MIB, "what it has is unchanged");
        drop((first, second, third, other));
        assert!(budget.used.lock().is_empty(), "everything is given back");
    }

    #[test]
    fn short_messages_do_not_count_and_smaller_ones_always_fit() {
        let budget = budget();
        let mut first = budget.reserve(TokenKind::Instance);
        first.resize(32 * MIB).unwrap();
        let mut second = budget.reserve(TokenKind::Instance);
        assert_eq!(second.resize(SHORT), Ok(()));
        assert!(second.resize(SHORT + 1).is_err());
        let _other = greedy(&budget, 1);
        first.resize(31 * MIB).unwrap();
        let moved = first.take();
        drop(first);
        assert_eq!(*budget.used.lock().get(&TokenKind::Instance).unwrap(), moved.bytes());
    }
}
