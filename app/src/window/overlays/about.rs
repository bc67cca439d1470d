//! The message "About Unterm" with details for an issue report.

use std::env;

use crate::config::Config;
use crate::window::overlays::{
    answer::Answer,
    confirm::{Confirm, Preview},
};

/// The version, as `unterm --version` prints it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version and details of the system, which the user can copy into an issue report. `painter`: the name of the
/// window's painter, if the window is open.
pub(crate) fn about(painter: Option<String>, config: &Config) -> Confirm {
    let lines = report_lines(painter, config);
    let preview = lines.iter().map(|text| Preview { text: text.clone(), ..Preview::default() });
    Confirm::new(format!("Unterm {VERSION}"), "A GPU terminal whose panes agents can drive.")
        .preview(preview.collect())
        .button("Copy report", 'c', Answer::Copy(lines.join("\n")))
        .last("Close")
}

/// The details about this window and the system for an issue report.
fn report_lines(painter: Option<String>, config: &Config) -> Vec<String> {
    let build = if cfg!(debug_assertions) { "debug build" } else { "release build" };
    let display = match (env::var_os("WAYLAND_DISPLAY"), env::var_os("DISPLAY")) {
        (Some(_), _) => "Wayland",
        (None, Some(_)) => "X11",
        (None, None) => "none",
    };
    let desktop = env::var("XDG_CURRENT_DESKTOP").unwrap_or_else(|_| "unknown".to_owned());
    let shell = match config.shell.program.as_str() {
        "" => env::var("SHELL").unwrap_or_else(|_| "unknown".to_owned()),
        program => program.to_owned(),
    };
    vec![
        format!("Unterm {VERSION}, {build}, {}", env::consts::ARCH),
        format!("System: {}", system()),
        format!("Display: {display}, desktop {desktop}"),
        format!("Painter: {}", painter.unwrap_or_else(|| "none".to_owned())),
        format!("Shell: {shell}"),
    ]
}

/// The name of the operating system, and its kernel.
fn system() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map_or(env::consts::OS, |name| name.trim_matches('"'));
    match std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(kernel) => format!("{name}, kernel {}", kernel.trim()),
        Err(_) => name.to_owned(),
    }
}
