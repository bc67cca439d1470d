//! The faces in use: the bundled font, the configured families, and the system's faces for characters that those lack.
//!
//! Unterm lists the system's fonts only when a character or a family needs them. Listing costs startup time, and the
//! bundled font draws everything on most screens. Icons come from the user's fonts or, where those lack them, from a bundled
//! font that contains only the icons of Nerd Fonts.

mod coverage;
mod environment;
mod substitution;
mod system;

pub use coverage::AllFonts;
pub use system::has_emoji_font;

use std::ops::RangeInclusive;
use std::sync::Arc;

use cosmic_text::fontdb::{self, Database, Family, Query, Source, Stretch, Weight};
use cosmic_text::harfrust::Feature;
use cosmic_text::{Font, FontSystem};
use rustc_hash::FxHashMap;

use crate::chars::{JOINER, is_icon};
use crate::sprite::Sprite;
use crate::{CellMetrics, FontFeature, FontOptions, Ligatures};
use environment::{is_emoji_font, locale};
use substitution::Participants;

/// Family of the bundled font.
pub(crate) const BUNDLED_FAMILY: &str = "JetBrains Mono";

static BUNDLED: [&[u8]; 4] = [
    include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf"),
    include_bytes!("../../assets/fonts/JetBrainsMono-Bold.ttf"),
    include_bytes!("../../assets/fonts/JetBrainsMono-Italic.ttf"),
    include_bytes!("../../assets/fonts/JetBrainsMono-BoldItalic.ttf"),
];

/// The icons of Nerd Fonts, and the family's name.
static ICONS: &[u8] = include_bytes!("../../assets/fonts/SymbolsNerdFont.ttf");
const ICON_FAMILY: &str = "Pure Nerd Font";

/// Weight and slant of text: bit 0 bold, bit 1 italic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FaceStyle(u8);

impl FaceStyle {
    pub(crate) fn new(bold: bool, italic: bool) -> Self {
        Self(u8::from(bold) | u8::from(italic) << 1)
    }

    pub(crate) fn bold(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) fn italic(self) -> bool {
        self.0 & 2 != 0
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    const ALL: [Self; 4] = [Self(0), Self(1), Self(2), Self(3)];
}

/// Names a face of [`Fonts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FaceId(u16);

/// One face, and the effects that synthesize the wanted style.
pub(crate) struct Face {
    pub(crate) font: Arc<Font>,
    /// Whether to synthesize bold: the style is bold and the face is not.
    pub(crate) embolden: bool,
    /// Whether to synthesize italic: the style is italic and the face is not.
    pub(crate) slant: bool,
    /// The weight on the axis of a variable font.
    pub(crate) weight: Option<f32>,
    /// Whether the face comes from the configured families or the bundled font. Other faces' glyphs shrink if they
    /// don't fit the cell.
    pub(crate) primary: bool,
}

/// The faces in use at one size.
pub(crate) struct Fonts {
    /// Also shapes and rasterizes chrome text.
    pub(crate) system: FontSystem,
    pub(crate) pixels: f32,
    pub(crate) metrics: CellMetrics,
    faces: Vec<Face>,
    ids: FxHashMap<(fontdb::ID, FaceStyle), FaceId>,
    /// Faces of the configured families and the bundled font, for each style, first choice first.
    chains: [Vec<FaceId>; 4],
    /// Characters that are drawn by a family of their own, and that family's face for each style.
    symbols: Vec<(RangeInclusive<u32>, [Option<FaceId>; 4])>,
    /// The features passed to the shaper with every text.
    pub(crate) features: Vec<Feature>,
    pub(crate) ligatures: Ligatures,
    /// The glyphs that can be part of a ligature in the first face of each style; computed at the first use.
    participants: [Option<Participants>; 4],
    /// Whether bold and italic are synthesized.
    synthetic: bool,
    /// The configured features from which `features` was made.
    asked: Vec<FontFeature>,
    /// Faces found for characters that the chains lack; `None` if no face has the character.
    fallback: FxHashMap<(char, FaceStyle, bool), Option<FaceId>>,
    /// All faces, best first, for a style with or without color.
    candidates: FxHashMap<(FaceStyle, bool), Arc<[fontdb::ID]>>,
    /// The family for emoji in chrome text, looked up at the first use.
    emoji: Option<Option<String>>,
    /// See [`crate::Renderer::missing_families`].
    pub(crate) missing: Vec<String>,
    system_loaded: bool,
}

/// Characters to cache before the cache is cleared. Without a limit, a hostile program could fill it with every code
/// point.
const MAX_FALLBACKS: usize = 1 << 14;

impl Fonts {
    pub(crate) fn new(options: &FontOptions) -> Self {
        let mut db = Database::new();
        for data in BUNDLED.iter().chain([&ICONS]) {
            db.load_font_source(Source::Binary(Arc::new(*data)));
        }
        for set in [
            Database::set_monospace_family,
            Database::set_sans_serif_family,
            Database::set_serif_family,
        ] {
            set(&mut db, BUNDLED_FAMILY);
        }
        let mut fonts = Self {
            system: FontSystem::new_with_locale_and_db(locale(), db),
            pixels: options.pixels(),
            metrics: CellMetrics {
                width: 1,
                height: 2,
                baseline: 1,
                underline: 0,
                strike: 0,
                thickness: 1,
            },
            faces: Vec::new(),
            ids: FxHashMap::default(),
            chains: Default::default(),
            symbols: Vec::new(),
            features: Vec::new(),
            ligatures: Ligatures::default(),
            participants: Default::default(),
            synthetic: true,
            asked: Vec::new(),
            fallback: FxHashMap::default(),
            candidates: FxHashMap::default(),
            emoji: None,
            missing: Vec::new(),
            system_loaded: false,
        };
        fonts.configure(options);
        fonts
    }

