//! The programs as their users run them: Unterm with and without a window, its command line, agents, the fleet.

mod agents;
mod command_line;
mod fleet;
mod fuzz;
mod instance;
mod pictures;
mod programs;
mod ptywright;
mod settings_page;
mod tidy;
mod window;
