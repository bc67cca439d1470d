//! The GPU painter (wgpu). Draws a frame into a texture that persists from frame to frame, so that only changed parts
//! are drawn again.

mod atlas;
mod chrome;
mod images;
mod pipeline;
mod plan;
mod rows;
pub(crate) mod surface;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;
use wgpu::{
    Adapter, AdapterInfo, Buffer, BufferDescriptor, BufferUsages, CommandBuffer,
    CommandEncoderDescriptor, Device, DeviceDescriptor, Extent3d, Limits, LoadOp, MapMode,
    Operations, PollType, Queue, RenderPassColorAttachment, RenderPassDescriptor, StoreOp,
    TexelCopyBufferInfo, TexelCopyBufferLayout, Texture, TextureDescriptor, TextureDimension,
    TextureFormat, TextureUsages, TextureView, TextureViewDescriptor,
};

use atlas::{Atlas, Full};
use chrome::Chrome;
use images::Images;
use pipeline::Pipeline;
use plan::{Call, Plan, PlannedRow, Source};
use rows::Rows;

use crate::{Blending, Damage, Frame, GlyphCache, PainterError, PixelRect, Renderer};

/// Paints frames into its own texture.
pub struct GpuPainter {
    device: Device,
    queue: Queue,
    info: AdapterInfo,
    /// Format of the picture if colors are blended as coded values.
    format: TextureFormat,
    /// The blending that the pipelines and the picture were made for.
    blending: Blending,
    atlas: Atlas,
    rows: Rows,
    pipeline: Pipeline,
    chrome: Chrome,
    images: Images,
    /// Rectangles that do not belong to a row, such as backgrounds and quads.
    areas: Buffer,
    areas_room: usize,
    target: Option<Target>,
    last: Option<Arc<Frame>>,
    lost: Arc<AtomicBool>,
}

/// The texture with the picture.
struct Target {
    texture: Texture,
    view: TextureView,
    width: u32,
    height: u32,
}

