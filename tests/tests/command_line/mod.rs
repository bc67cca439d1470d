//! `unterm-cli`, and the manual whose commands it runs.

mod commands;
mod manual;
