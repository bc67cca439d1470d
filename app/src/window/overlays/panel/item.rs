//! An item of a panel: what it shows, and the names by which it is found.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item<C> {
    pub(crate) title: String,
    /// Drawn at the right: the keys bound to the item, or its kind.
    pub(crate) note: String,
    /// A one-line description, drawn below the list while the item is marked.
    pub(crate) about: &'static str,
    /// The name in the configuration, and synonyms that also match.
    pub(crate) name: &'static str,
    pub(crate) synonyms: &'static [&'static str],
    /// Higher for items used more recently; 0 for an item not used yet.
    pub(crate) used: u32,
    pub(crate) choice: C,
}

impl<C> Item<C> {
    pub(crate) fn new(title: impl Into<String>, choice: C) -> Self {
        Self {
            title: title.into(),
            note: String::new(),
            about: "",
            name: "",
            synonyms: &[],
            used: 0,
            choice,
        }
    }

    pub(crate) fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds names that also match.
    pub(crate) fn named(self, name: &'static str, synonyms: &'static [&'static str]) -> Self {
        Self { name, synonyms, ..self }
    }

    pub(crate) fn described(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(crate) fn used(self, used: u32) -> Self {
        Self { used, ..self }
    }

    /// The names other than the title.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let name = Some(self.name).filter(|name| !name.is_empty());
        name.into_iter().chain(self.synonyms.iter().copied())
    }
}
