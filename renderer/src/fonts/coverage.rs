//! Whether some font draws a character, for programs that ask (the Glyph Protocol). Independent of any window's fonts, so
//! that a pane's thread can ask.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cosmic_text::fontdb::{Database, ID, Source};
use rustc_hash::FxHashMap;
use unterm_term::FontCoverage;

use super::{BUNDLED, ICONS};
use crate::sprite::Sprite;

/// The maximum number of answers to cache before the cache is cleared. Without a limit, a hostile program could fill it.
const MAX_ANSWERS: usize = 1 << 14;

/// All fonts that windows draw with: the bundled fonts and the system's.
#[derive(Debug, Default)]
pub struct AllFonts {
    /// The bundled fonts, then the system's, listed at the first question that needs them.
    bundled: OnceLock<Database>,
    system: OnceLock<Database>,
    answers: Mutex<FxHashMap<char, bool>>,
}

impl AllFonts {
    fn find(&self, c: char) -> bool {
        let bundled = self.bundled.get_or_init(|| {
            let mut db = Database::new();
            for data in BUNDLED.iter().chain([&ICONS]) {
                db.load_font_source(Source::Binary(Arc::new(*data)));
            }
            db
        });
        let system = || {
            self.system.get_or_init(|| {
                let mut db = Database::new();
                db.load_system_fonts();
                db
            })
        };
        Sprite::of_char(c).is_some() || has_char(bundled, c) || has_char(system(), c)
    }
}

impl FontCoverage for AllFonts {
    fn covers(&self, c: char) -> bool {
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = answers().get(&c) {
            return *known;
        }
        let found = self.find(c);
        let mut answers = answers();
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert(c, found);
        found
    }
}

/// Whether some font of a database has a character.
fn has_char(db: &Database, c: char) -> bool {
    let has = |id: ID| {
        db.with_face_data(id, |data, index| {
            let font = swash::FontRef::from_index(data, index as usize);
            font.is_some_and(|font| font.charmap().map(c) != 0)
        })
    };
    db.faces().any(|face| has(face.id) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_icons_and_sprites_are_covered() {
        let fonts = AllFonts::default();
        // A letter, an icon of Nerd Fonts, and a line that is drawn in code.
        for c in ['a', '\u{e0a0}', '\u{2502}'] {
            assert!(fonts.covers(c), "{c:?}");
        }
        // No font has a noncharacter.
        assert!(!fonts.covers('\u{10fffe}'));
        assert!(!fonts.covers('\u{10fffe}'), "from the cache");
        assert_eq!(fonts.answers.lock().unwrap().len(), 4);
    }
}
