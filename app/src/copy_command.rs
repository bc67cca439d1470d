//! The table of copy mode's commands: their names, default keys and descriptions. The commands and keys follow vi.
//!
//! The key map, the check of the configuration and the reference page use this table.
//! `window/overlays/copy_mode.rs` runs the commands.

use std::collections::{BTreeMap, HashMap};

use unterm_control::did_you_mean;
use unterm_mux::input::{Key, Modifiers};

use crate::action::Chord;

/// The name of a command that unbinds a key.
const NONE: &str = "none";

/// A motion: the position to which the cursor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One character to the left.
    Left,
    /// One character to the right.
    Right,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// The start of the next word. If `true`, only blanks separate words.
    WordStart(bool),
    /// The end of the current or the next word. If `true`, only blanks separate words.
    WordEnd(bool),
    /// The start of the current or the previous word. If `true`, only blanks separate words.
    WordBack(bool),
    /// The first character of the line. For motions by lines, a wrapped line counts as a single line.
    LineStart,
    /// The first nonblank character of the line.
    LineText,
    /// The last character of the line.
    LineEnd,
    /// The oldest line.
    Oldest,
    /// The last line with text.
    Newest,
    /// The first visible row.
    ViewTop,
    /// The middle visible row.
    ViewMiddle,
    /// The last visible row.
    ViewBottom,
    /// The nearest blank line above the cursor.
    ParagraphBack,
    /// The nearest blank line below the cursor.
    ParagraphForward,
    /// The nearest prompt above the cursor.
    PromptBack,
    /// The nearest prompt below the cursor.
    PromptForward,
}

/// The direction of a search for a character in the line, and where the cursor stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    /// Whether to search toward the end of the line.
    pub forward: bool,
    /// Whether to stop next to the character instead of on it.
    pub till: bool,
}

/// The shape of the selection between its anchor and the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// A range of characters.
    Characters,
    /// Whole lines.
    Lines,
    /// A rectangle.
    Block,
}

/// A command of copy mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCommand {
    /// Moves the cursor.
    Move(Motion),
    /// Moves the cursor to the next occurrence of a character. The user types the character after the command.
    Find(Find),
    /// Repeats the last find. If `false`, in the opposite direction.
    FindAgain(bool),
    /// Scrolls by a number of half pages, and moves the cursor by the same distance.
    HalfPages(i8),
    /// Scrolls by a number of rows. The cursor moves only if it would become invisible.
    Rows(i8),
    /// Starts a selection, changes its kind, or ends it.
    Select(CopyKind),
    /// Swaps the cursor and the anchor of the selection.
    SwapEnds,
    /// Copies the selection, or the line if nothing is selected. Then leaves copy mode.
    Yank,
    /// Opens the search. If `true`, it runs toward newer lines; otherwise, toward older lines.
    Search(bool),
    /// Moves to the next match. If `true`, in the direction of the search; otherwise, in the opposite direction.
    NextMatch(bool),
    /// Leaves copy mode.
    Leave,
}

/// An entry of the table of commands.
pub struct CopyEntry {
    /// The name in the configuration.
    pub name: &'static str,
    /// A description in one sentence.
    pub doc: &'static str,
    /// The command.
    pub command: CopyCommand,
    /// The default keys.
    pub keys: &'static [&'static str],
}

const fn entry(
    name: &'static str,
    doc: &'static str,
    command: CopyCommand,
    keys: &'static [&'static str],
) -> CopyEntry {
    CopyEntry { name, doc, command, keys }
}

const FORWARD: Find = Find { forward: true, till: false };
const BACK: Find = Find { forward: false, till: false };
const TILL: Find = Find { forward: true, till: true };
const TILL_BACK: Find = Find { forward: false, till: true };

