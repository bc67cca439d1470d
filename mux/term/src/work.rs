//! Counts the steps of work, for tests that hostile input costs no more than its length justifies. Does nothing outside
//! tests.

#[cfg(test)]
thread_local! {
    static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Adds `steps`, a number of bytes, cells or rows that were read or written.
#[inline(always)]
pub(crate) fn add(steps: usize) {
    #[cfg(test)]
    COUNT.set(COUNT.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// Returns the number of steps since the last call, in this thread.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    COUNT.replace(0)
}
