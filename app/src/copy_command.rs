//! The table of copy mode's commands: their names, default keys and what they do, in vi's words.
//!
//! Keys, the check of the configuration and the reference page come from this table; what a command does is
//! `window/copy_mode.rs`.

use std::collections::{BTreeMap, HashMap};

use unterm_mux::input::{Key, Modifiers};

use crate::{action::Chord, config::parse::did_you_mean};

/// What stands in the file for "no command".
const NONE: &str = "none";

/// Where a movement goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One character.
    Left,
    /// One character.
    Right,
    /// One row.
    Up,
    /// One row.
    Down,
    /// The next word's start; `true`: words are parted by blanks only.
    WordStart(bool),
    /// The word's end, or the next one's.
    WordEnd(bool),
    /// The word's start, or the one before.
    WordBack(bool),
    /// The line's first character, the rows it is wrapped into counted as one line.
    LineStart,
    /// The line's first character that is no blank.
    LineText,
    /// The line's last character.
    LineEnd,
    /// The oldest line.
    Oldest,
    /// The last line with text.
    Newest,
    /// The first row in sight.
    ViewTop,
    /// The row in the middle.
    ViewMiddle,
    /// The last row in sight.
    ViewBottom,
    /// The blank line above.
    ParagraphBack,
    /// The blank line below.
    ParagraphForward,
    /// The prompt above.
    PromptBack,
    /// The prompt below.
    PromptForward,
}

/// Where a movement to a character goes, in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    /// Towards the line's end.
    pub forward: bool,
    /// To the character beside it.
    pub till: bool,
}

/// What is selected between where a selection began and the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// The characters.
    Characters,
    /// Whole lines.
    Lines,
    /// The rectangle.
    Block,
}

/// A command of copy mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCommand {
    /// Moves the cursor.
    Move(Motion),
    /// Moves the cursor to the next of the character that is typed then.
    Find(Find),
    /// The same again; `false`: the other way.
    FindAgain(bool),
    /// Scrolls by this many halves of a page, and takes the cursor along.
    HalfPages(i8),
    /// Scrolls by this many rows; the cursor stays where it is as long as that is in sight.
    Rows(i8),
    /// Begins a selection, changes its kind, or ends it.
    Select(CopyKind),
    /// Goes to the selection's other end.
    SwapEnds,
    /// Copies the selection, or the line, and leaves.
    Yank,
    /// Opens the search: towards newer lines, or older ones.
    Search(bool),
    /// Goes to the next match in the search's direction, or against it.
    NextMatch(bool),
    /// Leaves.
    Leave,
}

/// One row of the table.
pub struct CopyEntry {
    /// Its name in the configuration.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// The command.
    pub command: CopyCommand,
    /// Default keys.
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

/// Every command with its default keys.
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
        entry("big_word_start", "As word_start; only blanks part words.", Move(WordStart(true)), &["shift+w"]),
        entry("big_word_end", "As word_end; only blanks part words.", Move(WordEnd(true)), &["shift+e"]),
        entry("big_word_back", "As word_back; only blanks part words.", Move(WordBack(true)), &["shift+b"]),
        entry("line_start", "To the line's first column.", Move(LineStart), &["0", "home"]),
        entry("line_text", "To the line's first character that is no blank.", Move(LineText), &["^"]),
        entry("line_end", "To the line's last character.", Move(LineEnd), &["$", "end"]),
        entry("oldest", "To the oldest line.", Move(Oldest), &["g", "ctrl+home"]),
        entry("newest", "To the last line with text.", Move(Newest), &["shift+g", "ctrl+end"]),
        entry("view_top", "To the first row in sight.", Move(ViewTop), &["shift+h"]),
        entry("view_middle", "To the row in the middle.", Move(ViewMiddle), &["shift+m"]),
        entry("view_bottom", "To the last row in sight.", Move(ViewBottom), &["shift+l"]),
        entry("find", "To the next of the character that is typed then, in the line.", Find(FORWARD), &["f"]),
        entry("find_back", "As find, towards the line's start.", Find(BACK), &["shift+f"]),
        entry("till", "As find, to the character before it.", Find(TILL), &["t"]),
        entry("till_back", "As find_back, to the character behind it.", Find(TILL_BACK), &["shift+t"]),
        entry("find_again", "The last find or till again.", FindAgain(true), &[";"]),
        entry("find_again_back", "The last find or till the other way.", FindAgain(false), &[","]),
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
        entry("select", "Selects characters from here on; again: no more.", Select(Characters), &["v"]),
        entry("select_lines", "Selects whole lines from here on; again: no more.", Select(Lines), &["shift+v"]),
        entry("select_block", "Selects a rectangle from here on; again: no more.", Select(Block), &["ctrl+v"]),
        entry("swap_ends", "To the selection's other end.", SwapEnds, &["o"]),
        entry("yank", "Copies the selection, or else the line, and leaves copy mode.", Yank, &["y", "enter"]),
        entry("search_forward", "Searches towards newer lines.", Search(true), &["/"]),
        entry("search_back", "Searches towards older lines.", Search(false), &["?"]),
        entry("next_match", "To the next match in the direction of the search.", NextMatch(true), &["n"]),
        entry("previous_match", "To the next match against the direction of the search.", NextMatch(false), &["shift+n"]),
        entry("leave", "Leaves copy mode.", Leave, &["escape", "q", "ctrl+c", "i"]),
    ]
};

/// A command as the file names it; `None` for `none`.
///
/// # Errors
/// What is wrong with the name, for people.
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

/// Copy mode's keys in force.
#[derive(Clone, Debug, Default)]
pub struct CopyKeys(HashMap<Chord, CopyCommand>);

impl CopyKeys {
    /// The default keys, and over them those of the file, which has been checked: what does not parse is left out.
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

    /// The command bound to a key: by the character it types, or else by the key.
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

/// A sign such as `$` is the same key wherever a layout has it: with Shift or without.
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
