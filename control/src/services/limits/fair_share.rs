//! Divides a limited resource, such as memory or connections, between tokens.
//!
//! A token may use at most as much as it leaves free: half if it is the only token, a third each if there are two. So
//! even a token that uses its full share leaves room for another token. A quarter is reserved for the owner, however
//! many tokens there are. The instance's own token and the settings page's token are the owner's, because both stand
//! for the user.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::caller::TokenKind;

/// The owner's part is the total divided by this number.
const OWNERS_PART: usize = 4;

/// Whether a token stands for the user.
fn is_owner(token: TokenKind) -> bool {
    matches!(token, TokenKind::Instance | TokenKind::Page)
}

/// A resource that tokens share.
pub struct FairShare {
    total: usize,
    used: Mutex<HashMap<TokenKind, usize>>,
}

/// A token exceeds its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// The number of units that the token would use.
    pub wanted: usize,
    /// The number of units that would be left to other tokens.
    pub left: usize,
    /// The number of units that all tokens share.
    pub total: usize,
}

impl FairShare {
    /// A resource of `total` units.
    pub fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, used: Mutex::default() })
    }

    /// A part of a token's share, empty at first.
    pub fn part(self: &Arc<Self>, token: TokenKind) -> SharePart {
        SharePart { of: self.clone(), token, units: 0 }
    }
}

/// A part of a token's share. Dropping it releases its units.
pub struct SharePart {
    of: Arc<FairShare>,
    token: TokenKind,
    units: usize,
}

impl SharePart {
    /// Changes the number of units in this part.
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
            let sum = |of_owner: bool| -> usize {
                let all = used.iter().filter(|(token, _)| is_owner(**token) == of_owner);
                all.map(|(_, units)| units).sum()
            };
            let own = total / OWNERS_PART;
            let (of_owner, of_others) = (sum(true), sum(false));
            let is_granted = is_owner(self.token) && of_owner - of_token + wanted <= own;
            let kept = if is_owner(self.token) { of_owner } else { of_owner.max(own) };
            let left = total.saturating_sub(kept + of_others - of_token + wanted);
            if wanted > left && !is_granted {
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

    /// The number of units in this part.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Moves all units to a new part, so that this one becomes empty.
    pub fn take(&mut self) -> Self {
        let units = std::mem::take(&mut self.units);
        Self { of: self.of.clone(), token: self.token, units }
    }
}

impl Drop for SharePart {
    fn drop(&mut self) {
        let _ = self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes single units for a token until the token has used up its share.
    fn greedy(shared: &Arc<FairShare>, number: u64) -> Vec<SharePart> {
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
        assert_eq!([first.len(), second.len(), third.len()], [24, 12, 6]);
        let mut other = shared.part(TokenKind::Agent(4));
        assert!(other.resize(3).is_ok());
        let refused = other.resize(5).unwrap_err();
        assert_eq!(refused, Exceeded { wanted: 5, left: 1, total: 64 });
        assert_eq!(other.units(), 3, "what it has is unchanged");
        drop((first, second, third, other));
        assert!(shared.used.lock().is_empty(), "everything is given back");
    }

    #[test]
    fn the_owner_always_has_a_part() {
        let shared = FairShare::new(64);
        let _others: Vec<_> = (1..20).map(|number| greedy(&shared, number)).collect();
        let used: usize = shared.used.lock().values().sum();
        assert!((44..=48).contains(&used), "{used}");
        let [mut own, mut page] = [TokenKind::Instance, TokenKind::Page].map(|it| shared.part(it));
        own.resize(10).unwrap();
        page.resize(6).unwrap();
        assert!(own.resize(11).is_err() && page.resize(7).is_err(), "nothing is left");
        assert!(shared.part(TokenKind::Agent(20)).resize(1).is_err());
    }

    #[test]
    fn the_owner_leaves_as_much_to_others_as_it_uses() {
        let shared = FairShare::new(64);
        let mut own = shared.part(TokenKind::Instance);
        assert!(own.resize(33).is_err() && own.resize(32).is_ok());
        assert_eq!(greedy(&shared, 1).len(), 16);
    }

    proptest::proptest! {
        /// Whatever tokens take and release: they never use more than the total, and the owner can always use its part.
        #[test]
        fn no_more_than_all_is_taken(
            total in 4usize..100,
            steps in proptest::collection::vec((0u64..6, 0usize..100), 0..60),
        ) {
            let shared = FairShare::new(total);
            let token = |number| match number {
                0 => TokenKind::Instance,
                1 => TokenKind::Page,
                _ => TokenKind::Agent(number),
            };
            let mut parts: Vec<_> = (0..6).map(|number| shared.part(token(number))).collect();
            for (number, units) in steps {
                let _ = parts[number as usize].resize(units);
                let used: usize = parts.iter().map(SharePart::units).sum();
                proptest::prop_assert!(used <= total);
            }
            let _ = (parts[0].resize(0), parts[1].resize(0));
            proptest::prop_assert!(parts[0].resize(total / OWNERS_PART).is_ok());
        }
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
