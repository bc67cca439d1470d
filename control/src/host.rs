//! What only the app can do.

/// The app, with or without a window. Later issues add to it: window focus, pixels, clipboard, dialogs, toasts, settings.
pub trait Host: Send + Sync {
    /// Whether there is a window.
    fn has_window(&self) -> bool;
    /// The title override of this instance changed; show it.
    fn instance_title_changed(&self, title: Option<&str>);
}

/// The host without a window.
pub struct Headless;

impl Host for Headless {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, _title: Option<&str>) {}
}
