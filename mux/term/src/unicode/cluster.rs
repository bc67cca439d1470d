//! Texts that form one grapheme cluster, and their columns (UAX #29, mode 2027).

use super::{Class, joins, may_join, props};
use crate::work;

/// The maximum size of a cluster in bytes. Beyond it, zero-width characters are dropped and other characters start a
/// new cluster.
pub(crate) const CLUSTER_CAP: usize = 128;

/// The number of columns of a cluster after `c` joins it (mode 2027). `old` is the cluster's number of columns before,
/// and `width` that of `c`. The result is their sum, at most two, unless `c` is a variation selector.
pub(crate) fn joined_width(text: &str, old: usize, c: char, width: usize) -> usize {
    let mut before = text.chars().rev();
    let mut last = || before.next().map(props);
    match c {
        // Text presentation makes a cluster narrow only if the cluster is a single pictograph.
        '\u{fe0e}' => match (last(), last()) {
            (Some(only), None) if only.varies() && only.width() == 2 => 1,
            _ => old,
        },
        '\u{fe0f}' if last().is_some_and(|last| last.varies()) => 2,
        _ if width == 0 => old,
        _ => 2,
    }
}

/// The number of columns of a cluster, if the row has room for it.
pub(crate) fn natural_width(text: &str) -> usize {
    text.char_indices().fold(0, |width, (at, c)| match at {
        0 => props(c).width(),
        _ => joined_width(&text[..at], width, c, props(c).width()),
    })
}

/// The class of the last character.
pub(crate) fn last_class(text: &str) -> Class {
    text.chars().next_back().map_or(Class::Other, |c| props(c).class())
}

/// The beginning of a text that forms one cluster, as far as it was examined.
#[derive(Clone, Copy)]
pub(crate) struct Joined {
    /// The length of the beginning in bytes.
    pub end: usize,
    /// The number of columns of the beginning (mode 2027).
    pub columns: usize,
    /// The class of its last character.
    pub last: Class,
}

impl Joined {
    /// Extends to the whole cluster at the start of `text`. Stops slightly beyond [`CLUSTER_CAP`].
    #[inline]
    pub(crate) fn ahead(mut self, text: &str) -> Self {
        for c in text[self.end..].chars() {
            let props = props(c);
            let class = props.class();
            let extends = props.width() == 0 && c >= '\u{a0}';
            if !extends && !may_join(self.last, class) || self.end > CLUSTER_CAP {
                break;
            }
            let so_far = &text[..self.end];
            if !extends && !joins(so_far, c) {
                break;
            }
            work::add(1);
            self.columns = joined_width(so_far, self.columns, c, props.width());
            self.end += c.len_utf8();
            self.last = class;
        }
        self
    }
}

/// The clusters of a text with their columns, according to mode 2027. Ambiguous characters count as narrow.
pub fn text_clusters(text: &str) -> impl Iterator<Item = (&str, usize)> {
    clusters(text, false)
}

/// The clusters of a text with their columns, according to mode 2027. Omits zero-width characters at the start of the
/// text.
pub(crate) fn clusters(text: &str, ambiguous_wide: bool) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let props = props(first).widened(ambiguous_wide);
            let columns = if props.class() == Class::Regional { 2 } else { props.width() };
            let alone = Joined { end: first.len_utf8(), columns, last: props.class() };
            let Joined { end, columns, .. } = alone.ahead(rest);
            let (cluster, after) = rest.split_at(end);
            rest = after;
            if columns > 0 {
                return Some((cluster, columns));
            }
        }
    })
}
