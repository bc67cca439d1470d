//! Tests of `unterm-cli` and of the manual's commands.

mod commands;
mod inbox;
mod manual;
mod search;
mod tmux;
mod transfer;
