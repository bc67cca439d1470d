//! Panes with real programs: their output, layout, images, shell integration, and their handover to another process.

mod common;
mod handover;
mod images;
#[cfg(target_os = "linux")]
mod journal;
#[cfg(target_os = "linux")]
mod kept;
mod layout;
mod panes;
mod prompts;
mod shell_integration;
mod shell_settings;
mod terminfo;
mod tmux;
mod transfer;
