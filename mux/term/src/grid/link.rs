//! Hyperlinks.

/// The target of a hyperlink (OSC 8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The `id=` parameter. Empty if there is none.
    pub id: String,
    /// The target as the program wrote it.
    pub uri: String,
}

impl Link {
    /// The approximate number of bytes of memory that the link uses.
    pub(crate) fn bytes(&self) -> usize {
        LINK_OVERHEAD + self.id.len() + self.uri.len()
    }
}

/// The size in bytes of a link without its texts: the strings themselves, the counts of an `Arc`, and the allocator's
/// overhead.
const LINK_OVERHEAD: usize = size_of::<Link>() + 80;
