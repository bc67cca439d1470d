use super::{BUNDLED_FAMILY, FaceStyle, Fonts};
use crate::{FontOptions, StyleFamilies};

fn family(fonts: &Fonts, id: super::FaceId) -> String {
    let info = fonts.system.db().face(fonts.face(id).font.id()).unwrap();
    info.families[0].0.clone()
}

/// The bundled font draws the text of most screens without listing the system's fonts.
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

/// Choosing the bundled family by name doesn't list the system's fonts. Choosing another family does.
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

/// Each missing family of a list is reported, even if an installed family precedes it in the list.
#[test]
fn each_missing_family_of_a_list_is_reported() {
    let families = ["A Family Nobody Has", BUNDLED_FAMILY, "Nor This One"].map(str::to_owned);
    let bold = vec![BUNDLED_FAMILY.to_owned(), "Nor That One".to_owned()];
    let styles = StyleFamilies { bold, ..StyleFamilies::default() };
    let options = FontOptions { families: families.to_vec(), styles, ..FontOptions::default() };
    let missing = Fonts::new(&options).missing;
    assert_eq!(missing, ["Nor That One", "A Family Nobody Has", "Nor This One"]);
}

/// A face that lacks bold or italic gets a synthesized style. A face of the requested style does not.
#[test]
fn missing_styles_are_synthesized() {
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

/// Styles are synthesized only if that is enabled, and never for a family that was chosen for the style.
#[test]
fn style_synthesis_can_be_disabled() {
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

/// The cell is as wide as the letters of the text, even if the first family contains no letters.
#[test]
fn a_family_without_letters_does_not_set_the_cell_size() {
    let plain = Fonts::new(&FontOptions::default());
    let mut fonts = Fonts::new(&FontOptions::default());
    fonts.load_system();
    let ids: Vec<_> = fonts.system.db().faces().map(|info| info.id).collect();
    // Machines have different fonts, and no font without letters is installed everywhere, so try every font.
    for id in ids {
        let Some(face) = fonts.add(id, FaceStyle::default(), true) else { continue };
        if super::has_char(&fonts.face(face).font, 'M') {
            continue;
        }
        let families = vec![family(&fonts, face)];
        let chosen = Fonts::new(&FontOptions { families, ..FontOptions::default() });
        let has_letters = |id: &super::FaceId| super::has_char(&chosen.face(*id).font, 'M');
        // Another face of the family may have letters.
        if !has_letters(&chosen.chains[0][0]) {
            assert_eq!(chosen.metrics, plain.metrics, "{}", family(&fonts, face));
        }
    }
}

#[test]
fn icons_come_from_the_bundled_font_without_a_nerd_font() {
    let mut fonts = Fonts::new(&FontOptions::default());
    // A directory, a branch, a Linux penguin, and a Material Design icon beyond the first plane.
    for c in ['\u{f115}', '\u{e725}', '\u{f31a}', '\u{f0001}', '\u{e5ff}', '\u{ea60}'] {
        for style in FaceStyle::ALL {
            let id = fonts.face_for(c, style, false);
            let face = fonts.face(id);
            assert!(!face.primary && !face.embolden && !face.slant, "{c}");
            assert!(super::has_char(&face.font, c), "{c}");
            assert!(family(&fonts, id).contains("Nerd Font"), "{c}: {}", family(&fonts, id));
        }
    }
    // A family that the user chose comes before the bundled icons, if it contains the icon.
    let icons = vec![super::ICON_FAMILY.to_owned()];
    let mut chosen = Fonts::new(&FontOptions { families: icons, ..FontOptions::default() });
    let id = chosen.face_for('\u{f115}', FaceStyle::default(), false);
    assert!(chosen.face(id).primary);
}

/// A character that no font has is drawn as the first font's empty box. The failed search is cached.
#[test]
fn unknown_characters_fall_back_to_the_first_font() {
    let mut fonts = Fonts::new(&FontOptions::default());
    let id = fonts.face_for('\u{10fffd}', FaceStyle::default(), false);
    assert_eq!(family(&fonts, id), BUNDLED_FAMILY);
    assert!(fonts.fallback.contains_key(&('\u{10fffd}', FaceStyle::default(), false)));
}
