//! Writes the state set by OSCs as OSCs that set it again, for [`Term::to_vt`].

use std::fmt::Write;

use base64::Engine as _;

use super::OscState;
use super::status::{BlockedOn, ProgramState, ProgramStatus};
use super::text::BASE64;
use crate::term::notification::Progress;
use crate::term::painter::Painter;
use crate::term::{ScreenKind, Term};

impl Term {
    /// Writes the pointer shapes of a screen, from the bottom of their stack.
    pub(crate) fn write_pointers(&self, painter: &mut Painter, screen: ScreenKind) {
        for shape in &self.osc.pointers[screen as usize] {
            painter.osc(format_args!("22;>{}", shape.unwrap_or("default")));
            if shape.is_none() {
                painter.osc(format_args!("22;="));
            }
        }
    }

    /// Writes the rest, which does not depend on a screen.
    pub(crate) fn write_osc_state(&self, painter: &mut Painter) {
        let OscState { progress, remote_host, statuses, tab_color, user_vars, .. } = &self.osc;
        let of =
            |percent: &Option<u8>| percent.map_or(String::new(), |percent| format!(";{percent}"));
        match progress {
            Progress::None => {}
            Progress::Percent(percent) => painter.osc(format_args!("9;4;1;{percent}")),
            Progress::Error(percent) => painter.osc(format_args!("9;4;2{}", of(percent))),
            Progress::Indeterminate => painter.osc(format_args!("9;4;3")),
            Progress::Paused(percent) => painter.osc(format_args!("9;4;4{}", of(percent))),
        }
        if let Some(host) = remote_host {
            painter.osc(format_args!("1337;RemoteHost={host}"));
            // The directory's host, if it was reported later.
            let name = host.rsplit_once('@').map_or(host.as_str(), |(_, name)| name);
            if let Some(cwd) = self.cwd().filter(|_| self.host() != Some(name)) {
                painter.osc(format_args!("7;{cwd}"));
            }
        }
        for (name, value) in user_vars {
            painter.osc(format_args!("1337;SetUserVar={name}={}", BASE64.encode(value)));
        }
        if let Some(color) = tab_color {
            for (channel, value) in [("red", color.r), ("green", color.g), ("blue", color.b)] {
                painter.osc(format_args!("6;1;bg;{channel};brightness;{value}"));
            }
        }
        statuses.iter().for_each(|status| write_status(painter, status));
        for sequence in self.osc.contexts.sequences() {
            painter.osc(format_args!("{sequence}"));
        }
    }

    /// The state of the OSC sequences as text, for [`Term::dump`].
    pub(crate) fn dump_osc_state(&self, out: &mut String) {
        let OscState { progress, remote_host, statuses, tab_color, user_vars, pointers, .. } =
            &self.osc;
        let _ = writeln!(
            out,
            "told {progress:?} {remote_host:?} {tab_color:?} {user_vars:?} {pointers:?} colours {:?}",
            self.osc.colors
        );
        for sequence in self.osc.contexts.sequences() {
            let _ = writeln!(out, "context {sequence}");
        }
        for status in statuses {
            let _ =
                writeln!(out, "status {:?}", ProgramStatus { seq: 0, since: 0, ..status.clone() });
        }
    }
}

fn write_status(painter: &mut Painter, status: &ProgramStatus) {
    let ProgramStatus { id, state, progress, app, title, message, .. } = status;
    let (state, kind) = match state {
        ProgramState::Idle => ("idle", None),
        ProgramState::Working => ("working", None),
        ProgramState::Done => ("done", None),
        ProgramState::Error => ("error", None),
        ProgramState::Blocked(on) => {
            let kind = on.map(|on| match on {
                BlockedOn::Permission => "permission",
                BlockedOn::Question => "question",
                BlockedOn::Auth => "auth",
            });
            ("blocked", kind)
        }
    };
    let encode = |text: &Option<String>| text.as_ref().map(|text| BASE64.encode(text));
    let mut text = format!("state={state}");
    for (key, value) in [
        ("kind", kind.map(str::to_owned)),
        ("id", (!id.is_empty()).then(|| id.clone())),
        ("progress", progress.map(|percent| percent.to_string())),
        ("app", app.clone()),
        ("title", encode(title)),
        ("msg", encode(message)),
    ] {
        if let Some(value) = value {
            let _ = write!(text, ":{key}={value}");
        }
    }
    painter.osc(format_args!("7501;{text}"));
}
