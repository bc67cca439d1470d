//! The toolsets of agents besides `unterm`.

mod all;
mod iterm;
mod tester;
