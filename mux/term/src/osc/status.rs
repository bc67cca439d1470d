//! OSC 7501: what a program says it does (Program Status Protocol, revision 0.4).
//!
//! A terminal keeps one record for each id: the root, without one, speaks for the whole program, `a/b` for a task below
//! `a`. A report replaces its record whole; one that breaks a limit changes nothing.

use super::terminator;
use super::text::{BASE64, fit, identifier};
use crate::Event;
use crate::term::Term;
use base64::Engine as _;

/// Bytes of a report, with its frame.
const REPORT_CAP: usize = 4096;
/// Bytes around the text of a report: `ESC ] 7501 ;` and `ESC \`.
const FRAME: usize = 9;
/// Records kept; the one updated longest ago goes.
const RECORDS_CAP: usize = 256;
const KEY_CAP: usize = 16;
const ID_CAP: usize = 128;
const DEPTH_CAP: usize = 8;
const SEGMENT_CAP: usize = 32;
const APP_CAP: usize = 32;
/// Bytes of base64 and of text.
const TITLE_CAPS: (usize, usize) = (256, 192);
const MESSAGE_CAPS: (usize, usize) = (2732, 2048);

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramState {
    /// It waits for the next instruction.
    Idle,
    /// It works.
    Working,
    /// It can't go on until a person does something.
    Blocked(Option<BlockedOn>),
    /// It has finished, and nobody has seen that yet.
    Done,
    /// It has failed.
    Error,
}

/// What a program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedOn {
    /// To be allowed something.
    Permission,
    /// An answer.
    Question,
    /// That someone logs in.
    Auth,
}

/// One record. Its texts are without control characters: a title of at most 192 bytes, a message of 2,048.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramStatus {
    /// Whose: empty for the whole program, else a path of words.
    pub id: String,
    /// What it does.
    pub state: ProgramState,
    /// How much of it is done, in percent, while it works or is blocked.
    pub progress: Option<u8>,
    /// The program's name for itself; see [`Term::status_app`] for what it inherits.
    pub app: Option<String>,
    /// What the record is about.
    pub title: Option<String>,
    /// One line for people.
    pub message: Option<String>,
    /// The `seq` of the report.
    pub seq: u64,
}

/// A report, read whole.
enum Report {
    Update(ProgramStatus),
    Clear(String),
}

impl Term {
    /// What programs say they do, in the order of their reports, the newest last.
    pub fn program_statuses(&self) -> &[ProgramStatus] {
        &self.osc.statuses
    }

    /// The record that matters most: blocked before failed, then working, done, idle; the newest of these.
    pub fn program_status(&self) -> Option<&ProgramStatus> {
        let weight = |status: &&ProgramStatus| match status.state {
            ProgramState::Blocked(_) => 4,
            ProgramState::Error => 3,
            ProgramState::Working => 2,
            ProgramState::Done => 1,
            ProgramState::Idle => 0,
        };
        self.osc.statuses.iter().max_by_key(weight)
    }

    /// The name of the program that a record belongs to: its own, or that of the nearest record above it that has one.
    pub fn status_app(&self, id: &str) -> Option<&str> {
        let mut id = Some(id);
        while let Some(at) = id {
            let record = self.osc.statuses.iter().find(|status| status.id == at);
            if let Some(app) = record.and_then(|status| status.app.as_deref()) {
                return Some(app);
            }
            id = match at.rsplit_once('/') {
                Some((parent, _)) => Some(parent),
                None => (!at.is_empty()).then_some(""),
            };
        }
        None
    }

    /// The program has ended: what worked or was blocked no longer is.
    pub fn program_ended(&mut self) {
        self.drop_transient_statuses();
    }

