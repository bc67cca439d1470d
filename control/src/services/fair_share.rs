//! Divides a limited resource, such as memory or connections, between tokens.
//!
//! A token may use at most as much as it leaves free: half if it is the only token, a third each if there are two. So even a
//! token that uses its full share leaves room for every other token.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::caller::TokenKind;

/// What is shared.
pub struct FairShare {
    total: usize,
    used: Mutex<HashMap<TokenKind, usize>>,
}

/// A token exceeds its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// What the token would use.
    pub wanted: usize,
    /// What would be left to other tokens.
    pub left: usize,
    /// What all tokens share.
    pub total: usize,
}

impl FairShare {
    /// Shares `total` units.
    pub fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, used: Mutex::default() })
    }

    /// A part of a token's share, empty at first.
    pub fn part(self: &Arc<Self>, token: TokenKind) -> Part {
        Part { of: self.clone(), token, units: 0 }
    }
}

/// A part of a token's share. Dropping it gives it back.
pub struct Part {
    of: Arc<FairShare>,
    token: TokenKind,
    units: usize,
}

impl Part {
    /// Changes the size.
    ///
    /// # Errors
    /// The token would exceed its share. The size is then unchanged. A smaller size never fails.
    pub fn resize(&mut self, units: usize) -> Result<(), Exceeded> {
        if units == self.units {
            return Ok(());
        }
        let total = self.of.total;
        let mut used = self.of.used.lock();
        let of_token = used.get(&self.token).copied().unwrap_or(0);
        let wanted = of_token - self.units + units;
        if units > self.units {
            let left = total.saturating_sub(used.values().sum::<usize>() - of_token + wanted);
            if wanted > left {
                return Err(Exceeded { wanted, left, total });
            }
        }
        match wanted {
            0 => used.remove(&self.token),
            _ => used.insert(self.token, wanted),
        };
        self.units = units;
        Ok(())
    }

    /// Its size.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Moves all of it to a new part, and leaves this one empty.
    pub fn take(&mut self) -> Self {
        let units = std::mem::take(&mut self.units);
        Self { of: self.of.clone(), token: self.token, units }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes units one by one, as many as the token can.
    fn greedy(shared: &Arc<FairShare>, number: u64) -> Vec<Part> {
        let one = || {
            let mut part = shared.part(TokenKind::Agent(number));
            part.resize(1).ok().map(|()| part)
        };
        std::iter::from_fn(one).collect()
    }

    #[test]
    fn a_token_leaves_as_much_to_others_as_it_uses() {
        let shared = FairShare::new(64);
        let first = greedy(&shared, 1);
        let second = greedy(&shared, 2);
        let third = greedy(&shared, 3);
        assert_eq!([first.len(), second.len(), third.len()], [32, 16, 8]);
        let mut other = shared.part(TokenKind::Instance);
        assert!(other.resize(4).is_ok());
        let refused = other.resize(6).unwrap_err();
        assert_eq!(refused, Exceeded { wanted: 6, left: 2, total: 64 });
        assert_eq!(other.units(), 4, "what it has is unchanged");
        drop((first, second, third, other));
        assert!(shared.used.lock().is_empty(), "everything is given back");
    }

    #[test]
    fn a_smaller_part_always_fits() {
        let shared = FairShare::new(64);
        let mut first = shared.part(TokenKind::Instance);
        first.resize(32).unwrap();
        let _other = greedy(&shared, 1);
        first.resize(31).unwrap();
        let moved = first.take();
        drop(first);
        assert_eq!(shared.used.lock().get(&TokenKind::Instance), Some(&moved.units()));
    }
}
