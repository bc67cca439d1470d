//! Instances on the GPU. Each row of a frame owns a slot in one buffer until the row's look changes, even while it
//! scrolls. So only changed rows are uploaded.

use std::ops::Range;

use bytemuck::Zeroable;
use rustc_hash::{FxHashMap, FxHashSet};
use unterm_term::Rgb;
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device, Queue};

use super::atlas::{Atlas, Full};
use crate::{Fill, FrameRow, GlyphCache};

/// One rectangle, as `shader.wgsl` reads it.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Instance {
    pub(super) place: [i32; 2],
    pub(super) size: [u16; 2],
    pub(super) texel: [u16; 2],
    pub(super) color: [u8; 4],
    pub(super) radius: f32,
    pub(super) background: [u8; 4],
}

pub(super) const SIZE: u64 = std::mem::size_of::<Instance>() as u64;

impl Instance {
    pub(super) fn fill(x: i32, y: i32, width: u32, height: u32, color: Rgb) -> Self {
        Self {
            place: [x, y],
            size: [clamp(width), clamp(height)],
            texel: [0; 2],
            color: [color.r, color.g, color.b, 255],
            radius: 0.0,
            background: [0; 4],
        }
    }
}

fn clamp(size: u32) -> u16 {
    u16::try_from(size).unwrap_or(u16::MAX)
}

/// A slot of the buffer.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The slot holds `1 << class` instances.
    class: u8,
    parts: Parts,
}

/// The instances of a row, in drawing order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    start: u32,
    /// The ends of the row's backgrounds, fills below text, glyphs, color glyphs and fills above text, in this order.
    ends: [u32; 5],
}

impl Parts {
    pub(super) fn backgrounds(&self) -> Range<u32> {
        self.start..self.ends[0]
    }

    pub(super) fn under(&self) -> Range<u32> {
        self.ends[0]..self.ends[1]
    }

    /// Backgrounds and the fills below text.
    pub(super) fn below(&self) -> Range<u32> {
        self.start..self.ends[1]
    }

    pub(super) fn masks(&self) -> Range<u32> {
        self.ends[1]..self.ends[2]
    }

    pub(super) fn pictures(&self) -> Range<u32> {
        self.ends[2]..self.ends[3]
    }

    pub(super) fn over(&self) -> Range<u32> {
        self.ends[3]..self.ends[4]
    }
}

/// The rows on the GPU, by version.
pub(super) struct Rows {
    pub(super) buffer: Buffer,
    capacity: u32,
    /// A copy of the buffer's contents that includes instances to upload. All new rows of a frame are uploaded
    /// together.
    mirror: Vec<Instance>,
    /// The part of `mirror` that is not uploaded yet.
    fresh: Range<usize>,
    slots: FxHashMap<u64, Slot>,
    /// Free slots of each class.
    free: Vec<Vec<u32>>,
    scratch: Vec<Instance>,
}

/// Class of the smallest slot: 1 << 4 instances.
const MIN_CLASS: u8 = 4;
/// The number of instances for which the buffer has room at first.
const FIRST_CAPACITY: u32 = 1 << 13;

impl Rows {
    pub(super) fn new(device: &Device) -> Self {
        Self {
            buffer: buffer(device, FIRST_CAPACITY),
            capacity: FIRST_CAPACITY,
            mirror: Vec::new(),
            fresh: 0..0,
            slots: FxHashMap::default(),
            free: vec![Vec::new(); 32],
            scratch: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.mirror.clear();
        self.fresh = 0..0;
        self.slots.clear();
        self.free.iter_mut().for_each(Vec::clear);
    }

    /// Frees the slots of rows that are no longer shown.
    pub(super) fn retain(&mut self, shown: &FxHashSet<u64>) {
        let free = &mut self.free;
        self.slots.retain(|version, slot| {
            let keep = shown.contains(version);
            if !keep {
                free[usize::from(slot.class)].push(slot.parts.start);
            }
            keep
        });
    }

    /// The instances of a row, which must be uploaded before they are drawn. With `lenient`, glyphs that don't fit the
    /// atlas are left out.
    pub(super) fn parts(
        &mut self,
        row: &FrameRow,
        glyphs: &GlyphCache,
        atlas: &mut Atlas,
        device: &Device,
        queue: &Queue,
        lenient: bool,
    ) -> Result<Parts, Full> {
        if let Some(slot) = self.slots.get(&row.version) {
            return Ok(slot.parts);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let fill =
            |fill: &Fill| Instance::fill(fill.x, fill.y, fill.width, fill.height, fill.color);
        let mut ends = [0; 5];
        scratch.extend(row.backgrounds.iter().map(fill));
        ends[0] = scratch.len() as u32;
        scratch.extend(row.under.iter().map(fill));
        ends[1] = scratch.len() as u32;
        for (end, colored) in [(2, false), (3, true)] {
            let wanted = row.glyphs.iter().filter(|one| glyphs.get(one.glyph).color == colored);
            for instance in wanted {
                let place = match atlas.place(instance.glyph, glyphs, device, queue) {
                    Ok(place) => place,
                    Err(Full) if lenient => continue,
                    Err(Full) => {
                        self.scratch = scratch;
                        return Err(Full);
                    }
                };
                let (color, background) = (instance.color, instance.background);
                scratch.push(Instance {
                    place: [instance.x, instance.y],
                    size: [instance.width, clamp(glyphs.get(instance.glyph).height)],
                    texel: [place.x + instance.left, place.y],
                    color: [color.r, color.g, color.b, instance.alpha],
                    radius: 0.0,
                    background: [background.r, background.g, background.b, 255],
                });
            }
            ends[end] = scratch.len() as u32;
        }
        scratch.extend(row.over.iter().map(fill));
        ends[4] = scratch.len() as u32;
        let (start, class) = self.store(&scratch);
        self.scratch = scratch;
        let parts = Parts { start, ends: ends.map(|end| start + end) };
        self.slots.insert(row.version, Slot { class, parts });
        Ok(parts)
    }

    /// Stores instances in a slot. Returns its start and its class.
    fn store(&mut self, instances: &[Instance]) -> (u32, u8) {
        let count = instances.len() as u32;
        let class = (count.max(1).next_power_of_two().trailing_zeros() as u8).max(MIN_CLASS);
        let start = match self.free[usize::from(class)].pop() {
            Some(start) => start,
            None => {
                let start = self.mirror.len();
                self.mirror.resize(start + (1 << class), Instance::zeroed());
                start as u32
            }
        };
        if count > 0 {
            let at = start as usize..start as usize + instances.len();
            self.mirror[at.clone()].copy_from_slice(instances);
            self.fresh = if self.fresh.is_empty() {
                at
            } else {
                self.fresh.start.min(at.start)..self.fresh.end.max(at.end)
            };
        }
        (start, class)
    }

    /// Uploads new instances, into a larger buffer if the old one is too small.
    pub(super) fn upload(&mut self, device: &Device, queue: &Queue) {
        if self.mirror.len() > self.capacity as usize {
            self.capacity = self.mirror.len().next_power_of_two() as u32;
            self.buffer = buffer(device, self.capacity);
            self.fresh = 0..self.mirror.len();
        }
        if !self.fresh.is_empty() {
            let at = self.fresh.start as u64 * SIZE;
            let fresh = &self.mirror[self.fresh.clone()];
            queue.write_buffer(&self.buffer, at, bytemuck::cast_slice(fresh));
            self.fresh = 0..0;
        }
    }
}

fn buffer(device: &Device, capacity: u32) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some("rows"),
        size: u64::from(capacity) * SIZE,
        usage: BufferUsages::VERTEX | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
