//! Redacts secrets in output that is sent piece by piece, as it arrives.
//!
//! A secret may be split across pieces. So each piece is searched together with the output before it. The end of a
//! piece is held back as long as it may be the beginning of a secret.

use std::{ops::Range, sync::LazyLock};

use regex_automata::{Input, meta::Regex};

use super::{
    error::{Error, Result},
    redaction::{INLINE, REPLACEMENT, RULES},
};
use crate::services::limits::search_limiter::{Searches, too_long};

/// The number of output characters before a piece that are searched together with the piece.
pub const CONTEXT_CHARS: u64 = 8192;
/// The maximum number of bytes at the end of a piece that are held back.
const LONGEST_HELD: usize = 4096;

/// Matches an end that may be the beginning of a secret: a key or a bearer token that is still too short to be
/// recognized, or a quoted value that is still open. The first group that matched is held back.
static BEGUN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let begun = [
        r"(?i:\bbearer[ \t]+)([A-Za-z0-9._~+/=-]{1,7})\z",
        r"\b(sk-[A-Za-z0-9_-]{0,15})\z",
        r#"(?i:(?:api_key|token|secret|password|passwd|authorization)["']?[ \t]*[:=][ \t]*)("[^"\r\n]*|'[^'\r\n]*)\z"#,
    ];
    Regex::new(&begun.join("|"))
        .map_err(|error| tracing::error!(%error, "the beginnings of secrets are not seen"))
        .ok()
});

/// A piece of output that may be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct RedactedOutput {
    /// The text without secrets.
    pub text: String,
    /// The number of characters at the end of the piece that are held back until the next piece arrives.
    pub held: u64,
    /// Whether the text ends within a secret, which may continue in the next piece.
    pub ends_in_secret: bool,
}

/// Removes the secrets from a piece of output, like [`piece`]. A long piece is searched on a blocking thread.
///
/// # Errors
/// The search takes too long.
pub async fn redacted(
    searches: Searches<'_>,
    text: String,
    start: usize,
    is_last: bool,
    was_in_secret: bool,
) -> Result<RedactedOutput> {
    let bytes = text.len();
    if bytes <= INLINE {
        return Ok(piece(&text, start, is_last, was_in_secret));
    }
    let work = searches.run(bytes as u64, move |budget| {
        budget.take(bytes).then(|| piece(&text, start, is_last, was_in_secret))
    });
    work.await?.ok_or_else(|| Error::from(too_long()))
}

/// Removes the secrets from a piece. `text[..start]`: the output before the piece. `is_last`: whether no more output
/// follows. `was_in_secret`: whether the previous piece ended within a secret.
fn piece(text: &str, start: usize, is_last: bool, was_in_secret: bool) -> RedactedOutput {
    let end = if is_last { text.len() } else { begun(text).map_or(text.len(), |at| at.max(start)) };
    let mut out = String::new();
    let mut at = start;
    let mut ends_in_secret = was_in_secret && end == start;
    for secret in secrets(&text[..end]).into_iter().filter(|secret| secret.end > start) {
        out.push_str(&text[at.min(secret.start.max(start))..secret.start.max(start)]);
        // If the secret began in an earlier piece, that piece already contained the replacement.
        if secret.start >= start || !was_in_secret {
            out.push_str(REPLACEMENT);
        }
        at = secret.end;
        ends_in_secret = at == end;
    }
    out.push_str(&text[at..end]);
    let held = text[end..].chars().count() as u64;
    RedactedOutput { text: out, held, ends_in_secret }
}

/// The offset of the end of a text that may be the beginning of a secret.
fn begun(text: &str) -> Option<usize> {
    let begun = BEGUN.as_ref()?;
    let mut captures = begun.create_captures();
    begun.search_captures(&Input::new(text), &mut captures);
    let group = (1..=3).find_map(|group| captures.get_group(group))?;
    (group.len() <= LONGEST_HELD).then_some(group.start)
}

/// The secrets in a text, in order and without overlaps.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for rule in RULES.iter() {
        for captures in rule.captures_iter(text) {
            let Some(found) = captures.get_match() else { continue };
            let start = captures.get_group(1).map_or(found.start(), |name| name.end);
            all.push(start..found.end());
        }
    }
    all.sort_unstable_by_key(|secret| secret.start);
    all.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output that is sent if it arrives in these pieces.
    fn sent(pieces: &[&str]) -> String {
        let (mut all, mut start, mut in_secret, mut sent) =
            (String::new(), 0, false, String::new());
        for (index, text) in pieces.iter().enumerate() {
            all.push_str(text);
            let piece = piece(&all, start, index + 1 == pieces.len(), in_secret);
            let held: usize = all.chars().rev().take(piece.held as usize).map(char::len_utf8).sum();
            (start, in_secret) = (all.len() - held, piece.ends_in_secret);
            sent.push_str(&piece.text);
        }
        sent
    }

    #[test]
    fn a_secret_is_hidden_wherever_it_is_split() {
        for (text, expected) in [
            ("a token=hunter2 b", "a token=[REDACTED] b"),
            ("x Bearer abcdefghij, y", "x Bearer [REDACTED], y"),
            ("password: \"two words\" end", "password: [REDACTED] end"),
            ("é passwd='ä ö' é", "é passwd=[REDACTED] é"),
            ("API_KEY=abc", "API_KEY=[REDACTED]"),
            ("no secret: \r\n$ ", "no secret: \r\n$ "),
        ] {
            for (at, _) in text.char_indices() {
                let (first, second) = text.split_at(at);
                assert_eq!(sent(&[first, second]), expected, "split at {at}");
            }
            let chars: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(sent(&chars.iter().map(String::as_str).collect::<Vec<_>>()), expected);
        }
        let key = "use sk-abcdefghijklmnopqrst now";
        for (at, _) in key.char_indices() {
            let (first, second) = key.split_at(at);
            let sent = sent(&[first, second]);
            assert!(sent == "use [REDACTED] now" || (5..7).contains(&at), "{at}: {sent}");
            assert!(!sent.contains("abc") && !sent.contains("rst"), "{at}: {sent}");
        }
    }

    #[test]
    fn an_ending_that_may_be_a_secret_is_held_back_briefly() {
        let begin = piece("a \u{e9}sk-abc", 0, false, false);
        assert_eq!(begin.held, 0, "a key begins a word");
        let begin = piece("a sk-abc", 0, false, false);
        assert_eq!(begin, RedactedOutput { text: "a ".to_owned(), held: 6, ends_in_secret: false });
        assert_eq!(sent(&["a sk-abc", " b"]), "a sk-abc b");
        assert_eq!(sent(&["password: ", "\r\n"]), "password: \r\n", "a prompt is shown at once");
        assert_eq!(piece("Password: ", 0, false, false).held, 0);
        let open = format!("token=\"{}", "x".repeat(5000));
        assert_eq!(piece(&open, 0, false, false).held, 0, "so long a value is none");
        assert_eq!(sent(&["secret=", "a", "b", "c d"]), "secret=[REDACTED] d");
    }
}
