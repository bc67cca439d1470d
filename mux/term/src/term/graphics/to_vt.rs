//! Writes a terminal's images as sequences that show them again, for [`Term::to_vt`].
//!
//! Kitty images are written unchanged, with frames, placements and ids. Sixel and iTerm2 images in cells are written as
//! iTerm2 files, one piece per row, because any row of an image may have scrolled away or been overwritten.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::ImageEncoder as _;

use super::Layer;
use super::animation::Run;
use super::pixels::Pixels;
use super::placement::{Anchor, CellSize, Placement, PlacementKey};
use super::store::{Frame, Image};
use crate::grid::RowView;
use crate::grid::style::Style;
use crate::grid::tiles::Tile;
use crate::term::painter::{Look, Painter};
use crate::term::{ScreenKind, Term};

/// Bytes of base64 per command, the protocol's maximum.
const CHUNK: usize = 4096;

/// The placements of a screen by the line they begin on.
pub(crate) type ByLine = BTreeMap<i64, Vec<PlacementKey>>;

impl Term {
    fn layer(&self, screen: ScreenKind) -> &Layer {
        if screen == self.screen { &self.graphics.shown } else { &self.graphics.hidden }
    }

    /// Writes a screen's images that have an id, with their frames, before anything shows them. Returns the placements
    /// anchored to lines.
    pub(crate) fn write_images(&self, painter: &mut Painter, screen: ScreenKind) -> ByLine {
        let layer = self.layer(screen);
        for (_, image) in layer.store.iter().filter(|(_, image)| image.id != 0) {
            let id = image.id;
            let hint = |frame: &Frame| if frame.is_transient { ",N=1" } else { "" };
            let first = &image.frames[0];
            send(painter, &format!("a=t,i={id}{}", hint(first)), &first.pixels);
            for frame in &image.frames[1..] {
                // A `z` of 0 would mean the default of 40 milliseconds; a negative `z` means no gap.
                let gap = if frame.gap == 0 { -1 } else { frame.gap as i64 };
                let keys = format!("a=f,i={id},X=1,z={gap}{}", hint(frame));
                send(painter, &keys, &frame.pixels);
            }
            let (first, animation) = (image.frames[0].gap, &image.animation);
            if image.frames.len() > 1 || first > 0 {
                let run = match animation.run {
                    Run::Stopped => 1,
                    Run::Loading => 2,
                    Run::Looping => 3,
                };
                let (at, loops) = (animation.current + 1, animation.loops.saturating_add(1));
                command(painter, &format!("a=a,i={id},r=1,z={first},c={at},s={run},v={loops}"));
            }
        }
        let mut by_line = ByLine::new();
        for (key, placement) in layer.placements() {
            if let Anchor::Cell { line, .. } = placement.anchor {
                by_line.entry(line).or_default().push(key);
            }
        }
        by_line
    }

    /// Writes the images of a row: the placements that begin on its line or, on the `oldest` line kept, reach into it
    /// from above, and the pieces in its cells. The row is already painted, as row `row` of the screen.
    pub(crate) fn write_row_images(
        &self,
        painter: &mut Painter,
        screen: ScreenKind,
        by_line: &ByLine,
        row: usize,
        (line, oldest): (u64, u64),
        view: &RowView<'_>,
    ) {
        let layer = self.layer(screen);
        let line = line as i64;
        let first = if line as u64 == oldest { i64::MIN } else { line };
        for key in by_line.range(first..=line).flat_map(|(_, keys)| keys) {
            let Some(placement) = layer.placement(*key) else { continue };
            let (mut placement, cell) = (*placement, self.cell_size());
            let Anchor::Cell { line: start, col } = placement.anchor else { continue };
            let above = (line - start).clamp(0, u32::MAX as i64) as u32;
            if above > 0 && !placement.cut(above, true, cell) {
                continue;
            }
            painter.go(row, (col.max(0) as usize).min(self.grid.cols() - 1));
            put(painter, layer, &placement, "");
        }
        if view.cells.iter().any(|cell| cell.tile().is_some()) {
            self.write_tiles(painter, layer, row, line as u64, view);
        }
    }

    /// Writes the placements without a line: virtual placements, and placements relative to others.
    pub(crate) fn write_hung_images(&self, painter: &mut Painter, screen: ScreenKind) {
        let layer = self.layer(screen);
        for (_, placement) in layer.placements() {
            if placement.anchor == Anchor::Virtual {
                put(painter, layer, placement, ",U=1");
            }
        }
        // Parents before children.
        let mut hung: Vec<_> = layer
            .placements()
            .filter(|(_, placement)| matches!(placement.anchor, Anchor::Parent { .. }))
            .map(|(key, placement)| (depth(layer, key), key, placement))
            .collect();
        hung.sort_unstable_by_key(|(depth, key, _)| (*depth, *key));
        for (_, _, placement) in hung {
            let Anchor::Parent { parent, cols, rows } = placement.anchor else { continue };
            let Some(parent) = layer.placement(parent) else { continue };
            let Some(image) = layer.store.get(parent.image) else { continue };
            let keys = format!(",P={},Q={},H={cols},V={rows}", image.id, parent.id);
            put(painter, layer, placement, &keys);
        }
    }

