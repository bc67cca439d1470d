//! The command-line option `--framing`.

use clap::ValueEnum;
use unterm_control::ptywright::FramingKind;

/// How messages are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Framing {
    /// One JSON object a line.
    Ndjson,
    /// Content-Length headers, as in the Language Server Protocol.
    Lsp,
}

impl Framing {
    /// The name of this framing on the command line.
    pub fn name(self) -> &'static str {
        FramingKind::from(self).name()
    }
}

impl From<Framing> for FramingKind {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Ndjson => Self::Ndjson,
            Framing::Lsp => Self::Lsp,
        }
    }
}