/// The table of all commands with their default keys.
#[rustfmt::skip]
pub const COPY_COMMANDS: &[CopyEntry] = &{
    use {CopyCommand::*, CopyKind::*, Motion::*};
    [
        entry("left", "One character to the left.", Move(Left), &["h", "left", "backspace"]),
        entry("down", "One row down.", Move(Down), &["j", "down"]),
        entry("up", "One row up.", Move(Up), &["k", "up"]),
        entry("right", "One character to the right.", Move(Right), &["l", "right", "space"]),
        entry("word_start", "To the next word's start.", Move(WordStart(false)), &["w"]),
        entry("word_end", "To the word's end, or the next one's.", Move(WordEnd(false)), &["e"]),
        entry("word_back", "To the word's start, or the start of the one before.", Move(WordBack(false)), &["b"]),
        entry("big_word_start", "Like word_start, but only blanks separate words.", Move(WordStart(true)), &["shift+w"]),
        entry("big_word_end", "Like word_end, but only blanks separate words.", Move(WordEnd(true)), &["shift+e"]),
        entry("big_word_back", "Like word_back, but only blanks separate words.", Move(WordBack(true)), &["shift+b"]),
        entry("line_start", "To the line's first column.", Move(LineStart), &["0", "home"]),
        entry("line_text", "To the line's first nonblank character.", Move(LineText), &["^"]),
        entry("line_end", "To the line's last character.", Move(LineEnd), &["$", "end"]),
        entry("oldest", "To the oldest line.", Move(Oldest), &["g", "ctrl+home"]),
        entry("newest", "To the last line with text.", Move(Newest), &["shift+g", "ctrl+end"]),
        entry("view_top", "To the first row in sight.", Move(ViewTop), &["shift+h"]),
        entry("view_middle", "To the row in the middle.", Move(ViewMiddle), &["shift+m"]),
        entry("view_bottom", "To the last row in sight.", Move(ViewBottom), &["shift+l"]),
        entry("find", "To the next occurrence of the character you type, in the same line.", Find(FORWARD), &["f"]),
        entry("find_back", "Like find, but towards the start of the line.", Find(BACK), &["shift+f"]),
        entry("till", "Like find, but stops before the character.", Find(TILL), &["t"]),
        entry("till_back", "Like find_back, but stops after the character.", Find(TILL_BACK), &["shift+t"]),
        entry("find_again", "Repeats the last find or till.", FindAgain(true), &[";"]),
        entry("find_again_back", "Repeats the last find or till in the opposite direction.", FindAgain(false), &[","]),
        entry("paragraph_back", "To the blank line above.", Move(ParagraphBack), &["{"]),
        entry("paragraph_forward", "To the blank line below.", Move(ParagraphForward), &["}"]),
        entry("prompt_back", "To the prompt above.", Move(PromptBack), &["["]),
        entry("prompt_forward", "To the prompt below.", Move(PromptForward), &["]"]),
        entry("page_up", "A page towards older lines.", HalfPages(-2), &["page_up", "ctrl+b"]),
        entry("page_down", "A page towards newer lines.", HalfPages(2), &["page_down", "ctrl+f"]),
        entry("half_page_up", "Half a page towards older lines.", HalfPages(-1), &["ctrl+u"]),
        entry("half_page_down", "Half a page towards newer lines.", HalfPages(1), &["ctrl+d"]),
        entry("scroll_up", "Scrolls a row towards older lines.", Rows(-1), &["ctrl+y"]),
        entry("scroll_down", "Scrolls a row towards newer lines.", Rows(1), &["ctrl+e"]),
        entry("select", "Starts or stops selecting characters.", Select(Characters), &["v"]),
        entry("select_lines", "Starts or stops selecting whole lines.", Select(Lines), &["shift+v"]),
        entry("select_block", "Starts or stops selecting a rectangle.", Select(Block), &["ctrl+v"]),
        entry("swap_ends", "To the selection's other end.", SwapEnds, &["o"]),
        entry("yank", "Copies the selection, or else the line, and leaves copy mode.", Yank, &["y", "enter"]),
        entry("search_forward", "Searches towards newer lines.", Search(true), &["/"]),
        entry("search_back", "Searches towards older lines.", Search(false), &["?"]),
        entry("next_match", "To the next match in the direction of the search.", NextMatch(true), &["n"]),
        entry("previous_match", "To the next match against the direction of the search.", NextMatch(false), &["shift+n"]),
        entry("leave", "Leaves copy mode.", Leave, &["escape", "q", "ctrl+c", "i"]),
    ]
};

