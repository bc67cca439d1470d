//! Operating system commands: each family has a file; this one only tells them apart.
//!
//! Source: xterm ctlseqs "Operating System Commands", and the page of each protocol that is not xterm's.

mod clipboard;
mod cwd;
mod link;
mod palette;
mod prompt;
mod title;

use crate::term::Term;

impl Term {
    /// An OSC, from behind `ESC ]` to before its end; `bell`: ended by BEL, and so will the answer be.
    pub(crate) fn osc(&mut self, string: &[u8], bell: bool) {
        let digits = string.iter().take_while(|b| b.is_ascii_digit()).count();
        let number = match string.get(digits) {
            None | Some(b';') => std::str::from_utf8(&string[..digits]).ok(),
            Some(_) => None,
        };
        let Some(number) = number.and_then(|digits| digits.parse::<u16>().ok()) else {
            tracing::debug!(length = string.len(), "OSC without a number");
            return;
        };
        let rest = string.get(digits + 1..).unwrap_or_default();
        match number {
            0 | 2 => self.set_title(rest),    // icon name and title, title
            4 => self.set_colors(rest, bell), // palette
            7 => self.set_cwd(rest),          // working directory
            8 => self.set_link(rest),         // hyperlink
            10..=12 => self.set_dynamic_colors(number, rest, bell), // foreground, background, cursor
            52 => self.write_clipboard(rest),                       // clipboard
            104 => self.reset_colors(rest),                         // palette
            110..=112 => self.reset_dynamic_color(number), // foreground, background, cursor
            133 => self.mark_prompt(rest),                 // shell integration
            _ => tracing::debug!(number, "unknown OSC"),
        }
    }
}

/// What a reply to an OSC ends with: what the question ended with.
fn terminator(bell: bool) -> &'static str {
    if bell { "\x07" } else { "\x1b\\" }
}
