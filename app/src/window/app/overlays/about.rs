//! The tour, and the message "About Unterm" with details for an issue report.

use std::env;

use crate::{
    config::keys,
    window::{
        app::App,
        overlays::{
            answer::Answer,
            confirm::{Confirm, Preview},
            tour,
        },
    },
};

/// The version, as `unterm --version` prints it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl App {
    /// Shows a step of the tour. The first step is 0. Returns false if there is no such step.
    pub(crate) fn show_tour(&mut self, step: usize) -> bool {
        let keymap = &self.prefs.keymap;
        let keys =
            |name: &str| keys::find(name).map_or_else(|_| String::new(), |it| keymap.keys_of(it));
        let Some(question) = tour::step(step, keys) else { return false };
        // The tour would wait behind an open search. It may do so only for a search that the user opens with a key of
        // the tour.
        self.overlays.search.close();
        self.ask(question);
        true
    }

    /// Shows the tour if this is the user's first window.
    pub(crate) fn welcome(&mut self) {
        let is_plain = self.prefs.args.execute.is_empty() && !self.prefs.args.quake;
        if is_plain && tour::is_first(self.prefs.settings.home()) {
            self.show_tour(0);
        }
    }

    /// Shows the version and details of the system, which the user can copy into an issue report.
    pub(crate) fn show_about(&mut self) {
        let lines = self.report_lines();
        let preview = lines.iter().map(|text| Preview { text: text.clone(), ..Preview::default() });
        self.ask(
            Confirm::new(
                format!("Unterm {VERSION}"),
                "A GPU terminal whose panes agents can drive.",
            )
            .preview(preview.collect())
            .button("Copy report", 'c', Answer::Copy(lines.join("\n")))
            .last("Close"),
        );
    }

    /// The details about this window and the system for an issue report.
    fn report_lines(&self) -> Vec<String> {
        let build = if cfg!(debug_assertions) { "debug build" } else { "release build" };
        let painter = self.surface.screen.as_ref().map(|screen| screen.painter.adapter());
        let display = match (env::var_os("WAYLAND_DISPLAY"), env::var_os("DISPLAY")) {
            (Some(_), _) => "Wayland",
            (None, Some(_)) => "X11",
            (None, None) => "none",
        };
        let desktop = env::var("XDG_CURRENT_DESKTOP").unwrap_or_else(|_| "unknown".to_owned());
        let shell = match self.prefs.config.shell.program.as_str() {
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
