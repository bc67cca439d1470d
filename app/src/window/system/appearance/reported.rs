//! The settings that a source of the desktop's settings reports.

/// A place where the desktop publishes its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Portal,
    XSettings,
}

/// The settings that a source reports. `None` means that the source does not report the setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportedSettings {
    /// Whether the desktop prefers light colors.
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
