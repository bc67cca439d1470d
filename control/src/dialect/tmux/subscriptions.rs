//! Subscriptions of clients in control mode: formats whose values are reported when they change.
//! <https://man.openbsd.org/tmux#refresh-client>

use std::collections::BTreeMap;

/// The maximum length of a subscription, in bytes.
const LONGEST: usize = 4096;

/// The session, windows or panes that a format is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The client's session.
    Session,
    /// A pane of the session.
    Pane(u64),
    /// Each pane of the session.
    AllPanes,
    /// A window of the session.
    Window(u64),
    /// Each window of the session.
    AllWindows,
}

/// The window and the pane that a value belongs to. For a session, both are absent. For a window, the pane is absent.
pub type ValueScope = (Option<u64>, Option<u64>);

/// A subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The name.
    pub name: String,
    /// The session, windows or panes that the format is evaluated for.
    pub subject: Subject,
    /// The format.
    pub format: String,
    /// The values that were last reported.
    pub reported: BTreeMap<ValueScope, String>,
}

impl Subscription {
    /// Parses `name:subject:format`. `None` if the text has no such parts, so that it names a subscription to remove.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(':')?;
        let (subject, format) = rest.split_once(':')?;
        let number = |text: &str| text.parse().ok();
        let subject = match subject {
            "%*" => Subject::AllPanes,
            "@*" => Subject::AllWindows,
            subject => {
                let pane = subject.strip_prefix('%').and_then(number).map(Subject::Pane);
                let window = || subject.strip_prefix('@').and_then(number).map(Subject::Window);
                pane.or_else(window).unwrap_or(Subject::Session)
            }
        };
        if text.len() > LONGEST {
            return None;
        }
        let (name, format) = (name.to_owned(), format.to_owned());
        Some(Self { name, subject, format, reported: BTreeMap::new() })
    }

    /// Records the values of all sessions, windows and panes. Returns the values that changed, in the order of
    /// `values`.
    pub fn changes(&mut self, values: Vec<(ValueScope, String)>) -> Vec<(ValueScope, String)> {
        let is_changed =
            |(place, value): &&(ValueScope, String)| self.reported.get(place) != Some(value);
        let changes: Vec<_> = values.iter().filter(is_changed).cloned().collect();
        self.reported = values.into_iter().collect();
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_has_a_name_a_subject_and_a_format() {
        for (text, expected) in [
            ("a::#S", Some(Subject::Session)),
            ("a:%3:#D", Some(Subject::Pane(3))),
            ("a:%*:#D", Some(Subject::AllPanes)),
            ("a:@2:#W", Some(Subject::Window(2))),
            ("a:@*:#W", Some(Subject::AllWindows)),
            ("a", None),
            ("a:b", None),
        ] {
            assert_eq!(Subscription::parse(text).map(|it| it.subject), expected, "{text}");
        }
        let parsed = Subscription::parse("name::#{T:a:b}").unwrap();
        assert_eq!((parsed.name.as_str(), parsed.format.as_str()), ("name", "#{T:a:b}"));
        assert_eq!(Subscription::parse(&format!("a::{}", "x".repeat(LONGEST))), None);
    }

    #[test]
    fn only_changed_values_are_reported() {
        let mut subscription = Subscription::parse("a:%*:#D").unwrap();
        let value = |pane: u64, text: &str| ((Some(0), Some(pane)), text.to_owned());
        let both = vec![value(1, "x"), value(2, "y")];
        assert_eq!(subscription.changes(both.clone()), both);
        assert_eq!(subscription.changes(both), []);
        let changed = vec![value(1, "x"), value(2, "z")];
        assert_eq!(subscription.changes(changed), [value(2, "z")]);
        // A value that was missing in between is reported again.
        subscription.changes(vec![value(1, "x")]);
        assert_eq!(subscription.changes(vec![value(2, "z")]), [value(2, "z")]);
    }
}
