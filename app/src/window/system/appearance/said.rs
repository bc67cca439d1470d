//! What a source of the desktop's settings reports.

/// Where the desktop publishes its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Portal,
    XSettings,
}

/// The settings that a source reports. `None` means not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Light rather than dark.
    pub(crate) is_light: Option<bool>,
    pub(crate) is_motion_reduced: Option<bool>,
}

impl Source {
    /// The name of the thread that follows the source.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::XSettings => "xsettings",
        }
    }
}
