//! Tests of `unterm-cli` and of the manual's commands.

mod commands;
mod inbox;
mod manual;
mod tmux;
mod transfer;
