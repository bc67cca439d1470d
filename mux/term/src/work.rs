//! A count of the work done, for tests that hostile input costs no more than its length allows. Nothing outside tests.

#[cfg(test)]
thread_local! {
    static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// `steps` bytes, cells or rows were looked at or written.
#[inline(always)]
pub(crate) fn add(steps: usize) {
    #[cfg(test)]
    COUNT.set(COUNT.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// The count since the last call, in this thread.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    COUNT.replace(0)
}
