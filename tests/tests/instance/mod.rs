//! An instance: its start, its registration, its preferences, its end.

mod headless;
mod kept_sessions;
mod many_panes;
mod preferences;
mod unregistered;
