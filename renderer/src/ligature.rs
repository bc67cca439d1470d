//! Ligatures and other glyphs that adjacent characters form together. Finds which characters of a face can form them,
//! and which cells of a text do form one.
//!
//! Cells form a group only if they look different together than drawn one by one. All other cells are drawn cell by
//! cell, so that text stays on the grid and plain text needs no shaping.

use std::sync::Arc;

use cosmic_text::Font;
use read_fonts::tables::gsub::{Gsub, SingleSubst, SubstitutionLookup, SubstitutionSubtables};
use read_fonts::tables::layout::{
    ChainedSequenceContext, ClassDef, CoverageTable, SequenceContext,
};
use read_fonts::types::{BigEndian, GlyphId16, Tag};
use read_fonts::{FontData, FontRead, ReadError};
use rustc_hash::FxHashSet;

use crate::FontFeature;
use crate::fonts::Fonts;
use crate::glyph::GlyphCache;
use crate::shape::{Form, PlacedGlyph, Shaper};

/// Which ligatures are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ligatures {
    /// All ligatures of the font.
    Always,
    /// All except the ligature under the cursor, whose characters are drawn one by one.
    #[default]
    Cursor,
    /// No ligatures.
    Never,
}

/// Features that form ligatures by default (OpenType's registered features).
const DEFAULT: [&[u8; 4]; 4] = [b"calt", b"liga", b"clig", b"rlig"];

/// The glyphs of a face that appear in a substitution rule for several glyphs. All other glyphs look the same beside
/// any neighbor.
#[derive(Debug, Default)]
pub(crate) struct Participants {
    glyphs: FxHashSet<u16>,
    /// Whether a rule matches every glyph outside its named classes, so that all glyphs take part.
    all: bool,
    /// The printable ASCII characters whose glyphs take part, one bit each.
    ascii: u128,
}

impl Participants {
    /// The participants of a face under these features.
    pub(crate) fn of(font: &Font, features: &[FontFeature]) -> Self {
        let mut found = Self::default();
        let table = font.as_swash().table(swash::tag_from_bytes(b"GSUB"));
        if let Some(data) = table
            && let Err(error) = found.read(data, features)
        {
            tracing::debug!(%error, "the font's substitutions can't be read: no ligatures");
            return Self::default();
        }
        let charmap = font.as_swash().charmap();
        for c in '!'..='~' {
            if found.all || found.glyphs.contains(&charmap.map(c)) {
                found.ascii |= 1 << c as u32;
            }
        }
        found
    }

    /// Whether `c` can be part of a ligature.
    pub(crate) fn has(&self, c: char, font: &Font) -> bool {
        if c.is_ascii() {
            return self.ascii >> (c as u32) & 1 != 0;
        }
        let glyph = || font.as_swash().charmap().map(c);
        !self.is_empty()
            && matches!(glyph(), glyph if glyph != 0 && (self.all || self.glyphs.contains(&glyph)))
    }

