//! The count of steps and the time of a call.

use std::{cell::Cell, fmt, time::Instant};

use crate::{error::LimitKind, limits::Limits};

/// The number of steps between two reads of the clock. It is small because one attempt to match a pattern can take
/// milliseconds.
const CLOCK_STEPS: u64 = 8;

/// The steps and the time that one call has used. After the call has exceeded a limit, each further step fails.
pub(super) struct Budget {
    limits: Limits,
    steps: Cell<u64>,
    started: Cell<Instant>,
    exceeded: Cell<Option<LimitKind>>,
}

/// The error of a step that exceeds a limit.
#[derive(Debug)]
struct Exceeded;

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call exceeded its limit")
    }
}

impl std::error::Error for Exceeded {}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        let started = Cell::new(Instant::now());
        Self { limits, steps: Cell::new(0), started, exceeded: Cell::new(None) }
    }

    /// Resets the counts for a new call.
    pub(super) fn begin(&self) {
        self.steps.set(0);
        self.started.set(Instant::now());
        self.exceeded.set(None);
    }

    /// Counts one step.
    pub(super) fn step(&self) -> mlua::Result<()> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if self.exceeded.get().is_none() {
            if steps > self.limits.steps {
                self.exceeded.set(Some(LimitKind::Steps));
            } else if steps.is_multiple_of(CLOCK_STEPS)
                && self.started.get().elapsed() > self.limits.time
            {
                self.exceeded.set(Some(LimitKind::Time));
            }
        }
        match self.exceeded.get() {
            Some(_) => Err(mlua::Error::external(Exceeded)),
            None => Ok(()),
        }
    }

    /// The limit that the call exceeded. The time is checked here again, for a call without steps.
    pub(super) fn exceeded(&self) -> Option<LimitKind> {
        let late = self.started.get().elapsed() > self.limits.time;
        self.exceeded.get().or(late.then_some(LimitKind::Time))
    }

    /// A limit as text.
    pub(super) fn describe(&self, kind: LimitKind) -> String {
        describe(&self.limits, kind)
    }
}

/// A limit as text.
pub(crate) fn describe(limits: &Limits, kind: LimitKind) -> String {
    match kind {
        LimitKind::Steps => format!("{} steps", limits.steps),
        LimitKind::Time => format!("{:?}", limits.time),
        LimitKind::Memory => format!("{} KiB of memory", limits.memory >> 10),
    }
}
