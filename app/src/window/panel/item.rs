//! An item of a panel: what it shows, and the names by which it is found.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::window) struct Item<C> {
    pub(in crate::window) title: String,
    /// Drawn at the right: the keys bound to the item, or its kind.
    pub(in crate::window) note: String,
    /// A one-line description, drawn below the list while the item is marked.
    pub(in crate::window) about: &'static str,
    /// The name in the configuration, and synonyms that also match.
    pub(super) name: &'static str,
    pub(super) synonyms: &'static [&'static str],
    /// Higher for items used more recently; 0 for an item not used yet.
    pub(super) used: u32,
    pub(in crate::window) choice: C,
}

impl<C> Item<C> {
    pub(in crate::window) fn new(title: impl Into<String>, choice: C) -> Self {
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

    pub(in crate::window) fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds names that also match.
    pub(in crate::window) fn named(
        self,
        name: &'static str,
        synonyms: &'static [&'static str],
    ) -> Self {
        Self { name, synonyms, ..self }
    }

    pub(in crate::window) fn described(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(in crate::window) fn used(self, used: u32) -> Self {
        Self { used, ..self }
    }

    /// The names other than the title.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let name = Some(self.name).filter(|name| !name.is_empty());
        name.into_iter().chain(self.synonyms.iter().copied())
    }
}
