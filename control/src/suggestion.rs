//! Suggestions for misspelled names.

/// A suggestion for a misspelled name, as the end of a message. Empty if no name is similar.
pub fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = |name: &&str| strsim::normalized_damerau_levenshtein(wrong, name);
    names
        .into_iter()
        .filter(|name| near(name) > 0.5)
        .max_by(|a, b| near(a).total_cmp(&near(b)))
        .map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}
