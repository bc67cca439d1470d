//! The crate's locks and their rule: a thread holds at most one lock, and while it holds one it never waits, does I/O
//! or calls an [`crate::Observer`].
//!
//! Owns [`Mutex`], its guard and [`Condvar`], which wrap those of `parking_lot`. In debug builds they record which lock
//! a thread holds. If the thread then takes a second lock or calls [`assert_none`], it panics with the line at which it
//! took the first lock. Release builds contain neither the record nor the check. Never depends on the guarded data.

use std::{
    ops::{Deref, DerefMut},
    time::Instant,
};

use parking_lot::WaitTimeoutResult;

/// Records the lock that a thread holds.
#[cfg(debug_assertions)]
mod held {
    use std::{cell::Cell, panic::Location};

    thread_local! {
        /// The source location at which this thread took its lock.
        static HELD: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    }

    /// Exists as long as the thread holds the lock. It is part of a guard, and guards never move to another thread.
    #[derive(Debug)]
    pub(super) struct Held(());

    impl Held {
        /// Call it before taking a lock, not after, because taking a lock may wait while the thread holds another one.
        #[track_caller]
        #[inline]
        pub(super) fn begin() -> Self {
            assert_none();
            HELD.set(Some(Location::caller()));
            Self(())
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            HELD.set(None);
        }
    }

    #[track_caller]
    #[inline]
    pub(super) fn assert_none() {
        if let Some(first) = HELD.get()
            // While a panic unwinds through a guard, other code of this thread may take another lock, so allow that.
            && !std::thread::panicking()
        {
            panic!("this thread holds the lock that it took at {first}");
        }
    }
}

#[cfg(not(debug_assertions))]
mod held {
    #[derive(Debug)]
    pub(super) struct Held(());

    impl Held {
        #[inline(always)]
        pub(super) fn begin() -> Self {
            Self(())
        }
    }

    #[inline(always)]
    pub(super) fn assert_none() {}
}

use held::Held;

/// In debug builds, panics if this thread holds a lock of this crate. Call it before slow work and before calling code
/// of others.
#[track_caller]
#[inline(always)]
pub(crate) fn assert_none() {
    held::assert_none();
}

/// A lock that a thread may take only while it holds no other lock of this crate.
#[derive(Default)]
pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    #[track_caller]
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        let held = Held::begin();
        MutexGuard { guard: self.0.lock(), held }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Gives access to guarded data while the lock is held. In debug builds, a thread with a guard panics if it takes
/// another lock of this crate.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    guard: parking_lot::MutexGuard<'a, T>,
    held: Held,
}

impl<T> MutexGuard<'_, T> {
    /// Releases the lock and hands it to the thread that has waited longest.
    #[inline]
    pub(crate) fn unlock_fair(self) {
        let Self { guard, held } = self;
        parking_lot::MutexGuard::unlock_fair(guard);
        drop(held);
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// A condition variable; waiting releases the lock.
#[derive(Debug, Default)]
pub(crate) struct Condvar(parking_lot::Condvar);

impl Condvar {
    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.0.wait(&mut guard.guard);
    }

    pub(crate) fn wait_until<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.0.wait_until(&mut guard.guard, deadline)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// The message of the panic that `act` causes.
    fn panics(act: impl FnOnce()) -> Option<String> {
        let payload = catch_unwind(AssertUnwindSafe(act)).err()?;
        Some(payload.downcast_ref::<String>().cloned().unwrap_or_default())
    }

    #[test]
    fn a_second_lock_panics_and_names_the_first() {
        let (one, other) = (Mutex::new(1), Mutex::new(2));
        let guard = one.lock();
        let line = line!() - 1;
        let message = panics(|| drop(other.lock())).expect("a panic");
        assert!(message.ends_with(&format!("lock.rs:{line}:25")), "{message}");
        assert!(panics(|| drop(one.lock())).is_some(), "rather than a deadlock");
        assert!(panics(assert_none).is_some());
        drop(guard);
        assert_none();
        assert_eq!(*other.lock(), 2);
    }

    #[test]
    fn a_lock_is_released_on_every_way_out() {
        let lock = Mutex::new(0);
        *lock.lock() += 1;
        lock.lock().unlock_fair();
        let mut guard = lock.lock();
        assert!(Condvar::default().wait_until(&mut guard, Instant::now()).timed_out());
        assert!(panics(assert_none).is_some(), "it is taken again behind a wait");
        drop(guard);
        let fails = || {
            let _guard = lock.lock();
            panic!("while it is held");
        };
        assert!(panics(fails).is_some());
        assert_none();
        // Locks that other threads hold do not count.
        let guard = lock.lock();
        std::thread::scope(|scope| scope.spawn(assert_none).join().unwrap());
        drop(guard);
    }
}
