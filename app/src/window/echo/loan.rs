//! A part of the window that can be lent to another thread.

use std::ops::{Deref, DerefMut};

/// A part that its owner holds or has lent. The event loop takes a lent part back before it handles anything.
pub(crate) struct Loan<T>(Option<Box<T>>);

impl<T> Loan<T> {
    pub(crate) fn new(part: T) -> Self {
        Self(Some(Box::new(part)))
    }

    /// Gives the part away; `None` if it is lent already.
    pub(crate) fn lend(&mut self) -> Option<Box<T>> {
        self.0.take()
    }

    /// Receives the part again.
    pub(crate) fn receive(&mut self, part: Box<T>) {
        self.0 = Some(part);
    }
}

/// Why a part can be used: code of the window runs only while nothing is lent.
const NOT_LENT: &str = "the event loop takes a lent part back before it handles anything";

impl<T> Deref for Loan<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().expect(NOT_LENT)
    }
}

impl<T> DerefMut for Loan<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect(NOT_LENT)
    }
}