    /// Applies the families and size of `options`, and keeps fonts that are already loaded.
    pub(crate) fn configure(&mut self, options: &FontOptions) {
        self.pixels = options.pixels();
        self.faces.clear();
        self.ids.clear();
        self.fallback.clear();
        self.chains = Default::default();
        self.participants = Default::default();
        self.synthetic = options.synthetic;
        self.ligatures = options.ligatures;
        self.features = options.features.iter().map(|feature| feature.0).collect();
        self.asked.clone_from(&options.features);
        let styles = &options.styles;
        let own: [&[String]; 4] = [&[], &styles.bold, &styles.italic, &styles.bold_italic];
        let symbols = options.symbols.iter().map(|range| &range.family);
        if options.families.iter().chain(own.concat().iter()).chain(symbols).any(|f| !is_bundled(f))
        {
            self.load_system();
        }
        self.missing.clear();
        let lists = own[1..].iter().copied().chain([&*options.families]);
        let one = options.symbols.iter().map(|range| std::slice::from_ref(&range.family));
        for list in lists.chain(one) {
            for family in list {
                let has = self.query(family, FaceStyle::default()).is_some();
                if !has && !self.missing.contains(family) {
                    self.missing.push(family.clone());
                }
            }
        }
        let bundled = [BUNDLED_FAMILY.to_owned()];
        for style in FaceStyle::ALL {
            let families = [own[style.index()], &options.families, &bundled];
            for (rank, family) in
                families.iter().enumerate().flat_map(|(i, f)| f.iter().map(move |f| (i, f)))
            {
                let Some(id) = self.query(family, style) else {
                    if style == FaceStyle::default() || rank == 0 {
                        tracing::info!(family, "no such font family; the next one is used");
                    }
                    continue;
                };
                // A face that the user chose for a style is used without synthesis, whatever its weight and slant.
                let drawn = if rank == 0 { FaceStyle::default() } else { style };
                if let Some(face) = self.add(id, drawn, true)
                    && !self.chains[style.index()].contains(&face)
                {
                    self.chains[style.index()].push(face);
                }
            }
        }
        self.symbols.clear();
        for range in options.symbols.iter().rev() {
            let faces = FaceStyle::ALL.map(|style| {
                let id = self.query(&range.family, style)?;
                self.add(id, style, false)
            });
            self.symbols.push((range.chars.clone(), faces));
        }
        // Measure a face with letters: the first face may have only symbols, or another script.
        let has_letters = |id: &&FaceId| has_char(&self.face(**id).font, 'M');
        let measured = self.chains[0].iter().find(has_letters).unwrap_or(&self.chains[0][0]);
        let font = &self.faces[usize::from(measured.0)].font;
        self.metrics = CellMetrics::of(font, self.pixels).adjusted(options);
    }

    /// Whether the user chose a family for this character, and that family contains the character.
    pub(crate) fn is_mapped(&self, c: char) -> bool {
        !self.symbols.is_empty() && self.mapped(c, FaceStyle::default()).is_some()
    }

    /// The face that the user chose for this character, if the face contains the character.
    fn mapped(&self, c: char, style: FaceStyle) -> Option<FaceId> {
        let chosen = self.symbols.iter().filter(|(chars, _)| chars.contains(&u32::from(c)));
        chosen
            .filter_map(|(_, faces)| faces[style.index()])
            .find(|id| has_char(&self.face(*id).font, c))
    }

    /// Whether `c` can be part of a ligature in the first face of `style`.
    pub(crate) fn takes_part(&mut self, c: char, style: FaceStyle) -> bool {
        if !c.is_ascii() && Sprite::of_char(c).is_some() {
            return false;
        }
        let index = style.index();
        if self.participants[index].is_none() {
            let font = &self.face(self.chains[index][0]).font;
            self.participants[index] = Some(Participants::of(font, &self.asked));
        }
        let Some(participants) = &self.participants[index] else { return false };
        let font = &self.faces[usize::from(self.chains[index][0].0)].font;
        participants.has(c, font) && !(self.is_mapped(c))
    }

