//! Finds the characters of a face that can form ligatures: those that its substitution table (OpenType's GSUB) names in a
//! rule for several glyphs.

use cosmic_text::Font;
use read_fonts::tables::gsub::{Gsub, SingleSubst, SubstitutionLookup, SubstitutionSubtables};
use read_fonts::tables::layout::{
    ChainedSequenceContext, ClassDef, CoverageTable, SequenceContext,
};
use read_fonts::types::{BigEndian, GlyphId16, Tag};
use read_fonts::{FontData, FontRead, ReadError};
use rustc_hash::FxHashSet;

use crate::font::FontFeature;

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
