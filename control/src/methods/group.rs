//! The groups that methods are listed under.

/// The groups of `server.capabilities`, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the groups say it")]
pub enum Group {
    Session,
    Exec,
    Screen,
    Workspace,
    Capture,
    Proxy,
    Governance,
    System,
    Instance,
}

impl Group {
    /// Every group, in order.
    pub const ALL: [Self; 9] = [
        Self::Session,
        Self::Exec,
        Self::Screen,
        Self::Workspace,
        Self::Capture,
        Self::Proxy,
        Self::Governance,
        Self::System,
        Self::Instance,
    ];

    /// The group's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Exec => "exec",
            Self::Screen => "screen",
            Self::Workspace => "workspace",
            Self::Capture => "capture",
            Self::Proxy => "proxy",
            Self::Governance => "governance",
            Self::System => "system",
            Self::Instance => "instance",
        }
    }
}
