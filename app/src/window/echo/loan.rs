//! A part of the window that can be lent to another thread, and taken back.

use std::ops::{Deref, DerefMut};

/// A part of the window that is either present or lent. The event loop takes a lent part back before it handles any
/// event.
pub(crate) struct Loan<T>(Option<Box<T>>);

impl<T> Loan<T> {
    pub(crate) fn new(part: T) -> Self {
        Self(Some(Box::new(part)))
    }

    /// Gives the part away; returns `None` if the part is already lent.
    pub(crate) fn lend(&mut self) -> Option<Box<T>> {
        self.0.take()
    }

    /// Stores the part after its loan ended.
    pub(crate) fn receive(&mut self, part: Box<T>) {
        self.0 = Some(part);
    }
}

/// The panic message for an access to a part while it is lent.
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
