//! The ids of instances: the names of the NATO alphabet, and then these names with a number.

const NATO: [&str; 26] = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango",
    "uniform", "victor", "whiskey", "xray", "yankee", "zulu",
];

/// `alpha` … `zulu`, `alpha2` … `zulu2` and so on, about 26,000 names.
pub fn all() -> impl Iterator<Item = String> {
    (1..=999).flat_map(|round| {
        NATO.iter().map(move |name| match round {
            1 => (*name).to_owned(),
            round => format!("{name}{round}"),
        })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_begin_with_alpha_and_get_a_number_after_zulu() {
        let names: Vec<_> = super::all().take(28).collect();
        assert_eq!((names[0].as_str(), names[1].as_str()), ("alpha", "bravo"));
        assert_eq!(
            (names[25].as_str(), names[26].as_str(), names[27].as_str()),
            ("zulu", "alpha2", "bravo2")
        );
    }
}
