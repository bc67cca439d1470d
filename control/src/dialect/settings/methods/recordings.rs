//! Preferences of recordings, the running recordings, and searches in finished recordings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{method, overview};
use crate::{
    error::{Error, Result},
    methods::{Context, params::NoParams, session::blocking},
    services::{
        self,
        limits::search_limiter::Budget,
        people::changes::Topic,
        records::recording::{
            self,
            settings::{self, Settings},
        },
    },
};

/// The maximum number of lines in a search result.
const MOST_MATCHES: usize = 200;
/// The maximum number of bytes that a search reads from all recordings together.
const MOST_SEARCHED: u64 = 1 << 30;
/// The maximum number of characters of a line in a search result.
const LONGEST_LINE: usize = 200;

#[derive(Serialize, JsonSchema)]
struct Active {
    pane_id: u64,
    /// The recording's id.
    session_id: String,
    started_at: String,
    /// Number of commands that have started.
    block_count: u64,
    /// Number of bytes of output.
    bytes: u64,
}

/// How sessions are recorded.
#[derive(Serialize, JsonSchema)]
pub struct RecordingReply {
    /// The running recordings.
    active: Vec<Active>,
    /// Whether each new session is recorded from its start.
    enabled: bool,
    redaction: Redaction,
    /// After this many minutes without activity, the recording continues in a new file.
    idle_rotate_minutes: u64,
}

/// How secrets in recordings are masked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Redaction {
    /// Whether secrets are masked.
    enabled: bool,
    /// Regular expressions for further secrets.
    custom_patterns: Vec<String>,
}

async fn show(context: &Context) -> Result<RecordingReply> {
    let home = context.registration.home().to_owned();
    let settings = blocking(move || Settings::read(&home)).await?.map_err(Error::Failed)?;
    let active = overview::active(context).map(|(pane_id, record)| Active {
        pane_id,
        session_id: record.unterm_session_id,
        started_at: record.started_at,
        block_count: record.block_count,
        bytes: record.bytes_raw,
    });
    let settings::Redaction { enabled, custom_patterns } = settings.redaction;
    Ok(RecordingReply {
        active: active.collect(),
        enabled: settings.recording.enabled,
        redaction: Redaction { enabled, custom_patterns },
        idle_rotate_minutes: settings.idle_rotate_minutes,
    })
}

method! {
    /// `GET /api/settings/recording`
    Recording "settings.recording" [PREFERENCES SESSIONS SECRETS] "Returns the preferences of recordings, and the running recordings."
    (context, _none: NoParams) -> RecordingReply {
        show(context).await
    }
}

/// Absent fields keep their value.
#[derive(Deserialize, JsonSchema)]
pub struct SetRecordingParams {
    /// Whether to record each new session from its start.
    #[serde(default)]
    #[schemars(with = "bool")]
    enabled: Option<bool>,
    #[serde(default)]
    #[schemars(with = "Redaction")]
    redaction: Option<Redaction>,
    /// Minutes, from 1 to 1440.
    #[serde(default)]
    #[schemars(with = "u64")]
    idle_rotate_minutes: Option<u64>,
}

method! {
    /// `PUT /api/settings/recording`
    SetRecording "settings.set_recording" [PREFERENCES SESSIONS SECRETS] changes PREFERENCES logs names "Changes the preferences of recordings."
    (context, params: SetRecordingParams) -> RecordingReply {
        let SetRecordingParams { enabled, redaction, idle_rotate_minutes } = params;
        for pattern in redaction.iter().flat_map(|redaction| &redaction.custom_patterns) {
            services::regex(pattern).map_err(|error| {
                Error::Failed(format!("{pattern:?} is not a valid regular expression: {error}"))
            })?;
        }
        if let Some(minutes) = idle_rotate_minutes.filter(|minutes| !(1..=24 * 60).contains(minutes)) {
            return Err(Error::Invalid {
                name: "idle_rotate_minutes",
                expected: "from 1 to 1440".to_owned(),
                got: minutes.to_string(),
            });
        }
        let given = [
            ("recording", enabled.map(|enabled| json!({"enabled": enabled}))),
            ("redaction", redaction.map(|redaction| json!(redaction))),
            ("idle_rotate_minutes", idle_rotate_minutes.map(Value::from)),
        ];
        let home = context.registration.home().to_owned();
        let change = move |file: &mut Map<String, Value>| {
            let given = given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            file.extend(given);
        };
        let changed = blocking(move || settings::change(&home, change)).await?;
        changed.map_err(|error| Error::Failed(format!("The preferences of recordings can't be changed: {error}")))?;
        context.people.changes.notify(Topic::Recording);
        show(context).await
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SearchParams {
    /// The text to find, regardless of case.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    /// The recording's id.
    unterm_session_id: String,
    /// The line's number, from 1.
    line: usize,
    text: String,
}

/// The lines of recordings that contain the text.
#[derive(Serialize, JsonSchema)]
pub struct SearchReply {
    matches: Vec<Match>,
    /// Whether the result is incomplete: more lines match, or the search ended at a limit of bytes or time.
    more: bool,
}

method! {
    /// `GET /api/sessions/search`
    Search "settings.search" [FILES] "Searches all finished recordings for a text."
    (context, caller, params: SearchParams) -> SearchReply {
        let wanted = params.text.to_lowercase();
        if wanted.trim().is_empty() {
            return Ok(SearchReply { matches: Vec::new(), more: false });
        }
        let home = context.registration.home().to_owned();
        let search = move |budget: &mut Budget| {
            let mut found = SearchReply { matches: Vec::new(), more: false };
            // The newest recordings are searched first.
            let rows = recording::rows(&home)?.into_iter().rev();
            for row in rows.filter(|row| row.ended_at.is_some()) {
                let Ok(page) = recording::read_page(&home, &row) else { continue };
                if !budget.take(page.len()) {
                    found.more = true;
                    break;
                }
                for (index, line) in page.lines().enumerate() {
                    if !line.to_lowercase().contains(&wanted) {
                        continue;
                    }
                    if found.matches.len() == MOST_MATCHES {
                        found.more = true;
                        return Ok(found);
                    }
                    found.matches.push(Match {
                        unterm_session_id: row.unterm_session_id.clone(),
                        line: index + 1,
                        text: line.chars().take(LONGEST_LINE).collect(),
                    });
                }
            }
            Ok::<_, String>(found)
        };
        let searches = context.limits.search_limiter.of(caller.token);
        searches.run(MOST_SEARCHED, search).await?.map_err(Error::Failed)
    }
}
