//! Glyphs in two textures, one for coverage and one for color. Each is filled shelf by shelf and grows in height when
//! full.

use wgpu::{
    CommandEncoderDescriptor, Device, Extent3d, Origin3d, Queue, TexelCopyBufferLayout,
    TexelCopyTextureInfo, Texture, TextureAspect, TextureDescriptor, TextureDimension,
    TextureFormat, TextureUsages,
};

use crate::{Glyph, GlyphCache, GlyphId};

const WIDTH: u32 = 2048;
const FIRST_HEIGHT: u32 = 256;

/// The position of a glyph in its texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtlasPosition {
    pub(super) x: u16,
    pub(super) y: u16,
}

/// The texture has no room for another glyph and can't grow.
#[derive(Debug)]
pub(super) struct Full;

/// A texture and the shelves in it.
struct Sheet {
    texture: Texture,
    format: TextureFormat,
    height: u32,
    shelves: Shelves,
}

/// The free space in a texture that is [`WIDTH`] wide: shelves of glyphs with similar heights, filled from the left.
#[derive(Default)]
struct Shelves {
    /// For each shelf: its top, its height, and the left edge of its free part.
    shelves: Vec<(u32, u32, u32)>,
    bottom: u32,
}

impl Shelves {
    /// Finds a free position for a rectangle of this size in a texture that is `limit` pixels high.
    fn place(&mut self, width: u32, height: u32, limit: u32) -> Option<(u32, u32)> {
        if width > WIDTH {
            return None;
        }
        // Prefer a shelf of about this height. If there is no room for a new shelf, use any that is high enough.
        let tight = height + height / 4 + 2;
        for most in [tight, u32::MAX] {
            let fits = self
                .shelves
                .iter_mut()
                .filter(|(_, h, used)| (height..=most).contains(h) && WIDTH - *used >= width)
                .min_by_key(|(_, h, _)| *h);
            if let Some((top, _, used)) = fits {
                let x = *used;
                *used += width;
                return Some((x, *top));
            }
            if self.bottom + height <= limit {
                break;
            }
        }
        if self.bottom + height > limit {
            return None;
        }
        let top = self.bottom;
        self.bottom += height;
        self.shelves.push((top, height, width));
        Some((0, top))
    }
}

/// The glyphs on the GPU.
pub(super) struct Atlas {
    masks: Sheet,
    colors: Sheet,
    places: Vec<Option<AtlasPosition>>,
    /// The glyph cache generation of the stored glyphs.
    pub(super) generation: u64,
    limit: u32,
    /// Whether a texture was replaced since its views were bound, so that the views must be replaced too.
    pub(super) replaced: bool,
}

impl Sheet {
    fn new(device: &Device, format: TextureFormat, height: u32) -> Self {
        let texture = device.create_texture(&TextureDescriptor {
            label: Some("glyphs"),
            size: Extent3d { width: WIDTH, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format,
            usage: TextureUsages::TEXTURE_BINDING
                | TextureUsages::COPY_DST
                | TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Self { texture, format, height, shelves: Shelves::default() }
    }

    /// Doubles the texture's height, up to `limit`. Glyphs keep their positions. Returns false if the height is already
    /// at `limit`.
    fn grow(&mut self, device: &Device, queue: &Queue, limit: u32) -> bool {
        let height = (self.height * 2).min(limit);
        if height == self.height {
            return false;
        }
        let larger = Self::new(device, self.format, height);
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
        let size = Extent3d { width: WIDTH, height: self.height, depth_or_array_layers: 1 };
        encoder.copy_texture_to_texture(
            self.texture.as_image_copy(),
            larger.texture.as_image_copy(),
            size,
        );
        queue.submit([encoder.finish()]);
        self.texture = larger.texture;
        self.height = height;
        true
    }
}

impl Atlas {
    pub(super) fn new(device: &Device) -> Self {
        Self {
            masks: Sheet::new(device, TextureFormat::R8Unorm, FIRST_HEIGHT),
            colors: Sheet::new(device, TextureFormat::Rgba8Unorm, FIRST_HEIGHT),
            places: Vec::new(),
            generation: u64::MAX,
            limit: device.limits().max_texture_dimension_2d.min(8192),
            replaced: true,
        }
    }

    /// Removes all glyphs. The textures keep their size.
    pub(super) fn clear(&mut self, generation: u64) {
        self.masks.shelves = Shelves::default();
        self.colors.shelves = Shelves::default();
        self.places.clear();
        self.generation = generation;
    }

    pub(super) fn textures(&self) -> (&Texture, &Texture) {
        (&self.masks.texture, &self.colors.texture)
    }

    /// Returns the position of a glyph. Uploads the glyph if the atlas does not contain it yet.
    pub(super) fn place(
        &mut self,
        id: GlyphId,
        glyphs: &GlyphCache,
        device: &Device,
        queue: &Queue,
    ) -> Result<AtlasPosition, Full> {
        let index = id.0 as usize;
        if let Some(Some(place)) = self.places.get(index) {
            return Ok(*place);
        }
        let glyph = glyphs.get(id);
        let sheet = if glyph.color { &mut self.colors } else { &mut self.masks };
        let (x, y) = loop {
            match sheet.shelves.place(glyph.width, glyph.height, sheet.height) {
                Some(place) => break place,
                None if glyph.width <= WIDTH && sheet.grow(device, queue, self.limit) => {
                    self.replaced = true;
                    tracing::debug!(height = sheet.height, color = glyph.color, "atlas grown");
                }
                None => return Err(Full),
            }
        };
        upload(queue, &sheet.texture, glyph, x, y);
        let place = AtlasPosition { x: x as u16, y: y as u16 };
        if self.places.len() <= index {
            self.places.resize(index + 1, None);
        }
        self.places[index] = Some(place);
        Ok(place)
    }
}

fn upload(queue: &Queue, texture: &Texture, glyph: &Glyph, x: u32, y: u32) {
    let pixel = if glyph.color { 4 } else { 1 };
    queue.write_texture(
        TexelCopyTextureInfo {
            texture,
            mip_level: 0,
            origin: Origin3d { x, y, z: 0 },
            aspect: TextureAspect::All,
        },
        &glyph.data,
        TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(glyph.width * pixel),
            rows_per_image: None,
        },
        Extent3d { width: glyph.width, height: glyph.height, depth_or_array_layers: 1 },
    );
}

#[cfg(test)]
mod tests {
    use super::{Shelves, WIDTH};

    /// Glyphs never overlap and never leave the texture. A glyph that doesn't fit gets no position.
    #[test]
    fn glyphs_in_the_atlas_do_not_overlap() {
        let mut shelves = Shelves::default();
        let mut taken: Vec<(u32, u32, u32, u32)> = Vec::new();
        let sizes = (0..4000).map(|i: u32| (5 + i * 7 % 40, 8 + i * 13 % 30));
        for (width, height) in sizes {
            let Some((x, y)) = shelves.place(width, height, 256) else { continue };
            assert!(x + width <= WIDTH && y + height <= 256);
            for (left, top, right, bottom) in &taken {
                let apart = x >= *right || x + width <= *left || y >= *bottom || y + height <= *top;
                assert!(apart, "{width}×{height} at {x},{y}");
            }
            taken.push((x, y, x + width, y + height));
        }
        let used: u32 = taken.iter().map(|(l, t, r, b)| (r - l) * (b - t)).sum();
        assert!(used > WIDTH * 256 / 2, "{used} pixels used by {} glyphs", taken.len());
        assert_eq!(shelves.place(WIDTH + 1, 1, 256), None);
    }
}
