//! Text in hexadecimal, as XTGETTCAP and XTSMTITLE require it.

/// The case of hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Upper,
    Lower,
}

/// Text as hexadecimal digits.
pub(crate) fn hex(text: &str, case: Case) -> String {
    let digits = |byte| match case {
        Case::Upper => format!("{byte:02X}"),
        Case::Lower => format!("{byte:02x}"),
    };
    text.bytes().map(digits).collect()
}

/// The bytes that hexadecimal digits encode. `None` if the text is not pairs of hexadecimal digits.
pub(crate) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(pair).collect()
}
