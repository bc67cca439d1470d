//! The pane that this program runs in, as its environment names it.

use unterm_control::methods::instance::InfoReply;

/// A pane of a running instance.
pub struct OwnPane {
    /// The instance's id.
    pub instance: String,
    /// The session's number.
    pub session: u64,
}

impl OwnPane {
    /// The pane that `UNTERM_INSTANCE` and `UNTERM_PANE` name.
    pub fn of_environment() -> Option<Self> {
        let instance = std::env::var("UNTERM_INSTANCE").ok().filter(|id| !id.is_empty())?;
        let session = std::env::var("UNTERM_PANE").ok()?.parse().ok()?;
        Some(Self { instance, session })
    }

    /// Whether the pane belongs to the instance that replied this.
    pub fn is_of(&self, info: &InfoReply) -> bool {
        info.instance.id == self.instance
    }
}