    /// OSC 7501: pairs of `key=value` with `:` between them, or `?`.
    pub(super) fn report_program_status(&mut self, rest: &[u8], bell: bool) {
        let Ok(body) = std::str::from_utf8(rest) else { return };
        if body.trim() == "?" {
            self.reply(format!("\x1b]7501;?{}", terminator(bell)).as_bytes());
            return;
        }
        if body.len() + FRAME > REPORT_CAP {
            return self.caps.dropped("report of program status", REPORT_CAP);
        }
        let seq = self.seq;
        let statuses = &mut self.osc.statuses;
        let before = statuses.len();
        match read(body, seq) {
            None => return tracing::debug!(length = body.len(), "OSC 7501 dropped"),
            Some(Report::Update(status)) => {
                statuses.retain(|own| own.id != status.id);
                if statuses.len() == RECORDS_CAP {
                    self.caps.oldest_dropped("program status", RECORDS_CAP);
                    statuses.remove(0);
                }
                statuses.push(status);
            }
            Some(Report::Clear(id)) => {
                statuses.retain(|own| !is_below(&own.id, &id));
                if statuses.len() == before {
                    return;
                }
            }
        }
        self.event(Event::ProgramStatus);
    }

    /// A new prompt, or the program's end: nothing works any more, and nothing waits.
    pub(super) fn drop_transient_statuses(&mut self) {
        let before = self.osc.statuses.len();
        self.osc.statuses.retain(|status| {
            !matches!(status.state, ProgramState::Working | ProgramState::Blocked(_))
        });
        if self.osc.statuses.len() != before {
            self.event(Event::ProgramStatus);
        }
    }
}

/// Whether `id` is `root` or below it; everything is below the empty one.
fn is_below(id: &str, root: &str) -> bool {
    let rest = id.strip_prefix(root);
    root.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Reads a report; `None` for one that says nothing or breaks a rule. A bad id is no absent one: it must not reach the root.
fn read(body: &str, seq: u64) -> Option<Report> {
    let (mut state, mut id, mut kind, mut progress) = (None, "", None, None);
    let (mut app, mut title, mut message) = (None, None, None);
    for pair in body.split(':') {
        let Some((key, value)) = pair.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if key.len() > KEY_CAP {
            return None;
        }
        if key == "id" {
            id = value;
            if !is_id(id) {
                return None;
            }
            continue;
        }
        let is_value = |b: u8| b.is_ascii_alphanumeric() || b"_.,+/=-".contains(&b);
        if key == "app" && value.len() > APP_CAP {
            return None;
        }
        if !value.bytes().all(is_value) {
            continue;
        }
        match key {
            "state" => state = Some(value),
            "kind" => kind = Some(value),
            "progress" => progress = Some(value),
            "app" => app = identifier(value, APP_CAP).map(str::to_owned),
            "title" => title = Some(text(value, TITLE_CAPS)?),
            "msg" => message = Some(text(value, MESSAGE_CAPS)?),
            _ => {}
        }
    }
    let state = match state? {
        "clear" => return Some(Report::Clear(id.to_owned())),
        "idle" => ProgramState::Idle,
        "working" => ProgramState::Working,
        "done" => ProgramState::Done,
        "error" => ProgramState::Error,
        "blocked" => ProgramState::Blocked(match kind {
            Some("permission") => Some(BlockedOn::Permission),
            Some("question") => Some(BlockedOn::Question),
            Some("auth") => Some(BlockedOn::Auth),
            _ => None,
        }),
        _ => return None,
    };
    let goes_on = matches!(state, ProgramState::Working | ProgramState::Blocked(_));
    let progress = progress
        .filter(|digits| goes_on && digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .filter(|percent| *percent <= 100);
    Some(Report::Update(ProgramStatus {
        id: id.to_owned(),
        state,
        progress,
        app,
        title,
        message,
        seq,
    }))
}

fn is_id(id: &str) -> bool {
    id.len() <= ID_CAP
        && id.split('/').count() <= DEPTH_CAP
        && id.split('/').all(|segment| identifier(segment, SEGMENT_CAP).is_some())
}

/// Text in base64, without controls: any makes the report a bad one.
fn text(encoded: &str, (encoded_cap, cap): (usize, usize)) -> Option<String> {
    if encoded.len() > encoded_cap {
        return None;
    }
    let text = String::from_utf8(BASE64.decode(encoded).ok()?).ok()?;
    (text.len() <= cap && !text.contains(char::is_control))
        .then(|| fit(text.as_bytes(), cap))
        .flatten()
}
