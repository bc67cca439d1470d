//! What a machine reports about itself, within limits and with texts that are safe to show.

use anyhow::Result;

use crate::{
    hub::output::disarmed,
    protocol::{self, Presence, Session},
};

/// The maximum number of AI programs of a machine.
const MOST_PROGRAMS: usize = 100;
/// The maximum number of characters of a session's title and of its working directory.
const LONGEST_TITLE: usize = 1000;
/// The maximum number of sessions of a machine. A connector does not list more.
pub const MOST_SESSIONS: usize = 200;
/// The maximum number of characters of a machine's name.
pub const LONGEST_NAME: usize = 100;

/// The report of a machine, shortened to the limits of a view. Sessions are left out if the report has more than `most`
/// bytes of JSON.
///
/// # Errors
/// The report can't be written as JSON.
pub fn bounded(presence: Presence, most: usize) -> Result<Presence> {
    let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    let scan = presence.scan.into_iter().take(MOST_PROGRAMS).map(|(name, program)| {
        let binary = cut(&program.binary, LONGEST_TITLE);
        let version = cut(&program.version, LONGEST_NAME);
        (cut(&name, LONGEST_NAME), protocol::Program { binary, version, ..program })
    });
    let sessions = presence.sessions.into_iter().take(MOST_SESSIONS).map(|session| Session {
        sid: cut(&session.sid, LONGEST_NAME),
        ai: session.ai.map(|ai| cut(&ai, LONGEST_NAME)),
        cwd: cut(&session.cwd, LONGEST_TITLE),
        title: cut(&session.title, LONGEST_TITLE),
        instance: cut(&session.instance, LONGEST_NAME),
    });
    let mut bounded = Presence {
        name: cut(&presence.name, LONGEST_NAME),
        platform: cut(&presence.platform, LONGEST_NAME),
        version: cut(&presence.version, LONGEST_NAME),
        scan: scan.collect(),
        sessions: sessions.collect(),
    };
    let length =
        |presence: &Presence| Ok::<_, serde_json::Error>(serde_json::to_vec(presence)?.len());
    while length(&bounded)? > most && !bounded.sessions.is_empty() {
        bounded.sessions.truncate(bounded.sessions.len() / 2);
    }
    if length(&bounded)? > most {
        bounded.scan.clear();
    }
    Ok(bounded)
}

/// The report of a machine, with texts that are safe to show.
pub fn visible_presence(presence: Presence) -> Presence {
    let scan = presence.scan.into_iter().take(MOST_PROGRAMS).map(|(name, program)| {
        let version = shown(&program.version, LONGEST_NAME);
        (shown(&name, LONGEST_NAME), protocol::Program { version, ..program })
    });
    Presence {
        name: shown(&presence.name, LONGEST_NAME),
        scan: scan.collect(),
        sessions: presence.sessions.into_iter().take(MOST_SESSIONS).map(visible).collect(),
        ..presence
    }
}

/// A session with texts that are safe to show, whatever its connector sent.
pub fn visible(session: Session) -> Session {
    let Session { sid, ai, cwd, title, instance } = session;
    Session {
        sid: shown(&sid, LONGEST_NAME),
        ai: ai.map(|ai| shown(&ai, LONGEST_NAME)),
        cwd: shown(&cwd, LONGEST_TITLE),
        title: shown(&title, LONGEST_TITLE),
        instance: shown(&instance, LONGEST_NAME),
    }
}

/// A machine's text that is safe to show, in one line of at most `most` characters.
pub fn shown(text: &str, most: usize) -> String {
    let line: String = text.chars().take(most).map(|c| if c == '\n' { ' ' } else { c }).collect();
    disarmed(&unterm_control::escaped(&line))
}
