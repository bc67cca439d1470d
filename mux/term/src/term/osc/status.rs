//! OSC 7501: the status that programs report. The specification is the Program Status Protocol of Superlogical,
//! revision 0.3 (<https://www.superlogical.com/rex/docs/build/program-status>).
//!
//! A terminal keeps one record per id. The root, which has no id, describes the whole program; `a/b` describes a task
//! of `a`. A report replaces its whole record; a report that exceeds a limit changes nothing.

use super::terminator;
use super::text::{BASE64, fit, identifier};
use crate::Event;
use crate::term::Term;
use base64::Engine as _;

/// Maximum bytes of a report, including its frame.
const REPORT_CAP: usize = 4096;
/// Bytes around the text of a report: `ESC ] 7501 ;` and `ESC \`.
const FRAME: usize = 9;
/// Maximum records kept; the least recently updated is dropped.
const RECORDS_CAP: usize = 256;
const KEY_CAP: usize = 16;
const ID_CAP: usize = 128;
const DEPTH_CAP: usize = 8;
const SEGMENT_CAP: usize = 32;
const APP_CAP: usize = 32;
/// Maximum bytes of base64, and of text.
const TITLE_CAPS: (usize, usize) = (256, 192);
const MESSAGE_CAPS: (usize, usize) = (2732, 2048);

/// The state of a program or a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramState {
    /// Waiting for the next instruction.
    Idle,
    /// Working.
    Working,
    /// Waiting for the user to do something.
    Blocked(Option<BlockedOn>),
    /// Finished, but nobody has looked at the result yet.
    Done,
    /// Failed.
    Error,
}

/// What a blocked program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedOn {
    /// Permission to do something.
    Permission,
    /// An answer.
    Question,
    /// A login.
    Auth,
}

/// One record. Its texts have no control characters; titles have at most 192 bytes, messages 2,048.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramStatus {
    /// Empty for the whole program, otherwise a path of words.
    pub id: String,
    /// The reported state.
    pub state: ProgramState,
    /// Progress in percent, while the program is working or blocked.
    pub progress: Option<u8>,
    /// The program's name for itself; [`Term::status_app`] returns the inherited name.
    pub app: Option<String>,
    /// The subject of the record.
    pub title: Option<String>,
    /// One line to show to users.
    pub message: Option<String>,
    /// The `seq` of the report.
    pub seq: u64,
    /// The time when the record entered its state, in milliseconds since 1970. A report of the same state does not
    /// change it. 0 if unknown ([`Term::set_time`]).
    pub since: u64,
}

/// A completely parsed report.
enum Report {
    Update(ProgramStatus),
    Clear(String),
}

impl Term {
    /// The records, least recently updated first.
    pub fn program_statuses(&self) -> &[ProgramStatus] {
        &self.osc.statuses
    }

    /// The name of the program of a record: its own name, or that of the nearest ancestor with a name.
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

    /// The program has ended: drops records that are working or blocked, contexts, and what has not arrived whole.
    pub fn program_ended(&mut self) {
        self.drop_transient_statuses();
        self.end_contexts();
        self.forget_unfinished();
        self.graphics.arriving = None;
    }

    /// OSC 7501: `key=value` pairs separated by `:`, or `?`.
    pub(super) fn report_program_status(&mut self, rest: &[u8], bell: bool) {
        let Ok(body) = std::str::from_utf8(rest) else { return };
        if body.trim() == "?" {
            self.reply(format!("\x1b]7501;?{}", terminator(bell)).as_bytes());
            return;
        }
        if body.len() + FRAME > REPORT_CAP {
            return self.caps.dropped("report of program status", REPORT_CAP);
        }
        let (seq, now) = (self.seq, self.now());
        let statuses = &mut self.osc.statuses;
        let before = statuses.len();
        match read(body, seq) {
            None => return tracing::debug!(length = body.len(), "OSC 7501 dropped"),
            Some(Report::Update(mut status)) => {
                let earlier = statuses.iter().find(|own| own.id == status.id);
                let is_same = |own: &&ProgramStatus| own.state == status.state;
                status.since = earlier.filter(is_same).map_or(now, |own| own.since);
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

    /// At a new prompt or the end of the program, drops records that are working or blocked.
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

/// Whether `id` is `root` or below it. Every id is below the empty root.
fn is_below(id: &str, root: &str) -> bool {
    let rest = id.strip_prefix(root);
    root.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Parses a report; `None` if it has no state or breaks a rule. An invalid id must not count as missing, because the
/// report would then apply to the root.
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
        since: 0,
    }))
}

fn is_id(id: &str) -> bool {
    id.len() <= ID_CAP
        && id.split('/').count() <= DEPTH_CAP
        && id.split('/').all(|segment| identifier(segment, SEGMENT_CAP).is_some())
}

/// Decodes base64 text. Control characters make the whole report invalid.
fn text(encoded: &str, (encoded_cap, cap): (usize, usize)) -> Option<String> {
    if encoded.len() > encoded_cap {
        return None;
    }
    let text = String::from_utf8(BASE64.decode(encoded).ok()?).ok()?;
    (text.len() <= cap && !text.contains(char::is_control))
        .then(|| fit(text.as_bytes(), cap))
        .flatten()
}
