//! Parts that several tools' arguments and replies have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::untrusted::{self, Clipped, clipped, escaped};

/// The most characters of one text in a reply, if nothing else is said: clients cut, or put aside, what is longer.
pub const MOST_CHARACTERS: usize = 20_000;
/// The most of a reply's cells, changed rows or matches, in bytes: clients put aside replies of more than 50,000 characters.
pub const MOST_OF_ROWS: usize = 45_000;

/// Takes a part of a reply from the room that is left for more; false where that is all.
pub fn fits(left: &mut usize, part: &impl Serialize) -> bool {
    // With what parts it from the next.
    let length = serde_json::to_string(part).map_or(0, |text| text.len() + 1);
    *left = left.saturating_sub(length);
    *left > 0
}

/// A tool without arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// What programs wrote, as a reply has it.
pub fn shown(text: String, raw: bool, hint: &str) -> (String, Option<Clipped>) {
    clipped(safe(text, raw), MOST_CHARACTERS, hint)
}

/// What programs wrote, whole.
pub fn safe(text: String, raw: bool) -> String {
    if raw { text } else { escaped(&text) }
}

/// One line of it.
pub fn line(text: &str) -> String {
    untrusted::line(text, 2000)
}

/// Where the cursor is on the screen, from 0.
#[derive(Serialize, JsonSchema)]
pub struct Cursor {
    pub row: u64,
    pub col: u64,
}
