//! The pipelines that draw rectangles, and their bindings.

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingResource, BindingType, BlendComponent, BlendFactor,
    BlendOperation, BlendState, Buffer, BufferBinding, BufferBindingType, BufferDescriptor,
    BufferUsages, ColorTargetState, ColorWrites, Device, FragmentState, MultisampleState,
    PipelineCompilationOptions, PipelineLayoutDescriptor, PrimitiveState, PrimitiveTopology, Queue,
    RenderPipeline, RenderPipelineDescriptor, ShaderModuleDescriptor, ShaderSource, ShaderStages,
    TextureFormat, TextureSampleType, TextureViewDescriptor, TextureViewDimension,
    VertexBufferLayout, VertexState, VertexStepMode,
};

use super::atlas::Atlas;
use super::rows;

/// Values that all instances of a draw call share, as `shader.wgsl` reads them.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Draw {
    pub(super) origin: [i32; 2],
    pub(super) surface: [i32; 2],
    pub(super) clip: [i32; 4],
}

/// What kind of rectangle a pipeline draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RectangleKind {
    /// Opaque rectangles that replace the pixels below.
    Fill,
    /// Glyphs that have coverage only.
    Mask,
    /// Color glyphs and images.
    Color,
    /// Rectangles with rounded corners, and translucent ones.
    Rounded,
}

pub(super) struct Pipeline {
    /// Indexed by [`RectangleKind`].
    pipelines: [RenderPipeline; 4],
    draw_layout: BindGroupLayout,
    glyph_layout: BindGroupLayout,
    draws: Buffer,
    /// The number of draws that fit into the buffer.
    room: usize,
    /// Bytes from one draw to the next.
    pub(super) stride: u32,
    pub(super) draw_group: BindGroup,
    pub(super) glyph_group: BindGroup,
    bytes: Vec<u8>,
}

