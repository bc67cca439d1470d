use super::{BUNDLED_FAMILY, FaceStyle, Fonts};
use crate::{FontOptions, StyleFamilies};

fn family(fonts: &Fonts, id: super::FaceId) -> String {
    let info = fonts.system.db().face(fonts.face(id).font.id()).unwrap();
    info.families[0].0.clone()
}

/// What most screens hold comes from the bundled font, and the system's fonts are not even listed for it.
#[test]
fn system_fonts_are_not_touched_for_plain_text() {
    let mut fonts = Fonts::new(&FontOptions::default());
    for style in FaceStyle::ALL {
        for c in (' '..='~').chain("äéßłπЖ→✓≤∑".chars()) {
            let id = fonts.face_for(c, style, false);
            assert_eq!(family(&fonts, id), BUNDLED_FAMILY);
            let face = fonts.face(id);
            assert!(face.primary && !face.embolden && !face.slant, "{c} in {style:?}");
        }
    }
    fonts.cover("~/src/unterm — täst ✓");
    assert!(!fonts.system_loaded);
    fonts.cover("中文");
    assert!(fonts.system_loaded);
}

/// Asking for the bundled family by name doesn't list the system's fonts either; another one does.
#[test]
fn only_foreign_families_list_system_fonts() {
    let named = |family: &str| {
        let families = vec![family.to_owned()];
        Fonts::new(&FontOptions { families, ..FontOptions::default() })
    };
    assert!(!named("jetbrains mono").system_loaded);
    let fonts = named("A Family Nobody Has");
    assert!(fonts.system_loaded);
    assert_eq!(family(&fonts, fonts.chains[0][0]), BUNDLED_FAMILY);
}

/// A face without bold or italic of its own gets them by code; one that has them doesn't.
#[test]
fn missing_styles_are_made_up() {
    let mut fonts = Fonts::new(&FontOptions::default());
    let upright = fonts.query(BUNDLED_FAMILY, FaceStyle::default()).unwrap();
    let bold = fonts.query(BUNDLED_FAMILY, FaceStyle::new(true, false)).unwrap();
    for (id, style, embolden, slant) in [
        (upright, FaceStyle::new(true, false), true, false),
        (upright, FaceStyle::new(false, true), false, true),
        (bold, FaceStyle::new(true, true), false, true),
        (bold, FaceStyle::new(true, false), false, false),
    ] {
        let face = fonts.add(id, style, true).unwrap();
        let face = fonts.face(face);
        assert_eq!((face.embolden, face.slant), (embolden, slant), "{style:?}");
    }
}

/// Nothing is made up where that is not wanted, and a family that was chosen for a style is taken as it is.
#[test]
fn made_up_styles_can_be_left_out() {
    let bundled = vec![BUNDLED_FAMILY.to_owned()];
    let plain = FontOptions { synthetic: false, ..FontOptions::default() };
    let styles = StyleFamilies { bold: bundled, ..StyleFamilies::default() };
    let chosen = FontOptions { styles, ..FontOptions::default() };
    let bold = FaceStyle::new(true, false);
    for options in [plain, chosen] {
        let mut fonts = Fonts::new(&options);
        let id = fonts.face_for('x', bold, false);
        assert!(!fonts.face(id).embolden && fonts.chains[bold.index()][0] == id);
    }
    let mut fonts = Fonts::new(&FontOptions { synthetic: false, ..FontOptions::default() });
    let upright = fonts.query(BUNDLED_FAMILY, FaceStyle::default()).unwrap();
    let face = fonts.add(upright, FaceStyle::new(true, true), true).unwrap();
    assert!(!fonts.face(face).embolden && !fonts.face(face).slant);
}

/// A character that no font has is drawn as the first font's empty box, and looked for only once.
#[test]
fn unknown_characters_fall_back_to_the_first_font() {
    let mut fonts = Fonts::new(&FontOptions::default());
    let id = fonts.face_for('\u{10fffd}', FaceStyle::default(), false);
    assert_eq!(family(&fonts, id), BUNDLED_FAMILY);
    assert!(fonts.fallback.contains_key(&('\u{10fffd}', FaceStyle::default(), false)));
}
