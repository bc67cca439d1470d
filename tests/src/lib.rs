//! Shared parts of the end-to-end tests and benches: the real program with its own home, a private display, the
//! project's files for the tidy checks, and the fuzz bodies.
//!
//! Contains no product code and asserts nothing by itself. Every process that it starts is ended by its process id, and
//! listens only on the loopback address.

mod bare_pty;
mod binaries;
mod browser;
mod bus;
pub mod clients;
pub mod commands;
mod compositor;
mod display;
pub mod fleet;
mod full_disk;
pub mod fuzz;
mod input_method;
mod instance;
mod keyboard;
mod modules;
mod notifier;
mod pane;
pub mod peer;
mod picture;
mod portal;
mod process;
mod relay;
mod resources;
mod screen_reader;
mod source_tree;
pub mod vtebench;
mod wait;
mod window;
mod window_manager;
mod xsettings;

pub use bare_pty::{run_and_throw_away, start_on_pty};
pub use binaries::binary;
pub use browser::{Browser, node_modules};
pub use bus::Bus;
pub use compositor::Compositor;
pub use display::{Activations, Bells, Display};
pub use input_method::InputMethod;
pub use instance::{Instance, PROMPT, Start, Wire, describe};
pub use modules::Modules;
pub use notifier::{Notice, NotificationRequest, Notifier};
pub use pane::Pane;
pub use picture::{Area, Picture};
pub use portal::Portal;
pub use relay::Relay;
pub use resources::Resources;
pub use screen_reader::ScreenReader;
pub use source_tree::{SourceFile, Tree};
pub use wait::{PATIENCE, wait_for, wait_until};
pub use window::Window;
pub use window_manager::{Compositing, WindowManager};
