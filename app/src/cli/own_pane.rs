//! The pane that this program runs in, as environment variables report it.

use unterm_control::methods::instance::InfoReply;

/// A pane of a running instance.
pub struct OwnPane {
    /// The instance's id.
    pub instance: String,
    /// The number of the pane.
    pub session: u64,
}

impl OwnPane {
    /// The pane in the variables `UNTERM_INSTANCE` and `UNTERM_PANE`.
    pub fn of_environment() -> Option<Self> {
        let instance = std::env::var("UNTERM_INSTANCE").ok().filter(|id| !id.is_empty())?;
        let session = std::env::var("UNTERM_PANE").ok()?.parse().ok()?;
        Some(Self { instance, session })
    }

    /// Whether the pane belongs to the instance that sent this reply.
    pub fn is_of(&self, info: &InfoReply) -> bool {
        info.instance.id == self.instance
    }
}
