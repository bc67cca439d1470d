//! Key bindings that programs set. They are stored and shown, but never run, because the keys of the window belong to
//! the user.

use std::collections::BTreeMap;

/// The tables that always exist.
const TABLES: [&str; 4] = ["copy-mode", "copy-mode-vi", "prefix", "root"];
/// The maximum number of bindings.
const MOST: usize = 2000;

/// A binding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The commands, as tmux shows them.
    pub command: String,
    /// Whether the key can be repeated without the prefix.
    pub repeats: bool,
    /// The note.
    pub note: String,
}

/// The bindings, by table and key.
#[derive(Default)]
pub struct Bindings(BTreeMap<(String, String), Binding>);

impl Bindings {
    /// Whether a table exists.
    pub fn has_table(&self, table: &str) -> bool {
        TABLES.contains(&table) || self.0.keys().any(|(own, _)| own == table)
    }

    /// Binds a key.
    ///
    /// # Errors
    /// There are too many bindings.
    pub fn bind(&mut self, table: &str, key: &str, binding: Binding) -> Result<(), String> {
        let at = (table.to_owned(), key.to_owned());
        if self.0.len() >= MOST && !self.0.contains_key(&at) {
            return Err(format!("too many key bindings: {key}"));
        }
        self.0.insert(at, binding);
        Ok(())
    }

    /// Removes the binding of a key, or without a key all bindings of a table.
    pub fn unbind(&mut self, table: &str, key: Option<&str>) {
        self.0.retain(|(own, bound), _| own != table || key.is_some_and(|key| key != bound));
    }

    /// The bindings with their tables and keys, sorted.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, &Binding)> {
        self.0.iter().map(|((table, key), binding)| (table.as_str(), key.as_str(), binding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_bound_in_tables_until_they_are_unbound() {
        let mut bindings = Bindings::default();
        let binding = |command: &str| Binding { command: command.to_owned(), ..Binding::default() };
        assert!(bindings.has_table("root") && !bindings.has_table("own"));
        bindings.bind("own", "x", binding("a")).unwrap();
        bindings.bind("own", "x", binding("b")).unwrap();
        bindings.bind("root", "x", binding("c")).unwrap();
        assert!(bindings.has_table("own"));
        let all: Vec<_> = bindings.all().map(|(table, _, it)| (table, &*it.command)).collect();
        assert_eq!(all, [("own", "b"), ("root", "c")]);
        bindings.unbind("own", Some("y"));
        bindings.unbind("own", None);
        bindings.unbind("root", Some("x"));
        assert_eq!(bindings.all().count(), 0);
        for number in 0..MOST {
            bindings.bind("own", &number.to_string(), Binding::default()).unwrap();
        }
        assert!(bindings.bind("own", "more", Binding::default()).is_err());
        bindings.bind("own", "0", Binding::default()).unwrap();
    }
}