/// The command with this name in the configuration. `None` for the name `none`.
///
/// # Errors
/// Returns a message that explains the error in the name.
pub fn named(name: &str) -> Result<Option<CopyCommand>, String> {
    if name == NONE {
        return Ok(None);
    }
    match COPY_COMMANDS.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(Some(entry.command)),
        None => {
            let names = COPY_COMMANDS.iter().map(|entry| entry.name).chain([NONE]);
            Err(format!("copy mode has no command {name:?}{}", did_you_mean(name, names)))
        }
    }
}

/// The key bindings of copy mode.
#[derive(Clone, Debug, Default)]
pub struct CopyKeys(HashMap<Chord, CopyCommand>);

impl CopyKeys {
    /// The default keys, overridden by the bindings in `own`. Bindings that are not valid are skipped, because they
    /// were reported when the configuration was read.
    pub fn new(own: &BTreeMap<String, String>) -> Self {
        let mut map = HashMap::new();
        for entry in COPY_COMMANDS {
            map.extend(
                entry.keys.iter().filter_map(|keys| Some((keys.parse().ok()?, entry.command))),
            );
        }
        for (keys, name) in own {
            match (keys.parse::<Chord>(), named(name)) {
                (Ok(chord), Ok(Some(command))) => drop(map.insert(plain(chord), command)),
                (Ok(chord), Ok(None)) => drop(map.remove(&plain(chord))),
                _ => {}
            }
        }
        Self(map)
    }

    /// The command of the first key in `keys` that is bound.
    pub fn get(
        &self,
        modifiers: Modifiers,
        keys: impl IntoIterator<Item = Key>,
    ) -> Option<CopyCommand> {
        keys.into_iter().find_map(|key| {
            let key = match key {
                Key::Char(c) => Key::Char(c.to_ascii_lowercase()),
                key => key,
            };
            self.0.get(&plain(Chord { modifiers, key })).copied()
        })
    }
}

/// Removes Shift from the key of a symbol such as `$`, because only some keyboard layouts require Shift for it.
fn plain(chord: Chord) -> Chord {
    match chord.key {
        Key::Char(c) if !c.is_alphabetic() && c != ' ' => {
            Chord { modifiers: chord.modifiers - Modifiers::SHIFT, ..chord }
        }
        _ => chord,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_key_parses_and_is_bound_once() {
        let count: usize = COPY_COMMANDS.iter().map(|entry| entry.keys.len()).sum();
        for entry in COPY_COMMANDS {
            for keys in entry.keys {
                keys.parse::<Chord>().unwrap_or_else(|why| panic!("{why}"));
            }
            assert!(entry.doc.ends_with('.'), "{}", entry.name);
        }
        assert_eq!(CopyKeys::new(&BTreeMap::new()).0.len(), count, "two commands share a key");
    }

    #[test]
    fn signs_count_however_they_are_typed_and_letters_keep_shift() {
        let keys = CopyKeys::new(&BTreeMap::new());
        let get = |modifiers, c| keys.get(modifiers, [Key::Char(c)]);
        let end = Some(CopyCommand::Move(Motion::LineEnd));
        assert_eq!((get(Modifiers::SHIFT, '$'), get(Modifiers::empty(), '$')), (end, end));
        assert_eq!(get(Modifiers::SHIFT, 'G'), Some(CopyCommand::Move(Motion::Newest)));
        assert_eq!(get(Modifiers::empty(), 'g'), Some(CopyCommand::Move(Motion::Oldest)));
        assert_eq!(get(Modifiers::CTRL, 'g'), None);
    }

    #[test]
    fn the_file_binds_over_the_defaults() {
        let own = [("h", "none"), ("t", "left"), ("shift+4", "oldest")];
        let own = own.iter().map(|(keys, name)| ((*keys).into(), (*name).into())).collect();
        let keys = CopyKeys::new(&own);
        assert_eq!(keys.get(Modifiers::empty(), [Key::Char('h')]), None);
        assert_eq!(
            keys.get(Modifiers::empty(), [Key::Char('t')]),
            Some(CopyCommand::Move(Motion::Left))
        );
        assert!(named("lefft").unwrap_err().contains("did you mean \"left\"?"));
    }
}
