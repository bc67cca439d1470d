//! Tests of the window, with a simulated user.

mod agents;
mod around;
mod capture;
mod display_dies;
mod drop;
mod first_size;
mod front;
mod ime;
mod keys;
mod mouse;
mod notifications;
mod picker;
mod reader_focus;
mod reading;
mod screen_reader;
mod side_by_side;
mod tabs;
mod titles;
mod wayland;
