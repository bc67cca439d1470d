//! The marks around the output of a command that was typed for a caller.

/// The marks around one command's output.
#[derive(Clone, Debug)]
pub struct Marks {
    pub(super) id: String,
}

impl Marks {
    /// Creates marks that can't be guessed. Fails if the system provides no random numbers.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { id: unterm_mux::random::hex()? })
    }

    /// The mark before the output. An OSC that no terminal implements, so terminals ignore it.
    pub fn begin(&self) -> Vec<u8> {
        format!("\x1b]1337;UntermRun={}\x07", self.id).into_bytes()
    }

    /// The mark after the output.
    pub fn end(&self) -> String {
        format!("__UNTERM_DONE_{}__", self.id)
    }

    /// A text near the end of the typed line. The line's echo and its trace contain this text too.
    pub fn echo(&self) -> String {
        format!("DONE {}", self.id)
    }
}
