//! Tests of the real keeper, as its clients see it.
#![cfg(target_os = "linux")]

mod common;
mod hostile;
mod journal;
mod life;
mod programs;
mod succession;
mod versions;
