//! Sequences of keys that are pressed one after the other, and their forms in configuration files and in the window.

use std::{fmt, str::FromStr};

use super::Chord;

/// The word that stands for the key in `keys.leader` at the start of a sequence.
pub const LEADER: &str = "leader";
/// The maximum number of keys in a sequence.
const MOST: usize = 4;

/// One key, or several keys that are pressed one after the other, such as `ctrl+a>c`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keys {
    /// Whether the sequence starts with the leader.
    pub leader: bool,
    /// The keys of the sequence, without the leader.
    pub chords: Vec<Chord>,
}

impl Keys {
    /// All keys of the sequence, including the leader. `None` if the sequence starts with the leader but no leader is
    /// set.
    pub fn with_leader(&self, leader: Option<Chord>) -> Option<Vec<Chord>> {
        let first = if self.leader { Some(leader?) } else { None };
        Some(first.into_iter().chain(self.chords.iter().copied()).collect())
    }

    /// Writes the sequence as in configuration files, with the usual names of the modifiers. `text` is the form that
    /// the user wrote; the names of the keys are taken from it.
    pub fn written(&self, text: &str) -> String {
        let mut parts = parts(text);
        let leader = self.leader.then(|| parts.next()).flatten().map(|_| LEADER.to_owned());
        let chords = self.chords.iter().zip(parts).map(|(chord, text)| chord.written(text));
        leader.into_iter().chain(chords).collect::<Vec<_>>().join(">")
    }
}

/// Splits a sequence into its keys at each `>`. If a `>` is in the position of a key, as in `ctrl+>`, it is that key.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let now = rest?;
        let is_end = |(at, _): &(usize, &str)| {
            let before = &now[..*at];
            !before.is_empty()
                && (!before.ends_with('+') || before == "+" || before.ends_with("++"))
        };
        let end = now.match_indices('>').find(is_end).map(|(at, _)| at);
        rest = end.map(|at| &now[at + 1..]);
        Some(end.map_or(now, |at| &now[..at]))
    })
}

impl FromStr for Keys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = parts(text).peekable();
        let leader = parts.next_if_eq(&LEADER).is_some();
        let chords = parts.map(str::parse).collect::<Result<Vec<Chord>, _>>()?;
        let count = chords.len() + usize::from(leader);
        match () {
            () if chords.is_empty() => Err("nothing follows the leader; write leader>c".to_owned()),
            () if count > MOST => Err(format!("{text:?} has more than {MOST} keys")),
            () => Ok(Self { leader, chords }),
        }
    }
}

/// Writes the keys in the form for the user, such as `Ctrl+A C`.
impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leader = self.leader.then(|| "Leader".to_owned());
        let chords = self.chords.iter().map(Chord::to_string);
        f.write_str(&leader.into_iter().chain(chords).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Keys {
        text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn keys_may_follow_each_other() {
        assert_eq!(keys("ctrl+a>c").to_string(), "Ctrl+A C");
        assert_eq!(keys("ctrl+a>ctrl+b>page_up").to_string(), "Ctrl+A Ctrl+B PgUp");
        assert_eq!(keys("leader>shift+5").to_string(), "Leader Shift+5");
        assert_eq!(keys("Control+A>C").written("Control+A>C"), "ctrl+a>c");
        assert_eq!(keys("leader>cmd+x").written("leader>cmd+x"), "leader>super+x");
        for (text, shown) in [
            ("ctrl+>", "Ctrl+>"),
            (">", ">"),
            (">>>", "> >"),
            ("ctrl+a>>", "Ctrl+A >"),
            ("ctrl++>+>c", "Ctrl++ + C"),
        ] {
            assert_eq!(keys(text).to_string(), shown, "{text}");
        }
    }

    #[test]
    fn invalid_key_sequences_are_errors_with_the_wrong_part() {
        let error = |text: &str| text.parse::<Keys>().unwrap_err();
        assert!(error("leader").contains("nothing follows"));
        assert!(error("ctrl+a>hyper+c").contains("\"hyper\" in \"hyper+c\""));
        assert!(error("c>leader").contains("leader"));
        assert!(error("a>b>c>d>e").contains("more than 4 keys"));
        assert!(error("ctrl+a>").contains("\"\""));
    }

    #[test]
    fn a_leader_stands_for_its_key() {
        let leader = "ctrl+space".parse().unwrap();
        let all = keys("leader>c").with_leader(Some(leader)).unwrap();
        assert_eq!(all, keys("ctrl+space>c").chords);
        assert_eq!(keys("leader>c").with_leader(None), None);
    }
}
