//! Tests of `unterm-cli` and of the manual's commands.

mod commands;
mod manual;
mod tmux;
