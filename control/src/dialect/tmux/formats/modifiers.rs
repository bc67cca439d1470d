//! The modifiers at the start of a replacement, such as `=5;b:` in `#{=5;b:pane_title}`.

/// A modifier and its arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Modifier<'a> {
    /// One or two characters.
    pub name: &'a str,
    /// The arguments.
    pub arguments: Vec<&'a str>,
}

impl<'a> Modifier<'a> {
    /// The argument with this index, or an empty text.
    pub fn argument(&self, index: usize) -> &'a str {
        self.arguments.get(index).copied().unwrap_or_default()
    }
}

/// The index of the first of some characters that is not inside `#{…}` and not escaped by `#`.
pub fn skip(text: &str, ends: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        let (byte, next) = (bytes[at], bytes.get(at + 1).copied());
        if byte == b'#' && next == Some(b'{') {
            depth += 1;
        }
        if byte == b'#' && next.is_some_and(|next| b",#{}:".contains(&next)) {
            at += 2;
            continue;
        }
        // A brace that closes no replacement is counted, as in tmux. Such a format has no end.
        let is_end = ends.as_bytes().contains(&byte);
        if byte == b'}' {
            if depth == 0 {
                return is_end.then_some(at);
            }
            depth -= 1;
        } else if is_end && depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Removes the `#` before escaped characters, outside `#{…}`. [`skip`] does not end at such characters.
pub fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '#' && chars.peek() == Some(&'{') {
            depth += 1;
        }
        let escaped = chars.next_if(|next| char == '#' && depth == 0 && ",#{}:".contains(*next));
        if char == '}' {
            depth = depth.saturating_sub(1);
        }
        out.push(escaped.unwrap_or(char));
    }
    out
}

/// Splits the modifiers from the rest of a replacement. Without a valid list of modifiers, the whole text is the rest.
pub fn modifiers(text: &str) -> (Vec<Modifier<'_>>, &str) {
    match list(text) {
        Some((list, rest)) => (list, rest),
        None => (Vec::new(), text),
    }
}

fn is_end(byte: Option<u8>) -> bool {
    matches!(byte, Some(b':' | b';'))
}

fn list(text: &str) -> Option<(Vec<Modifier<'_>>, &str)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(first) = byte(at).filter(|byte| *byte != b':') {
        if first == b';' {
            at += 1;
            if byte(at) == Some(b':') || byte(at).is_none() {
                break;
            }
        }
        let first = byte(at)?;
        if b"labcdnwETSWPL<>".contains(&first) && is_end(byte(at + 1)) {
            list.push(Modifier { name: &text[at..=at], arguments: Vec::new() });
            at += 1;
            continue;
        }
        let two = text.get(at..at + 2).unwrap_or_default();
        if ["||", "&&", "!=", "==", "<=", ">="].contains(&two) && is_end(byte(at + 2)) {
            list.push(Modifier { name: two, arguments: Vec::new() });
            at += 2;
            continue;
        }
        if !b"mCNst=peq".contains(&first) {
            break;
        }
        let name = &text[at..=at];
        if is_end(byte(at + 1)) {
            list.push(Modifier { name, arguments: Vec::new() });
            at += 1;
            continue;
        }
        let second = byte(at + 1)?;
        if !second.is_ascii_punctuation() || second == b'-' {
            // A single argument needs no delimiter.
            let end = at + 1 + skip(text.get(at + 1..)?, ":;")?;
            list.push(Modifier { name, arguments: vec![&text[at + 1..end]] });
            at = end;
            continue;
        }
        // Arguments between delimiters. The last delimiter may be absent.
        let ends = [second, b';', b':'];
        let ends = str::from_utf8(&ends).ok()?;
        let mut arguments = Vec::new();
        at += 1;
        loop {
            if byte(at) == Some(second) && is_end(byte(at + 1)) {
                at += 1;
                break;
            }
            let start = at + 1;
            let end = text.get(start..).and_then(|rest| skip(rest, ends))?;
            arguments.push(&text[start..start + end]);
            at = start + end;
            if is_end(byte(at)) {
                break;
            }
        }
        list.push(Modifier { name, arguments });
    }
    (byte(at) == Some(b':')).then(|| (list, &text[at + 1..]))
}
