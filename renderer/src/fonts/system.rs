//! The system's fonts: when they are listed, and which face draws a character that the chosen families lack.

use std::sync::Arc;

use cosmic_text::Font;
use cosmic_text::fontdb::{self, Stretch, Weight};

use super::environment::is_emoji_font;
use super::{FaceId, FaceStyle, Fonts, ICON_FAMILY, has_char, is_ignorable};

impl Fonts {
    /// Lists the system's fonts if `text`, which is chrome text, has a character that the bundled font lacks.
    pub(crate) fn cover(&mut self, text: &str) {
        let bundled = self.chains[0].last().map(|id| self.face(*id).font.clone());
        let covers = |c: char| {
            c.is_ascii() || is_ignorable(c) || bundled.as_ref().is_some_and(|f| has_char(f, c))
        };
        if !text.chars().all(covers) {
            self.load_system();
        }
    }

    /// The family for emoji in chrome text: the first color emoji font.
    pub(crate) fn emoji_family(&mut self) -> Option<String> {
        let db = self.system.db();
        let find =
            || Some(db.faces().find(|info| is_emoji_font(info))?.families.first()?.0.clone());
        self.emoji.get_or_insert_with(find).clone()
    }

    /// Lists the system's fonts, once.
    pub(super) fn load_system(&mut self) {
        if !self.system_loaded {
            self.system_loaded = true;
            let before = self.system.db().len();
            self.system.db_mut().load_system_fonts();
            self.candidates.clear();
            self.emoji = None;
            tracing::debug!(faces = self.system.db().len() - before, "system fonts listed");
        }
    }

    /// The best-ranked face that satisfies `will_do`.
    pub(super) fn find(
        &mut self,
        style: FaceStyle,
        emoji: bool,
        will_do: impl Fn(&Font) -> bool,
    ) -> Option<FaceId> {
        self.load_system();
        let candidates = match self.candidates.get(&(style, emoji)) {
            Some(candidates) => candidates.clone(),
            None => {
                let candidates = self.rank(style, emoji);
                self.candidates.insert((style, emoji), candidates.clone());
                candidates
            }
        };
        // `FontSystem` keeps faces open, so only the first search is slow.
        let id = candidates.iter().copied().find(|id| {
            let weight = self.system.db().face(*id).map_or(Weight::NORMAL, |info| info.weight);
            self.system.get_font(*id, weight).is_some_and(|font| will_do(&font))
        })?;
        self.add(id, style, false)
    }

    /// The face that draws an icon: from an installed Nerd Font, or else from the bundled icons, or else any face that
    /// contains the code point. Nerd Fonts come first, because other fonts use the same code points for other pictures.
    pub(super) fn find_icon(&mut self, c: char, style: FaceStyle) -> Option<FaceId> {
        self.load_system();
        let is_nerd_font = |info: &&fontdb::FaceInfo| {
            let is_named = |name: &str| name.contains("Nerd Font") && name != ICON_FAMILY;
            info.families.iter().any(|(name, _)| is_named(name))
        };
        let installed = self.system.db().faces().filter(is_nerd_font).map(|info| info.id);
        let mut icons: Vec<_> = installed.collect();
        icons.extend(self.query(ICON_FAMILY, FaceStyle::default()));
        let id = icons.into_iter().find(|id| {
            let font = self.system.get_font(*id, Weight::NORMAL);
            font.is_some_and(|font| has_char(&font, c))
        });
        match id {
            // Never synthesize bold or italic for an icon: the picture would be distorted.
            Some(id) => self.add(id, FaceStyle::default(), false),
            None => self.find(style, false, |font| has_char(font, c)),
        }
    }

    /// All faces, ranked by how well they suit cells of this style.
    fn rank(&self, style: FaceStyle, emoji: bool) -> Arc<[fontdb::ID]> {
        let han = han_family(self.system.locale());
        let want = if style.bold() { 700 } else { 400 };
        let mut ranked: Vec<_> = self
            .system
            .db()
            .faces()
            .map(|info| {
                let named = |part: &str| info.families.iter().any(|(name, _)| name.contains(part));
                let rank = (
                    is_emoji_font(info) != emoji,
                    !info.monospaced && !named("Mono"),
                    named("CJK") && !named(han),
                    named("Serif"),
                    (info.style == fontdb::Style::Normal) == style.italic(),
                    info.stretch != Stretch::Normal,
                    info.weight.0.abs_diff(want),
                );
                (rank, info.id)
            })
            .collect();
        ranked.sort();
        ranked.into_iter().map(|(_, id)| id).collect()
    }
}

/// Whether the system has a font for emoji. Lists the system's fonts, which is slow.
pub fn has_emoji_font() -> bool {
    let mut db = fontdb::Database::new();
    db.load_system_fonts();
    db.faces().any(is_emoji_font)
}

/// The part of a font's family name that marks the Han forms a reader of this language expects.
fn han_family(locale: &str) -> &'static str {
    match locale {
        "zh-TW" => "TC",
        "zh-HK" | "zh-MO" => "HK",
        tag if tag.starts_with("zh") => "SC",
        tag if tag.starts_with("ko") => "KR",
        _ => "JP",
    }
}
