//! Tests of the toolsets of agents other than `unterm`.

mod all;
mod iterm;
mod tester;