impl Pipeline {
    /// Pipelines that draw into a picture of this format. They blend colors as light if the format is sRGB.
    pub(super) fn new(device: &Device, format: TextureFormat, atlas: &Atlas) -> Self {
        let module = device.create_shader_module(ShaderModuleDescriptor {
            label: Some("rectangles"),
            source: ShaderSource::Wgsl(include_str!("shader.wgsl").into()),
        });
        let draw_layout = device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: Some("draw"),
            entries: &[BindGroupLayoutEntry {
                binding: 0,
                visibility: ShaderStages::VERTEX,
                ty: BindingType::Buffer {
                    ty: BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let glyph_layout = device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: Some("glyphs"),
            entries: &[texture(0), texture(1)],
        });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some("rectangles"),
            bind_group_layouts: &[Some(&draw_layout), Some(&glyph_layout)],
            ..Default::default()
        });
        let over = BlendState {
            color: BlendComponent {
                src_factor: BlendFactor::SrcAlpha,
                dst_factor: BlendFactor::OneMinusSrcAlpha,
                operation: BlendOperation::Add,
            },
            alpha: BlendComponent::OVER,
        };
        let constants = &[("LINEAR", if format.is_srgb() { 1.0 } else { 0.0 })];
        let options = || PipelineCompilationOptions { constants, ..Default::default() };
        let make = |pixel, blend| {
            device.create_render_pipeline(&RenderPipelineDescriptor {
                label: Some("rectangles"),
                layout: Some(&layout),
                vertex: VertexState {
                    module: &module,
                    entry_point: Some("corner"),
                    compilation_options: options(),
                    buffers: &[Some(VertexBufferLayout {
                        array_stride: rows::SIZE,
                        step_mode: VertexStepMode::Instance,
                        attributes: &wgpu::vertex_attr_array![
                            0 => Sint32x2, 1 => Uint16x2, 2 => Uint16x2, 3 => Unorm8x4, 4 => Float32,
                            5 => Unorm8x4
                        ],
                    })],
                },
                fragment: Some(FragmentState {
                    module: &module,
                    entry_point: Some(pixel),
                    compilation_options: options(),
                    targets: &[Some(ColorTargetState {
                        format,
                        blend,
                        write_mask: ColorWrites::ALL,
                    })],
                }),
                primitive: PrimitiveState {
                    topology: PrimitiveTopology::TriangleStrip,
                    ..Default::default()
                },
                depth_stencil: None,
                multisample: MultisampleState::default(),
                multiview_mask: None,
                cache: None,
            })
        };
        let pipelines = [
            make("fill", None),
            make("mask", Some(over)),
            make("picture", Some(over)),
            make("rounded", Some(over)),
        ];
        let size = std::mem::size_of::<Draw>() as u32;
        let stride =
            size.next_multiple_of(device.limits().min_uniform_buffer_offset_alignment.max(1));
        let room = 64;
        let draws = draw_buffer(device, room, stride);
        let draw_group = draw_group(device, &draw_layout, &draws);
        let glyph_group = glyph_group(device, &glyph_layout, atlas);
        Self {
            pipelines,
            draw_layout,
            glyph_layout,
            draws,
            room,
            stride,
            draw_group,
            glyph_group,
            bytes: Vec::new(),
        }
    }

    /// The pipeline that draws this kind.
    pub(super) fn of(&self, kind: RectangleKind) -> &RenderPipeline {
        &self.pipelines[kind as usize]
    }

    /// A bind group with an image's texture in place of the glyph textures.
    pub(super) fn image_group(&self, device: &Device, texture: &wgpu::Texture) -> BindGroup {
        let view = texture.create_view(&TextureViewDescriptor::default());
        device.create_bind_group(&BindGroupDescriptor {
            label: Some("image"),
            layout: &self.glyph_layout,
            entries: &[
                BindGroupEntry { binding: 0, resource: BindingResource::TextureView(&view) },
                BindGroupEntry { binding: 1, resource: BindingResource::TextureView(&view) },
            ],
        })
    }

    /// Binds new views of the atlas's textures.
    pub(super) fn rebind(&mut self, device: &Device, atlas: &Atlas) {
        self.glyph_group = glyph_group(device, &self.glyph_layout, atlas);
    }

    /// Uploads the shared values of the frame's draw calls. The n-th is bound with an offset of `n * stride`.
    pub(super) fn upload(&mut self, device: &Device, queue: &Queue, draws: &[Draw]) {
        if draws.len() > self.room {
            self.room = draws.len().next_power_of_two();
            self.draws = draw_buffer(device, self.room, self.stride);
            self.draw_group = draw_group(device, &self.draw_layout, &self.draws);
        }
        self.bytes.clear();
        self.bytes.resize(draws.len() * self.stride as usize, 0);
        for (slot, draw) in self.bytes.chunks_exact_mut(self.stride as usize).zip(draws) {
            slot[..std::mem::size_of::<Draw>()].copy_from_slice(bytemuck::bytes_of(draw));
        }
        queue.write_buffer(&self.draws, 0, &self.bytes);
    }
}

fn draw_buffer(device: &Device, room: usize, stride: u32) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some("draws"),
        size: room as u64 * u64::from(stride),
        usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn draw_group(device: &Device, layout: &BindGroupLayout, buffer: &Buffer) -> BindGroup {
    device.create_bind_group(&BindGroupDescriptor {
        label: Some("draw"),
        layout,
        entries: &[BindGroupEntry {
            binding: 0,
            resource: BindingResource::Buffer(BufferBinding {
                buffer,
                offset: 0,
                size: std::num::NonZeroU64::new(std::mem::size_of::<Draw>() as u64),
            }),
        }],
    })
}

fn glyph_group(device: &Device, layout: &BindGroupLayout, atlas: &Atlas) -> BindGroup {
    let (masks, colors) = atlas.textures();
    let view = |texture: &wgpu::Texture| texture.create_view(&TextureViewDescriptor::default());
    let (masks, colors) = (view(masks), view(colors));
    device.create_bind_group(&BindGroupDescriptor {
        label: Some("glyphs"),
        layout,
        entries: &[
            BindGroupEntry { binding: 0, resource: BindingResource::TextureView(&masks) },
            BindGroupEntry { binding: 1, resource: BindingResource::TextureView(&colors) },
        ],
    })
}

/// A texture that is read without filtering.
pub(super) fn texture(binding: u32) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::FRAGMENT,
        ty: BindingType::Texture {
            sample_type: TextureSampleType::Float { filterable: false },
            view_dimension: TextureViewDimension::D2,
            multisampled: false,
        },
        count: None,
    }
}
