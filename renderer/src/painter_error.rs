//! Why a painter fails.

/// Why a painter could not be created, or a frame could not be presented.
#[derive(Debug, thiserror::Error)]
pub enum PainterError {
    /// No adapter can draw on this window.
    #[error("no graphics adapter can draw on this window: {0}")]
    NoAdapter(String),
    /// The surface failed.
    #[error("the window's surface failed: {0}")]
    Surface(String),
}
