//! An instance: its start, its registration, its preferences, its end.

mod headless;
mod kept;
mod many_panes;
mod preferences;
mod unregistered;
