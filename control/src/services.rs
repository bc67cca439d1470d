//! State and operations that the methods of all wires share: sessions, and running commands and waiting for them.
//! Services use the mux, but contain no code for wires, method names or JSON.

pub mod limits;
pub mod line_diff;
pub mod pane;
pub mod people;
pub mod records;
pub mod shell;

use regex_automata::meta::Regex;
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// The current time, in the format of replies and files (RFC 3339, UTC).
pub fn now() -> String {
    OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default()
}

/// The current time in milliseconds since 1970.
pub fn clock() -> u64 {
    u64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
}

/// A time in the format of replies, in milliseconds since 1970. 0 if the text is not such a time.
pub fn milliseconds_of(time: &str) -> u64 {
    let nanoseconds =
        OffsetDateTime::parse(time, &Rfc3339).map_or(0, OffsetDateTime::unix_timestamp_nanos);
    u64::try_from(nanoseconds / 1_000_000).unwrap_or_default()
}

/// A time in milliseconds since 1970, in the format of replies; `None` for 0, which means that the time is unknown. The
/// text always has milliseconds (three digits), so that times sort as text.
pub fn at_time(milliseconds: u64) -> Option<String> {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    let nanoseconds = i128::from(milliseconds) * 1_000_000;
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok();
    time.filter(|_| milliseconds != 0)?.format(format).ok()
}

/// The longest pattern that a caller may send, in bytes.
const LONGEST_PATTERN: usize = 16 << 10;

/// Compiles a caller's pattern to a regular expression of bounded size.
///
/// # Errors
/// The pattern is invalid or too long. A short message for users.
pub fn regex(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(format!("it has {} bytes; {LONGEST_PATTERN} are the most", pattern.len()));
    }
    let config = Regex::config().nfa_size_limit(Some(1 << 20));
    Regex::builder().configure(config).build(pattern).map_err(|error| {
        // The parser prints the pattern with a caret below it. The last line says what is wrong.
        match error.syntax_error() {
            Some(error) => {
                let drawn = error.to_string();
                let last = drawn.lines().next_back().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            }
            None => "it would take too much memory, use smaller repetitions".to_owned(),
        }
    })
}
