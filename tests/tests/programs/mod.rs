//! Popular programs in panes.

mod popular;
mod ssh;
mod vttest;
