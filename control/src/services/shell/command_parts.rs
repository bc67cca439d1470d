//! Splits a line into the commands that a shell would run one after another, so that rules can check the beginning of
//! each command.

/// The kind of quotes around the current character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// The parts of a line without line ends. The first `own` bytes are not split. `None` if shells may split the line
/// differently.
pub fn parts(line: &str, own: usize) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, Quote::None);
    // The previous character, if it changes the meaning of the current one.
    let mut before = ' ';
    let mut chars = line.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let last = std::mem::replace(&mut before, char);
        let next = chars.peek().map(|&(_, next)| next);
        match (quote, char) {
            (Quote::Single, '\'') => {
                // In fish, a backslash before the quote would keep the quote open.
                if last == '\\' {
                    return None;
                }
                quote = Quote::None;
            }
            (Quote::Single, _) => {}
            (_, '\\') => {
                chars.next();
                before = ' ';
            }
            // History expansion inserts unknown text, so refuse the line.
            (_, '!') if next.is_some_and(|next| !matches!(next, ' ' | '\t' | '=' | '(')) => {
                return None;
            }
            (Quote::Double, '"') => quote = Quote::None,
            (Quote::Double, '`') => return None,
            (Quote::Double, '(') if last == '$' => return None,
            (Quote::Double, _) => {}
            // Only some shells interpret backslashes in `$'…'`.
            (Quote::None, '\'') if last == '$' => return None,
            (Quote::None, '\'') => (quote, before) = (Quote::Single, ' '),
            (Quote::None, '"') => (quote, before) = (Quote::Double, ' '),
            // The `&` of `2>&1` begins no command.
            (Quote::None, '&') if matches!(last, '>' | '<') => {}
            (Quote::None, ';' | '&' | '|' | '(' | '`') if at >= own => {
                parts.push(&line[start..at]);
                start = at + 1;
            }
            (Quote::None, _) => {}
        }
    }
    parts.push(&line[start..]);
    (quote == Quote::None).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_line_is_told_apart_where_a_shell_begins_another_command() {
        for (line, expected) in [
            ("a -b c", &["a -b c"][..]),
            ("a; b|c", &["a", " b", "c"]),
            ("a && b", &["a ", "", " b"]),
            ("a $(b) `c`", &["a $", "b) ", "c", ""]),
            ("a ';' \"|\" \\& x", &["a ';' \"|\" \\& x"]),
            ("a >x 2>&1", &["a >x 2>&1"]),
            ("a \\>& b", &["a \\>", " b"]),
            ("a '>'& b", &["a '>'", " b"]),
            ("a \"\\\"; b\"", &["a \"\\\"; b\""]),
            ("a() (b)", &["a", ") ", "b)"]),
            ("[ ! -f a ]", &["[ ! -f a ]"]),
        ] {
            assert_eq!(parts(line, 0).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(parts("a | b; c", 5), Some(vec!["a | b", " c"]), "an allowed text's own");
    }

    #[test]
    fn a_line_that_shells_read_differently_has_no_result() {
        for line in
            ["a 'b", "a \"b", "a \"$(b)\"", "a \"`b`\"", "a $'\\''; b '", "a '\\''; b '", "a !!"]
        {
            assert_eq!(parts(line, 0), None, "{line}");
        }
    }
}
