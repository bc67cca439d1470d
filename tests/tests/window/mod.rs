//! Tests of the window, with a simulated user.

mod actions;
mod agents;
mod capture;
mod display_crash;
mod drop;
mod first_size;
mod ime;
mod inbox;
mod keys;
mod mouse;
mod notifications;
mod picker;
mod raise;
mod reading;
mod screen_reader;
mod screen_reader_focus;
mod several_instances;
mod tabs;
mod titles;
mod wayland;