impl GpuPainter {
    /// A painter without a window, on the first adapter found, even a software one. [`GpuPainter::read`] returns the
    /// picture.
    pub fn offscreen() -> Result<Self, PainterError> {
        let find = |backends| {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends,
                ..wgpu::InstanceDescriptor::new_without_display_handle()
            });
            pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
        };
        let adapter = find(wgpu::Backends::PRIMARY)
            .or_else(|_| find(wgpu::Backends::GL))
            .map_err(|error| PainterError::NoAdapter(error.to_string()))?;
        Self::new(&adapter, TextureFormat::Bgra8Unorm)
    }

    /// A painter on this adapter, with a picture in this format.
    pub(crate) fn new(adapter: &Adapter, format: TextureFormat) -> Result<Self, PainterError> {
        let (device, queue) = pollster::block_on(adapter.request_device(&DeviceDescriptor {
            label: Some("unterm"),
            required_limits: Limits::downlevel_webgl2_defaults().using_resolution(adapter.limits()),
            ..Default::default()
        }))
        .map_err(|error| PainterError::NoAdapter(error.to_string()))?;
        let lost = Arc::new(AtomicBool::new(false));
        let flag = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                tracing::warn!(?reason, message, "the GPU device is lost");
                flag.store(true, Ordering::Relaxed);
            }
        });
        device.on_uncaptured_error(Arc::new(|error| {
            tracing::error!(%error, "wgpu");
        }));
        let atlas = Atlas::new(&device);
        Ok(Self {
            pipeline: Pipeline::new(&device, format, &atlas),
            chrome: Chrome::new(&device, &queue, format),
            rows: Rows::new(&device),
            images: Images::default(),
            areas: areas_buffer(&device, 16),
            areas_room: 16,
            atlas,
            info: adapter.get_info(),
            format,
            blending: Blending::Native,
            target: None,
            last: None,
            lost,
            device,
            queue,
        })
    }

    /// Name, type and driver of the adapter.
    pub fn adapter(&self) -> String {
        format!("{} ({:?}, {})", self.info.name, self.info.device_type, self.info.backend)
    }

    /// Whether the device is lost and a new painter is needed.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Paints the renderer's last frame into the texture and returns what changed since the frame before it.
    pub fn paint(&mut self, renderer: &mut Renderer) -> Vec<PixelRect> {
        let (changed, commands) = self.record(renderer);
        self.queue.submit(commands);
        changed
    }

    /// Waits until the GPU has finished painting.
    pub fn finish(&self) -> Result<(), PainterError> {
        let waited = self.device.poll(PollType::wait_indefinitely());
        waited.map(drop).map_err(|error| PainterError::Surface(error.to_string()))
    }

    /// Records the commands that paint the renderer's last frame into the texture, if anything changed, and returns the
    /// changed rectangles. The commands must be submitted before those of the next frame.
    fn record(&mut self, renderer: &mut Renderer) -> (Vec<PixelRect>, Option<CommandBuffer>) {
        let frame = renderer.last_frame().clone();
        if frame.width == 0 || frame.height == 0 {
            return (Vec::new(), None);
        }
        let most = self.device.limits().max_texture_dimension_2d;
        if frame.width > most || frame.height > most {
            tracing::warn!(frame.width, frame.height, most, "the frame is too large for the GPU");
            return (Vec::new(), None);
        }
        if self.blending != frame.blending {
            self.blend(frame.blending);
        }
        let same = self
            .target
            .as_ref()
            .is_some_and(|target| (target.width, target.height) == (frame.width, frame.height));
        if !same {
            let format = self.picture_format();
            self.target = Some(Target::new(&self.device, format, frame.width, frame.height));
            self.last = None;
        }
        let damage = match &self.last {
            Some(last) => Damage::between(last, &frame),
            None => Damage::whole(&frame),
        };
        if self.atlas.generation != frame.glyphs {
            self.atlas.clear(frame.glyphs);
            self.rows.clear();
            self.chrome.reset();
        }
        let mut commands = None;
        if !damage.is_empty() {
            let system = &mut renderer.fonts.system;
            let swash = &mut renderer.swash;
            self.chrome.prepare(&frame, &self.device, &self.queue, system, swash);
            commands = self.draw(&frame, &renderer.glyphs, &damage.rects);
        }
        self.last = Some(frame);
        (damage.rects, commands)
    }

    /// The format of the picture. To blend colors as light, it is an sRGB format, which converts the result to coded
    /// values.
    fn picture_format(&self) -> TextureFormat {
        match self.blending {
            Blending::Native => self.format,
            Blending::Linear => self.format.add_srgb_suffix(),
        }
    }

    /// Changes the blending, and rebuilds everything that depends on it.
    fn blend(&mut self, blending: Blending) {
        self.blending = blending;
        let format = self.picture_format();
        self.pipeline = Pipeline::new(&self.device, format, &self.atlas);
        self.chrome = Chrome::new(&self.device, &self.queue, format);
        self.images = Images::default();
        self.target = None;
        self.last = None;
    }

    /// The picture as `0xAARRGGBB` pixels, row by row, with channels multiplied by their opacity. Empty before the
    /// first frame.
    pub fn read(&self) -> Result<Vec<u32>, PainterError> {
        let failed = |error: &dyn std::fmt::Display| PainterError::Surface(error.to_string());
        let Some(target) = &self.target else { return Ok(Vec::new()) };
        let stride = (target.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some("picture"),
            size: u64::from(stride) * u64::from(target.height),
            usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
        encoder.copy_texture_to_buffer(
            target.texture.as_image_copy(),
            TexelCopyBufferInfo {
                buffer: &buffer,
                layout: TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(stride),
                    rows_per_image: None,
                },
            },
            target.size(),
        );
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        buffer.slice(..).map_async(MapMode::Read, move |result| {
            // Ignore the error: the receiver below is gone only if polling failed.
            let _ = sender.send(result);
        });
        self.device.poll(PollType::wait_indefinitely()).map_err(|error| failed(&error))?;
        receiver.recv().map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        let bytes = buffer.slice(..).get_mapped_range().map_err(|error| failed(&error))?;
        let swapped = self.format == TextureFormat::Rgba8Unorm;
        let pixels = bytes
            .chunks_exact(stride as usize)
            .flat_map(|row| row[..target.width as usize * 4].chunks_exact(4))
            .map(|pixel| {
                let [a, g, b, opacity] = [pixel[0], pixel[1], pixel[2], pixel[3]].map(u32::from);
                let (red, blue) = if swapped { (a, b) } else { (b, a) };
                opacity << 24 | red << 16 | g << 8 | blue
            })
            .collect();
        Ok(pixels)
    }

    fn draw(
        &mut self,
        frame: &Frame,
        glyphs: &GlyphCache,
        rects: &[PixelRect],
    ) -> Option<CommandBuffer> {
        let shown: FxHashSet<u64> =
            frame.panes.iter().flat_map(|pane| pane.rows.iter().map(|row| row.version)).collect();
        self.rows.retain(&shown);
        self.images.prepare(frame, &self.device, &self.queue, &self.pipeline);
        let plan = match self.plan(frame, glyphs, rects, false) {
            Ok(plan) => Ok(plan),
            Err(Full) => {
                // The atlas has no room for more glyphs: keep only those of this frame.
                tracing::debug!("atlas full: emptied");
                self.atlas.clear(frame.glyphs);
                self.rows.clear();
                self.plan(frame, glyphs, rects, true)
            }
        };
        let Plan { areas, draws, calls, .. } = plan.ok()?;
        self.rows.upload(&self.device, &self.queue);
        if self.atlas.replaced {
            self.atlas.replaced = false;
            self.pipeline.rebind(&self.device, &self.atlas);
        }
        if areas.len() > self.areas_room {
            self.areas_room = areas.len().next_power_of_two();
            self.areas = areas_buffer(&self.device, self.areas_room);
        }
        self.queue.write_buffer(&self.areas, 0, bytemuck::cast_slice(&areas));
        self.pipeline.upload(&self.device, &self.queue, &draws);

        let target = self.target.as_ref()?;
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("frame"),
            color_attachments: &[Some(RenderPassColorAttachment {
                view: &target.view,
                depth_slice: None,
                resolve_target: None,
                ops: Operations { load: LoadOp::Load, store: StoreOp::Store },
            })],
            ..Default::default()
        });
        for rect in rects {
            let rect = rect.intersection(&frame.rect());
            pass.set_scissor_rect(rect.x as u32, rect.y as u32, rect.width, rect.height);
            // The pipeline, textures and instance buffer that the render pass uses now.
            let (mut set, mut bound, mut buffer) = (None, None, None);
            for call in &calls {
                let (kind, source, instances, draw) = match call {
                    Call::Text { layer } => {
                        // Text sets its own pipeline, so the next call must set its pipeline again.
                        self.chrome.draw(*layer, &mut pass);
                        (set, bound, buffer) = (None, None, None);
                        continue;
                    }
                    Call::Rectangles { rect: own, .. } if own.intersection(&rect).is_empty() => {
                        continue;
                    }
                    Call::Rectangles { kind, source, instances, draw, .. } => {
                        (*kind, *source, instances.clone(), *draw)
                    }
                };
                let image = match source {
                    Source::Image(image) => Some(image),
                    Source::Areas | Source::Rows => None,
                };
                if bound.replace(image) != Some(image) {
                    let glyphs = Some(&self.pipeline.glyph_group);
                    let Some(group) = image.map_or(glyphs, |image| self.images.group(image)) else {
                        bound = None;
                        continue;
                    };
                    pass.set_bind_group(1, group, &[]);
                }
                if set.replace(kind) != Some(kind) {
                    pass.set_pipeline(self.pipeline.of(kind));
                }
                let of_rows = source == Source::Rows;
                if buffer.replace(of_rows) != Some(of_rows) {
                    let instances = if of_rows { &self.rows.buffer } else { &self.areas };
                    pass.set_vertex_buffer(0, instances.slice(..));
                }
                pass.set_bind_group(0, &self.pipeline.draw_group, &[draw * self.pipeline.stride]);
                pass.draw(0..4, instances);
            }
        }
        drop(pass);
        Some(encoder.finish())
    }

    /// Plans what to draw: backgrounds, the rows that touch a damaged rectangle, images, chrome.
    fn plan(
        &mut self,
        frame: &Frame,
        glyphs: &GlyphCache,
        rects: &[PixelRect],
        lenient: bool,
    ) -> Result<Plan, Full> {
        let mut plan = Plan::new(frame);
        for pane in &frame.panes {
            let mut rows = Vec::new();
            for (index, row) in pane.rows.iter().enumerate() {
                let rect = pane.row_rect(index).intersection(&frame.rect());
                if rects.iter().all(|damaged| damaged.intersection(&rect).is_empty()) {
                    continue;
                }
                let (device, queue) = (&self.device, &self.queue);
                let atlas = &mut self.atlas;
                let parts = self.rows.parts(row, glyphs, atlas, device, queue, lenient)?;
                rows.push(PlannedRow { parts, index });
            }
            plan.pane(pane, &rows);
        }
        for (layer, (quads, labels)) in frame.chrome.layers().enumerate() {
            plan.chrome(layer, &frame.chrome.quads[quads], !labels.is_empty());
        }
        Ok(plan)
    }
}

fn areas_buffer(device: &Device, room: usize) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some("areas"),
        size: room as u64 * rows::SIZE,
        usage: BufferUsages::VERTEX | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

impl Target {
    fn new(device: &Device, format: TextureFormat, width: u32, height: u32) -> Self {
        let texture = device.create_texture(&TextureDescriptor {
            label: Some("picture"),
            size: Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format,
            usage: TextureUsages::RENDER_ATTACHMENT
                | TextureUsages::COPY_SRC
                | TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = texture.create_view(&TextureViewDescriptor::default());
        Self { texture, view, width, height }
    }

    fn size(&self) -> Extent3d {
        Extent3d { width: self.width, height: self.height, depth_or_array_layers: 1 }
    }
}
