//! Tests of the real keeper, through its clients.
#![cfg(target_os = "linux")]

mod common;
mod hostile;
mod journal;
mod life;
mod programs;
mod succession;
mod versions;
