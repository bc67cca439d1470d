//! An item of a panel: the texts that the panel shows, and the names by which the user finds the item.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item<C> {
    pub(crate) title: String,
    /// The text at the right of the item: the keys bound to it, its value or its kind.
    pub(crate) note: String,
    /// A description of one line. It appears below the list while the item is marked.
    pub(crate) about: Cow<'static, str>,
    /// Other names that the input may match: the name in the configuration, and synonyms.
    pub(crate) names: Vec<Cow<'static, str>>,
    /// A number that is higher for more recently used items; 0 for an item that was never used.
    pub(crate) used: u32,
    pub(crate) choice: C,
}

impl<C> Item<C> {
    pub(crate) fn new(title: impl Into<String>, choice: C) -> Self {
        Self {
            title: title.into(),
            note: String::new(),
            about: Cow::Borrowed(""),
            names: Vec::new(),
            used: 0,
            choice,
        }
    }

    pub(crate) fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds another name that the input may match.
    pub(crate) fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Adds synonyms that the input may match.
    pub(crate) fn also(mut self, synonyms: impl IntoIterator<Item = &'static str>) -> Self {
        self.names.extend(synonyms.into_iter().map(Cow::Borrowed));
        self
    }

    pub(crate) fn described(self, about: impl Into<Cow<'static, str>>) -> Self {
        Self { about: about.into(), ..self }
    }

    pub(crate) fn used(self, used: u32) -> Self {
        Self { used, ..self }
    }
}
