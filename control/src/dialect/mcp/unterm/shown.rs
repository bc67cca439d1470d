//! Types and limits that several tools share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::untrusted::{self, Clipped, clipped, escaped};

/// The default maximum number of characters of one text in a reply. Clients cut or reject longer texts.
pub const MOST_CHARACTERS: usize = 20_000;
/// The maximum number of bytes of cells, changed rows or matches in a reply. Clients reject replies of more than 50,000
/// characters.
pub const MOST_OF_ROWS: usize = 45_000;

/// Subtracts the size of a part from the space left in a reply. Returns false if the part does not fit.
pub fn fits(left: &mut usize, part: &impl Serialize) -> bool {
    // The 1 is for the separator after the part.
    let length = serde_json::to_string(part).map_or(0, |text| text.len() + 1);
    *left = left.saturating_sub(length);
    *left > 0
}

/// The arguments of a tool without arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Prepares a program's output for a reply.
pub fn shown(text: String, raw: bool, hint: &str) -> (String, Option<Clipped>) {
    clipped(safe(text, raw), MOST_CHARACTERS, hint)
}

/// Escapes a program's whole output.
pub fn safe(text: String, raw: bool) -> String {
    if raw { text } else { escaped(&text) }
}

/// Escapes one line of output.
pub fn line(text: &str) -> String {
    untrusted::line(text, 2000)
}

/// The cursor's position on the screen, from 0.
#[derive(Serialize, JsonSchema)]
pub struct Cursor {
    pub row: u64,
    pub col: u64,
}
