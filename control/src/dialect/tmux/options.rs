//! Options: their names, scopes and values.
//!
//! Owns the table of tmux's options, and the values that were set. `remain-on-exit`, `default-command`, `default-shell`,
//! `base-index`, `pane-base-index`, `main-pane-width` and `main-pane-height` have an effect. The other options are kept
//! and shown.
//! <https://man.openbsd.org/tmux#OPTIONS>

mod style;
mod table;

use std::collections::BTreeMap;

pub use self::table::{OPTIONS, OptionRow, Scope, ValueKind};
use super::keys;

/// The owner of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The server.
    Server,
    /// All sessions.
    Sessions,
    /// All windows.
    Windows,
    /// The session with this number.
    Session(u64),
    /// The window with this number.
    Window(u64),
    /// The pane with this number.
    Pane(u64),
}

/// The maximum number of values.
const MOST: usize = 10_000;
/// The maximum length of a value and of its name, in bytes.
const LONGEST: usize = 64 << 10;

/// The values that commands have set, by owner and name of the option. Other options have tmux's defaults.
#[derive(Default)]
pub struct Options(BTreeMap<(Owner, String), String>);

/// The row of an option. An index, as in `command-alias[1]`, does not count.
///
/// # Errors
/// No option has this name, or several names begin with it. tmux's message.
pub fn find(name: &str) -> Result<&'static OptionRow, String> {
    let base = base(name);
    if let Some(row) = OPTIONS.iter().find(|row| self::base(row.name) == base) {
        return Ok(row);
    }
    let mut found: Vec<&OptionRow> =
        OPTIONS.iter().filter(|row| row.name.starts_with(base)).collect();
    found.dedup_by_key(|row| self::base(row.name));
    match found.as_slice() {
        [only] if !base.is_empty() => Ok(only),
        [] => Err(format!("invalid option: {name}")),
        _ if base.is_empty() => Err(format!("invalid option: {name}")),
        _ => Err(format!("ambiguous option: {name}")),
    }
}

fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

impl OptionRow {
    /// Converts a value to the form that this option stores. `now`: the present value, which a flag without a value
    /// inverts.
    ///
    /// # Errors
    /// The option can't have this value. tmux's message.
    pub fn checked(&self, value: Option<&str>, now: &str) -> Result<String, String> {
        match (&self.kind, value) {
            (ValueKind::Text, Some(value)) => Ok(value.to_owned()),
            (ValueKind::Style, Some(value)) => match style::is_style(value) {
                true => Ok(value.to_owned()),
                false => Err(format!("invalid style: {value}")),
            },
            // A format can't be checked here, because its color is known only when it is expanded.
            (ValueKind::Color, Some(value)) => {
                match style::is_color(value) || value.is_empty() || value.contains("#{") {
                    true => Ok(value.to_owned()),
                    false => Err(format!("bad colour: {value}")),
                }
            }
            (ValueKind::Key, Some(value)) => {
                keys::canonical(value).ok_or_else(|| format!("bad key: {value}"))
            }
            (ValueKind::Number, Some(value)) => match value.parse::<i64>() {
                Ok(number) if number < 0 => Err(format!("value is too small: {value}")),
                Ok(number) if number > i64::from(i32::MAX) => {
                    Err(format!("value is too large: {value}"))
                }
                Ok(number) => Ok(number.to_string()),
                Err(_) => Err(format!("value is invalid: {value}")),
            },
            (ValueKind::Flag, Some(value)) => match value.to_ascii_lowercase().as_str() {
                "on" | "yes" | "1" => Ok("on".to_owned()),
                "off" | "no" | "0" => Ok("off".to_owned()),
                _ => Err(format!("bad value: {value}")),
            },
            (ValueKind::Flag, None) => Ok(if now == "on" { "off" } else { "on" }.to_owned()),
            (ValueKind::Choice(choices), Some(value)) => {
                let known = choices.split(' ').any(|choice| choice == value);
                if known { Ok(value.to_owned()) } else { Err(format!("unknown value: {value}")) }
            }
            (ValueKind::Choice(choices), None) => {
                let mut first = choices.split(' ');
                let (one, two) = (first.next().unwrap_or_default(), first.next());
                Ok(if now == one { two.unwrap_or(one) } else { one }.to_owned())
            }
            (_, None) => Err("empty value".to_owned()),
        }
    }
}

impl Options {
    /// The value that is set for this owner, without inherited values.
    pub fn own(&self, owner: Owner, name: &str) -> Option<&str> {
        self.0.get(&(owner, name.to_owned())).map(String::as_str)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// Too many values are set, or the value or its name is too long.
    pub fn set(&mut self, owner: Owner, name: &str, value: String) -> Result<(), String> {
        if name.len() > LONGEST {
            return Err("option name is too long".to_owned());
        }
        if value.len() > LONGEST {
            return Err(format!("value is too long: {name}"));
        }
        let key = (owner, name.to_owned());
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            return Err(format!("too many options: {name}"));
        }
        self.0.insert(key, value);
        Ok(())
    }

