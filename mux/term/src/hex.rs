//! Text in hexadecimal, as XTGETTCAP and XTSMTITLE require it.

/// Text as hexadecimal digits.
pub(crate) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}

/// The bytes that hexadecimal digits encode; `None` for anything else.
pub(crate) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(pair).collect()
}
