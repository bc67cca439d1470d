//! Taps: copies of the bytes that pass through a pane, for recordings, transcripts and raw views.

use std::{sync::Arc, time::SystemTime};

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapDirection {
    /// From the program.
    Output,
    /// To the program.
    Input,
}

/// What a tap yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TapItem {
    /// Bytes, in order.
    Bytes {
        /// The terminal's `seq` after them.
        seq: u64,
        /// When they passed.
        time: SystemTime,
        /// Which way.
        direction: TapDirection,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// The reader was too slow: this many bytes are missing here.
    Gap {
        /// How many.
        bytes: u64,
    },
    /// The pane's program has ended and nothing more will come.
    End,
}

/// The reading end of a tap. Bounded to 4 MiB; what does not fit becomes a [`TapItem::Gap`], and the pane never waits.
pub struct Tap {}
