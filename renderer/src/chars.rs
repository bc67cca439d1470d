//! Characters that are shaped or drawn in a special way.

use crate::sprite::Sprite;

/// ZERO WIDTH JOINER: beside an Arabic letter, it requests the form that joins on that side.
pub(crate) const JOINER: char = '\u{200d}';

/// Whether the character is in a private use area, where fonts have icons, and not drawn in code. Icons may overlap a
/// blank cell after them, as in kitty and ghostty.
pub(crate) fn is_icon(c: char) -> bool {
    is_private(c) && Sprite::of_char(c).is_none()
}

/// Whether the character is in a private use area.
pub(crate) fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10fffd}')
}

/// Whether the character is drawn over the one before it, judged by its Unicode block.
pub(crate) fn is_combining(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Whether the text is shown as an emoji picture (Unicode TR51, emoji presentation). VS16 or a keycap requests a
/// picture, VS15 requests text. Otherwise, a wide character from a block with emoji is a picture.
pub(crate) fn wants_emoji(text: &str, cells: u8) -> bool {
    if text.contains('\u{fe0e}') {
        return false;
    }
    let first = text.chars().next().unwrap_or(' ');
    text.contains('\u{fe0f}')
        || text.contains('\u{20e3}')
        || cells == 2
            && matches!(first,
                '\u{1f000}'..='\u{1faff}' | '\u{231a}'..='\u{23ff}' | '\u{25fd}'..='\u{27bf}'
                | '\u{2b00}'..='\u{2bff}')
}
