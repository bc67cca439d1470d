//! Parses the argument of an action: checks it, and replaces its escapes.

use super::{Action, Entry, Takes};

impl Entry {
    /// Creates the action with an argument, or without one.
    ///
    /// # Errors
    /// Returns a message for the user that explains the error in the argument.
    pub fn action(&self, argument: Option<&str>) -> Result<Action, String> {
        let name = self.name;
        match (&self.takes, argument) {
            (Takes::Nothing(action), None) => Ok(action.clone()),
            (Takes::Optional { make, .. }, None | Some("")) => Ok(make(None)),
            (Takes::Optional { make, .. }, Some(given)) => {
                let text = unescape(given).map_err(|why| format!("{name}: {why}"))?;
                Ok(make(Some(text)))
            }
            (Takes::Nothing(_), Some(given)) => {
                Err(format!("{name} takes no argument, so {given:?} has no meaning"))
            }
            (Takes::Number { what, .. } | Takes::Text { what, .. }, None) => {
                Err(format!("{name} needs {what}: \"{name}:…\""))
            }
            (Takes::Number { what, range, make }, Some(given)) => match given.trim().parse() {
                Ok(number) if range.contains(&number) => Ok(make(number)),
                _ => Err(format!(
                    "{name}: {given:?} is not {what}, between {} and {}",
                    range.start(),
                    range.end()
                )),
            },
            (Takes::Text { make, .. }, Some(given)) => {
                unescape(given).map(make).map_err(|why| format!("{name}: {why}"))
            }
        }
    }
}

/// Replaces the escapes in a text.
fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let escape = chars.next().ok_or(r"\ at the end stands for nothing; write \\")?;
        rest = chars.as_str();
        let (c, left) = match escape {
            'n' => ('\n', rest),
            'r' => ('\r', rest),
            't' => ('\t', rest),
            'e' => ('\x1b', rest),
            '\\' => ('\\', rest),
            'x' => {
                let code = rest.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
                (code.ok_or(r"\x needs two hexadecimal digits")? as char, &rest[2..])
            }
            'u' => {
                let inside = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
                let (digits, left) = inside.ok_or(r"\u needs a code point in braces: \u{1f600}")?;
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                (code.ok_or_else(|| format!("{digits:?} is no code point"))?, left)
            }
            other => return Err(format!(r"\{other} stands for nothing; write \\ for a backslash")),
        };
        out.push(c);
        rest = left;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::ACTIONS;

    fn action(name: &str, argument: Option<&str>) -> Result<Action, String> {
        ACTIONS.iter().find(|entry| entry.name == name).unwrap().action(argument)
    }

    #[test]
    fn an_argument_is_checked() {
        assert_eq!(action("activate_tab", Some("3")), Ok(Action::ActivateTab(3)));
        assert!(action("activate_tab", Some("0")).unwrap_err().contains("between 1 and 999"));
        assert_eq!(action("new_tab", None), Ok(Action::NewTab(None)));
        assert_eq!(action("new_tab", Some("")), Ok(Action::NewTab(None)));
        assert_eq!(action("new_tab", Some("work")), Ok(Action::NewTab(Some("work".to_owned()))));
        assert!(action("activate_tab", None).unwrap_err().contains("needs the tab's number"));
        assert!(action("close_tab", Some("x")).unwrap_err().contains("takes no argument"));
    }

    #[test]
    fn text_has_escapes() {
        let sent = |text| match action("send_text", Some(text)) {
            Ok(Action::SendText(text)) => Ok(text),
            Ok(other) => panic!("{other:?}"),
            Err(why) => Err(why),
        };
        assert_eq!(sent(r"a\e[A\r\\\x7f\u{e9}").unwrap(), "a\x1b[A\r\\\x7fé");
        for wrong in [r"\", r"\q", r"\x1", r"\xé1", r"\u{110000}", r"\u41"] {
            assert!(sent(wrong).is_err(), "{wrong}");
        }
    }
}