    /// Removes a value.
    pub fn unset(&mut self, owner: Owner, name: &str) {
        self.0.remove(&(owner, name.to_owned()));
    }

    /// Removes all values of an owner that no longer exists.
    pub fn forget(&mut self, is_gone: impl Fn(Owner) -> bool) {
        self.0.retain(|(owner, _), _| !is_gone(*owner));
    }

    /// The names and values that are set for this owner, without inherited values.
    pub fn of(&self, owner: Owner) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter().filter(move |((of, _), _)| *of == owner);
        all.map(|((_, name), value)| (name.as_str(), value.as_str()))
    }

    /// The value of an option for the first of some owners that has one, or else its default.
    pub fn value(&self, owners: &[Owner], name: &str) -> Option<String> {
        let own = owners.iter().find_map(|owner| self.own(*owner, name));
        let default = || OPTIONS.iter().find(|row| row.name == name).map(|row| row.default);
        own.or_else(default).map(str::to_owned)
    }

    /// Whether a flag is on for the first of some owners that has a value.
    pub fn is_on(&self, owners: &[Owner], name: &str) -> bool {
        self.value(owners, name).as_deref() == Some("on")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_by_name_or_beginning() {
        assert_eq!(find("remain-on-exit").unwrap().scope, Scope::Pane);
        assert_eq!(find("status-interv").unwrap().name, "status-interval");
        assert_eq!(find("command-alias[100]").unwrap().scope, Scope::Server);
        let error = |name| find(name).err().unwrap();
        assert_eq!(error("nonsense"), "invalid option: nonsense");
        assert_eq!(error("pane-b"), "ambiguous option: pane-b");
        assert_eq!(error(""), "invalid option: ");
    }

    #[test]
    fn values_are_checked_as_in_tmux() {
        let check =
            |name: &str, value: Option<&str>, now: &str| find(name).unwrap().checked(value, now);
        assert_eq!(check("remain-on-exit", Some("failed"), "off").unwrap(), "failed");
        assert_eq!(
            check("remain-on-exit", Some("maybe"), "off").unwrap_err(),
            "unknown value: maybe"
        );
        assert_eq!(check("remain-on-exit", None, "off").unwrap(), "on");
        assert_eq!(check("base-index", Some("x"), "0").unwrap_err(), "value is invalid: x");
        assert_eq!(check("mouse", Some("yes"), "off").unwrap(), "on");
        assert_eq!(check("mouse", None, "on").unwrap(), "off");
        assert_eq!(check("mouse", Some("x"), "on").unwrap_err(), "bad value: x");
        assert_eq!(check("status-style", Some("bg=no"), "").unwrap_err(), "invalid style: bg=no");
        assert_eq!(check("status-bg", Some("no"), "").unwrap_err(), "bad colour: no");
        assert_eq!(check("prefix", Some("^a"), "").unwrap(), "C-a");
        assert_eq!(check("prefix", Some("abc"), "").unwrap_err(), "bad key: abc");
        let large = "2147483648";
        assert_eq!(
            check("status-interval", Some(large), "").unwrap_err(),
            format!("value is too large: {large}")
        );
    }

    #[test]
    fn values_and_names_are_bounded() {
        let mut options = Options::default();
        options.set(Owner::Server, "@a", "x".repeat(LONGEST)).unwrap();
        let error = options.set(Owner::Server, "@a", "x".repeat(LONGEST + 1)).unwrap_err();
        assert_eq!(error, "value is too long: @a");
        assert_eq!(options.own(Owner::Server, "@a").unwrap().len(), LONGEST);
        assert!(options.set(Owner::Server, &"@".repeat(LONGEST + 1), String::new()).is_err());
    }

    #[test]
    fn the_nearest_owner_decides() {
        let mut options = Options::default();
        let owners = [Owner::Pane(1), Owner::Window(2), Owner::Windows];
        assert_eq!(options.value(&owners, "remain-on-exit").as_deref(), Some("off"));
        options.set(Owner::Windows, "remain-on-exit", "on".to_owned()).unwrap();
        options.set(Owner::Pane(1), "remain-on-exit", "failed".to_owned()).unwrap();
        assert_eq!(options.value(&owners, "remain-on-exit").as_deref(), Some("failed"));
        options.forget(|owner| owner == Owner::Pane(1));
        assert_eq!(options.value(&owners, "remain-on-exit").as_deref(), Some("on"));
        assert_eq!(options.value(&owners, "@none"), None);
    }
}