    pub(crate) fn face(&self, id: FaceId) -> &Face {
        &self.faces[usize::from(id.0)]
    }

    /// The face that draws a whole cluster. If no face contains every character, the first character's face is used.
    pub(crate) fn face_for_text(&mut self, text: &str, style: FaceStyle, emoji: bool) -> FaceId {
        let mut chars = text.chars();
        // A letter that joins the letter before it has a ZERO WIDTH JOINER in front.
        let first = chars.find(|c| *c != JOINER).unwrap_or(' ');
        let face = self.face_for(first, style, emoji);
        let rest = || chars.clone().filter(|c| !is_ignorable(*c));
        if rest().all(|c| has_char(&self.face(face).font, c)) {
            return face;
        }
        let has_all = |font: &Font| has_char(font, first) && rest().all(|c| has_char(font, c));
        let chain = &self.chains[style.index()];
        if let Some(id) = chain.iter().find(|id| has_all(&self.face(**id).font)) {
            return *id;
        }
        self.find(style, emoji, has_all).unwrap_or(face)
    }

    /// The face that draws `c` in `style`. For `emoji`, color fonts are tried first. If no face contains `c`, returns
    /// the first face of the style.
    pub(crate) fn face_for(&mut self, c: char, style: FaceStyle, emoji: bool) -> FaceId {
        let first = self.chains[style.index()][0];
        if let Some(id) = self.mapped(c, style) {
            return id;
        }
        if !emoji {
            let chain = &self.chains[style.index()];
            if let Some(id) = chain.iter().find(|id| has_char(&self.face(**id).font, c)) {
                return *id;
            }
        }
        if let Some(found) = self.fallback.get(&(c, style, emoji)) {
            return found.unwrap_or(first);
        }
        let found = match is_icon(c) {
            true => self.find_icon(c, style),
            false => self.find(style, emoji, |font| has_char(font, c)),
        };
        if self.fallback.len() >= MAX_FALLBACKS {
            self.fallback.clear();
        }
        if found.is_none() {
            tracing::debug!(character = %c.escape_unicode(), "no font has this character");
        }
        self.fallback.insert((c, style, emoji), found);
        found.unwrap_or_else(|| {
            // If no color font contains the emoji, use any face that contains it.
            let chain = &self.chains[style.index()];
            chain.iter().copied().find(|id| has_char(&self.face(*id).font, c)).unwrap_or(first)
        })
    }

    fn query(&self, family: &str, style: FaceStyle) -> Option<fontdb::ID> {
        self.system.db().query(&Query {
            families: &[Family::Name(family)],
            weight: if style.bold() { Weight::BOLD } else { Weight::NORMAL },
            stretch: Stretch::Normal,
            style: if style.italic() { fontdb::Style::Italic } else { fontdb::Style::Normal },
        })
    }

    fn add(&mut self, id: fontdb::ID, style: FaceStyle, primary: bool) -> Option<FaceId> {
        if let Some(known) = self.ids.get(&(id, style)) {
            return Some(*known);
        }
        let info = self.system.db().face(id)?;
        let (mut weight, upright) = (info.weight, info.style == fontdb::Style::Normal);
        let emoji = is_emoji_font(info);
        let mut font = self.system.get_font(id, weight)?;
        let mut varied = None;
        let axis = font.as_swash().variations().find_by_tag(swash::tag_from_bytes(b"wght"));
        if let Some(axis) = axis {
            let wanted = if style.bold() { 700.0f32 } else { f32::from(weight.0) };
            let wanted = wanted.clamp(axis.min_value(), axis.max_value());
            varied = Some(wanted);
            weight = Weight(wanted as u16);
            font = self.system.get_font(id, weight)?;
        }
        let face = FaceId(u16::try_from(self.faces.len()).ok()?);
        let made_up = self.synthetic && !emoji;
        self.faces.push(Face {
            font,
            embolden: made_up && style.bold() && weight < Weight::SEMIBOLD,
            slant: made_up && style.italic() && upright,
            weight: varied,
            primary,
        });
        self.ids.insert((id, style), face);
        Some(face)
    }
}

/// Whether a font may lack this character of a cluster. Joiners, variation selectors and tags only steer shaping.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e01ef}' | '\u{34f}' | '\u{ad}')
}

fn has_char(font: &Font, c: char) -> bool {
    font.as_swash().charmap().map(c) != 0
}

fn is_bundled(family: &str) -> bool {
    family.eq_ignore_ascii_case(BUNDLED_FAMILY)
}

#[cfg(test)]
mod tests;