    fn write_tiles(
        &self,
        painter: &mut Painter,
        layer: &Layer,
        row: usize,
        line: u64,
        view: &RowView<'_>,
    ) {
        let tile = |col: usize| view.cells.get(col).and_then(|cell| layer.tiles.find(*cell, line));
        let mut col = 0;
        while col < view.cells.len() {
            let Some(first) = tile(col) else {
                col += 1;
                continue;
            };
            let follows = |len: &usize| {
                tile(col + len).is_some_and(|tile| {
                    (tile.of.image, tile.row, tile.col as usize)
                        == (first.of.image, first.row, first.col as usize + len)
                })
            };
            let len = (1..).take_while(follows).count() + 1;
            let image = layer.store.get(first.of.image);
            if let Some(file) = image.and_then(|image| piece(image, &first, len, self.cell_size()))
            {
                let background = view.tables.style(view.cells[col].style_id()).background;
                painter.go(row, col);
                painter.look(&Look {
                    style: Style { background, ..Style::default() },
                    ..Look::default()
                });
                painter.osc(format_args!(
                    "1337;File=inline=1;doNotMoveCursor=1;preserveAspectRatio=0;width={len};height=1:{}",
                    STANDARD.encode(file)
                ));
            }
            col += len;
        }
    }

    /// Writes the number of color registers and, if images share them, their colors in percent.
    pub(crate) fn write_sixel_settings(&self, painter: &mut Painter) {
        let mut text = String::new();
        let _ = write!(text, "\x1b[?1;3;{}S", self.graphics.sixel.registers());
        if let Some(colors) = self.graphics.sixel.shared() {
            text.push_str("\x1b[?1070l\x1bPq");
            for (i, color) in colors.iter().enumerate() {
                let [r, g, b] = [color.r, color.g, color.b].map(|c| (c as u32 * 100 + 127) / 255);
                let _ = write!(text, "#{i};2;{r};{g};{b}");
            }
            text.push_str("\x1b\\");
        }
        painter.raw(&text);
    }
}

/// The length of a placement's chain of parents, itself included.
fn depth(layer: &Layer, key: PlacementKey) -> usize {
    let parent = |key: &PlacementKey| match layer.placement(*key)?.anchor {
        Anchor::Parent { parent, .. } => Some(parent),
        _ => None,
    };
    std::iter::successors(Some(key), parent).take(super::kitty::PARENTS_CAP + 2).count()
}

/// Writes a command without data, with replies suppressed.
fn command(painter: &mut Painter, keys: &str) {
    painter.put(&format!("\x1b_G{keys},q=2\x1b\\"));
}

/// Writes a command with pixels, in chunks.
fn send(painter: &mut Painter, keys: &str, pixels: &Pixels) {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing to memory never fails.
    let packed = zlib.write_all(pixels.rgba()).and_then(|()| zlib.finish()).unwrap_or_default();
    let encoded = STANDARD.encode(packed);
    let mut start = 0;
    while start < encoded.len() {
        let end = (start + CHUNK).min(encoded.len());
        let more = (end < encoded.len()) as u8;
        let chunk = &encoded[start..end];
        painter.put(&match start {
            0 => {
                let (width, height) = (pixels.width(), pixels.height());
                format!("\x1b_G{keys},q=2,f=32,o=z,s={width},v={height},m={more};{chunk}\x1b\\")
            }
            _ => format!("\x1b_Gm={more},q=2;{chunk}\x1b\\"),
        });
        start = end;
    }
}

/// Shows an image at the cursor. An image without an id cannot be referred to, so it is also sent.
fn put(painter: &mut Painter, layer: &Layer, placement: &Placement, keys: &str) {
    let Some(image) = layer.store.get(placement.image) else { return };
    let Placement { id, source, x, y, cols, rows, z, .. } = *placement;
    let mut all = format!("C=1{keys}");
    let whole = (image.width() as f32, image.height() as f32);
    let source = [source.x, source.y, source.width, source.height].map(f32::round);
    let part = (source != [0.0, 0.0, whole.0, whole.1]).then_some(source);
    let [left, top, width, height] = part.unwrap_or_default().map(|pixels| pixels as i64);
    let least = i64::from(part.is_some());
    for (key, value) in [
        ("p", id as i64),
        ("x", left),
        ("y", top),
        ("w", width.max(least)),
        ("h", height.max(least)),
        ("X", x as i64),
        ("Y", y as i64),
        ("c", cols as i64),
        ("r", rows as i64),
        ("z", z as i64),
    ] {
        if value != 0 {
            let _ = write!(all, ",{key}={value}");
        }
    }
    match image.id {
        0 => send(painter, &format!("a=T,{all}"), image.shown()),
        image => command(painter, &format!("a=p,i={image},{all}")),
    }
}

/// Adjacent tiles of an image as a PNG of whole cells, at the image's resolution or, if it is magnified, at the
/// screen's.
fn piece(image: &Image, first: &Tile, len: usize, cell: CellSize) -> Option<Vec<u8>> {
    let (across, down) = first.of.per_cell;
    let (left, top) = (first.col as f32 * across, first.row as f32 * down);
    let width = (len as f32 * across).round().max((len * cell.width as usize) as f32);
    let height = down.round().max(cell.height as f32);
    let (x_step, y_step) = (len as f32 * across / width, down / height);
    let (width, height) = (width as usize, height as usize);
    let pixels = image.shown();
    let mut rgba = Vec::with_capacity(width * height * 4);
    for row in 0..height {
        let y = (top + (row as f32 + 0.5) * y_step) as usize;
        for col in 0..width {
            let x = (left + (col as f32 + 0.5) * x_step) as usize;
            let is_inside = x < pixels.width() as usize && y < pixels.height() as usize;
            let at = (y * pixels.width() as usize + x) * 4;
            let pixel = if is_inside { &pixels.rgba()[at..at + 4] } else { &[0; 4] };
            rgba.extend_from_slice(pixel);
        }
    }
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    let (width, height) = (width as u32, height as u32);
    encoder.write_image(&rgba, width, height, image::ExtendedColorType::Rgba8).ok()?;
    Some(png)
}