    /// Whether the face has no ligatures.
    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.glyphs.is_empty()
    }

    fn read(&mut self, data: &[u8], features: &[FontFeature]) -> Result<(), ReadError> {
        let gsub = Gsub::read(FontData::new(data))?;
        let list = gsub.feature_list()?;
        let wanted = |tag: Tag| {
            let asked = features.iter().rev().find(|feature| feature.tag() == tag.to_be_bytes());
            asked.map_or(DEFAULT.contains(&&tag.to_be_bytes()), |feature| feature.value() > 0)
        };
        let mut lookups = FxHashSet::default();
        for record in list.feature_records() {
            if wanted(record.feature_tag()) {
                let feature = record.feature(list.offset_data())?;
                lookups.extend(feature.lookup_list_indices().iter().map(|index| index.get()));
            }
        }
        let all = gsub.lookup_list()?.lookups();
        for index in lookups {
            self.lookup(&all.get(usize::from(index))?)?;
        }
        Ok(())
    }

    fn lookup(&mut self, lookup: &SubstitutionLookup<'_>) -> Result<(), ReadError> {
        match lookup.subtables()? {
            // Another rule may match the glyph that this rule inserts.
            SubstitutionSubtables::Single(tables) => {
                for table in tables.iter() {
                    self.cover(match table? {
                        SingleSubst::Format1(table) => table.coverage()?,
                        SingleSubst::Format2(table) => table.coverage()?,
                    });
                }
            }
            // These rules replace one glyph by several, or by a numbered alternate. They ignore neighbors.
            SubstitutionSubtables::Multiple(_) | SubstitutionSubtables::Alternate(_) => {}
            SubstitutionSubtables::Ligature(tables) => {
                for table in tables.iter() {
                    let table = table?;
                    self.cover(table.coverage()?);
                    for set in table.ligature_sets().iter() {
                        for ligature in set?.ligatures().iter() {
                            self.name(ligature?.component_glyph_ids());
                        }
                    }
                }
            }
            SubstitutionSubtables::Contextual(tables) => {
                for table in tables.iter() {
                    self.context(table?)?;
                }
            }
            SubstitutionSubtables::ChainContextual(tables) => {
                for table in tables.iter() {
                    self.chained(table?)?;
                }
            }
            SubstitutionSubtables::Reverse(tables) => {
                for table in tables.iter() {
                    let table = table?;
                    self.cover(table.coverage()?);
                    for around in [table.backtrack_coverages(), table.lookahead_coverages()] {
                        for coverage in around.iter() {
                            self.cover(coverage?);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn context(&mut self, context: SequenceContext<'_>) -> Result<(), ReadError> {
        match context {
            SequenceContext::Format1(context) => {
                self.cover(context.coverage()?);
                for set in context.seq_rule_sets().iter().flatten() {
                    for rule in set?.seq_rules().iter() {
                        self.name(rule?.input_sequence());
                    }
                }
            }
            SequenceContext::Format2(context) => {
                self.cover(context.coverage()?);
                self.classes(context.class_def()?);
                for set in context.class_seq_rule_sets().iter().flatten() {
                    for rule in set?.class_seq_rules().iter() {
                        self.others(rule?.input_sequence());
                    }
                }
            }
            SequenceContext::Format3(context) => {
                for coverage in context.coverages().iter() {
                    self.cover(coverage?);
                }
            }
        }
        Ok(())
    }

    fn chained(&mut self, context: ChainedSequenceContext<'_>) -> Result<(), ReadError> {
        match context {
            ChainedSequenceContext::Format1(context) => {
                self.cover(context.coverage()?);
                for set in context.chained_seq_rule_sets().iter().flatten() {
                    for rule in set?.chained_seq_rules().iter() {
                        let rule = rule?;
                        self.name(rule.backtrack_sequence());
                        self.name(rule.input_sequence());
                        self.name(rule.lookahead_sequence());
                    }
                }
            }
            ChainedSequenceContext::Format2(context) => {
                self.cover(context.coverage()?);
                self.classes(context.backtrack_class_def()?);
                self.classes(context.input_class_def()?);
                self.classes(context.lookahead_class_def()?);
                for set in context.chained_class_seq_rule_sets().iter().flatten() {
                    for rule in set?.chained_class_seq_rules().iter() {
                        let rule = rule?;
                        self.others(rule.backtrack_sequence());
                        self.others(rule.input_sequence());
                        self.others(rule.lookahead_sequence());
                    }
                }
            }
            ChainedSequenceContext::Format3(context) => {
                let parts = [
                    context.backtrack_coverages(),
                    context.input_coverages(),
                    context.lookahead_coverages(),
                ];
                for part in parts {
                    for coverage in part.iter() {
                        self.cover(coverage?);
                    }
                }
            }
        }
        Ok(())
    }

    fn cover(&mut self, coverage: CoverageTable<'_>) {
        self.glyphs.extend(coverage.iter().map(|glyph| glyph.to_u16()));
    }

    fn name(&mut self, glyphs: &[BigEndian<GlyphId16>]) {
        self.glyphs.extend(glyphs.iter().map(|glyph| glyph.get().to_u16()));
    }

    fn classes(&mut self, classes: ClassDef<'_>) {
        let named = classes.iter().filter(|(_, class)| *class != 0);
        self.glyphs.extend(named.map(|(glyph, _)| glyph.to_u16()));
    }

    /// If a rule uses class 0, all glyphs take part: class 0 contains every glyph that is in no other class.
    fn others(&mut self, classes: &[BigEndian<u16>]) {
        self.all |= classes.iter().any(|class| class.get() == 0);
    }
}

/// Cells that are drawn together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// First cell, from the start of the text.
    pub(crate) start: u16,
    /// Number of cells.
    pub(crate) cells: u16,
    /// The glyphs, positioned relative to the start of the text.
    pub(crate) glyphs: Box<[PlacedGlyph]>,
}

/// The maximum number of cells to shape together. A longer text, such as a line of thousands of equal characters, is
/// not a ligature.
pub(crate) const MAX_CELLS: usize = 256;

/// Texts to cache before the cache is cleared.
const MAX_TEXTS: usize = 1 << 12;

impl Shaper {
    /// The groups in a text of narrow characters that occupy one cell each.
    pub(crate) fn groups(
        &mut self,
        text: &str,
        form: Form,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Arc<[Group]> {
        // Multicell characters form no groups.
        let Some(index) = form.index() else { return Arc::new([]) };
        if let Some(known) = self.texts[index].get(text) {
            return known.clone();
        }
        let groups: Arc<[_]> = self.find_groups(text, form, fonts, glyphs).into();
        let texts = &mut self.texts[index];
        if texts.len() >= MAX_TEXTS {
            texts.clear();
        }
        texts.insert(text.into(), groups.clone());
        groups
    }

    fn find_groups(
        &mut self,
        text: &str,
        form: Form,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Vec<Group> {
        let cells: Vec<(&str, u8)> =
            text.char_indices().map(|(at, c)| (&text[at..at + c.len_utf8()], 1)).collect();
        let placed = self.shape(&cells, form, fonts, glyphs);
        let width = fonts.metrics.stretched(form.stretch).width as i32;
        let count = cells.len();
        // For each cell: whether it looks as if drawn alone (`same`), and whether it is joined to the cell before it
        // (`joined`).
        let mut same = vec![false; count];
        let mut joined = vec![false; count + 1];
        let own = |cell: usize| placed.iter().filter(move |p| usize::from(p.cluster) == cell);
        for (cell, c) in text.chars().enumerate() {
            let alone = self.char(c, form, 1, fonts, glyphs);
            let at = (cell as i32 * width) as i16;
            same[cell] = own(cell).count() == alone.len()
                && own(cell)
                    .zip(alone.iter())
                    .all(|(a, b)| (a.glyph, a.dx.wrapping_sub(at), a.dy) == (b.glyph, b.dx, b.dy));
        }
        for cell in (0..count).filter(|cell| !same[*cell]) {
            for glyph in own(cell) {
                let picture = glyphs.get(glyph.glyph);
                let left = i32::from(glyph.dx) + picture.left;
                // A glyph may overhang its cell by this much without joining the next cell.
                let slack = width / 5;
                let last = count as i32 - 1;
                let from = ((left + slack).div_euclid(width)).clamp(0, cell as i32);
                let to = left + picture.width as i32 - 1 - slack;
                let to = to.div_euclid(width).clamp(cell as i32, last);
                for after in from + 1..=to {
                    joined[after as usize] = true;
                }
            }
        }
        // An empty cell exists only to make room for a neighbor's glyph. If no glyph reaches into it, join it with the
        // next cell.
        for cell in 0..count {
            let empty = !same[cell] && own(cell).next().is_none();
            if empty && !joined[cell] && !joined[cell + 1] {
                let after = if cell + 1 < count { cell + 1 } else { cell };
                joined[after] = after > 0;
            }
        }
        joined[count] = false;
        let mut groups = Vec::new();
        let mut start = 0;
        for end in 1..=count {
            if joined[end] {
                continue;
            }
            if same[start..end].contains(&false) {
                let glyphs = (start..end).flat_map(|cell| own(cell).copied()).collect();
                let (start, cells) = (start as u16, (end - start) as u16);
                groups.push(Group { start, cells, glyphs });
            }
            start = end;
        }
        groups
    }
}
