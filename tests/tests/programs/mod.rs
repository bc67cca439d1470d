//! Tests of popular programs in panes.

mod popular;
mod ssh;
mod vttest;
