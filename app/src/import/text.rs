//! Values as other terminals write them: switches, numbers and escapes.

/// Parses a switch, such as `yes` or `off`.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "on" => Ok(true),
        "no" | "n" | "false" | "off" => Ok(false),
        _ => Err(format!("{text:?} is neither yes nor no")),
    }
}

/// Parses a number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{text:?} is no number"))
}

/// Replaces the escapes that kitty, Ghostty and Lua share, such as `\n`, `\x1b` and `\u{1f600}`.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let wrong = || "the import does not know an escape in it".to_owned();
        out.push(match chars.next().ok_or_else(wrong)? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'e' | 'E' => '\u{1b}',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            same @ ('\\' | '\'' | '"') => same,
            'x' => code(&mut chars, 2).ok_or_else(wrong)?,
            'u' if chars.next_if_eq(&'{').is_some() => {
                let digits: String = chars.by_ref().take_while(|c| *c != '}').collect();
                hexadecimal(&digits).ok_or_else(wrong)?
            }
            'u' => code(&mut chars, 4).ok_or_else(wrong)?,
            'U' => code(&mut chars, 8).ok_or_else(wrong)?,
            digit if digit.is_ascii_digit() => {
                let mut digits = digit.to_string();
                while digits.len() < 3
                    && let Some(digit) = chars.next_if(char::is_ascii_digit)
                {
                    digits.push(digit);
                }
                // Python and C use octal digits here. Lua uses decimal digits, but Unterm's reader for Lua has already
                // replaced these escapes.
                u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32).ok_or_else(wrong)?
            }
            _ => return Err(wrong()),
        });
    }
    Ok(out)
}

fn code(chars: &mut impl Iterator<Item = char>, digits: usize) -> Option<char> {
    hexadecimal(&chars.take(digits).collect::<String>())
}

fn hexadecimal(digits: &str) -> Option<char> {
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

/// Converts an OpenType feature, such as `calt=0`, `"ss01" on` or `-liga`.
pub(super) fn feature(text: &str) -> String {
    let text = text.trim();
    let (name, value) = text.split_once(['=', ' ']).unwrap_or((text, ""));
    let name = name.trim().trim_matches(['"', '\'']);
    match value.trim() {
        "0" | "off" => format!("-{name}"),
        "" | "1" | "on" => name.to_owned(),
        value => format!("{name}={value}"),
    }
}

/// The action of Unterm that types this text.
pub(super) fn typed(text: &str) -> String {
    let mut action = "send_text:".to_owned();
    for c in text.chars() {
        match c {
            '\n' => action.push_str("\\n"),
            '\r' => action.push_str("\\r"),
            '\t' => action.push_str("\\t"),
            '\u{1b}' => action.push_str("\\e"),
            '\\' => action.push_str("\\\\"),
            c if c.is_control() => action.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => action.push(c),
        }
    }
    action
}
