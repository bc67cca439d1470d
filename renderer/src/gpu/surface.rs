//! A window's surface for the GPU painter.

use raw_window_handle::{DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle};
use wgpu::{
    Adapter, Backends, BindGroupDescriptor, BindGroupEntry, BindGroupLayoutDescriptor,
    BindingResource, ColorTargetState, CommandEncoderDescriptor, CompositeAlphaMode,
    CurrentSurfaceTexture, DeviceType, FragmentState, Instance, InstanceDescriptor, LoadOp,
    Operations, PipelineCompilationOptions, PipelineLayoutDescriptor, PowerPreference, PresentMode,
    PrimitiveState, RenderPassColorAttachment, RenderPassDescriptor, RenderPipeline,
    RenderPipelineDescriptor, RequestAdapterOptions, ShaderModuleDescriptor, ShaderSource, StoreOp,
    Surface, SurfaceConfiguration, TextureFormat, TextureUsages, TextureViewDescriptor,
    VertexState,
};

use super::GpuPainter;
use super::pipeline::texture;
use crate::{PainterError, Renderer};

/// Passes the window's display to wgpu, which requires `Debug`.
struct Display<W>(W);

impl<W> std::fmt::Debug for Display<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Display")
    }
}

impl<W: HasDisplayHandle> HasDisplayHandle for Display<W> {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        self.0.display_handle()
    }
}

/// An adapter that can draw on a window.
pub(crate) struct WindowAdapter {
    surface: Surface<'static>,
    adapter: Adapter,
}

impl WindowAdapter {
    /// Finds the best adapter for this window. If there is none, the error states why.
    pub(crate) fn find<W>(window: &W) -> Result<Self, PainterError>
    where
        W: HasWindowHandle + HasDisplayHandle + Clone + Send + Sync + 'static,
    {
        // Load OpenGL's drivers only if Vulkan, Metal or Direct3D offer no real GPU.
        let first = Self::with_backends(window, Backends::PRIMARY);
        if first.as_ref().is_ok_and(|found| !found.is_software()) {
            return first;
        }
        match (first, Self::with_backends(window, Backends::GL)) {
            (Ok(software), Ok(found)) if found.is_software() => Ok(software),
            (Ok(software), Err(_)) => Ok(software),
            (_, found) => found,
        }
    }

    fn with_backends<W>(window: &W, backends: Backends) -> Result<Self, PainterError>
    where
        W: HasWindowHandle + HasDisplayHandle + Clone + Send + Sync + 'static,
    {
        let instance = Instance::new(InstanceDescriptor {
            backends,
            display: Some(Box::new(Display(window.clone()))),
            ..InstanceDescriptor::new_without_display_handle()
        });
        let none = |error: &dyn std::fmt::Display| PainterError::NoAdapter(error.to_string());
        let surface = instance.create_surface(window.clone()).map_err(|error| none(&error))?;
        let adapter = pollster::block_on(instance.request_adapter(&RequestAdapterOptions {
            power_preference: PowerPreference::LowPower,
            compatible_surface: Some(&surface),
            ..RequestAdapterOptions::default()
        }))
        .map_err(|error| none(&error))?;
        Ok(Self { surface, adapter })
    }

    /// Whether the adapter runs on the CPU.
    pub(crate) fn is_software(&self) -> bool {
        self.adapter.get_info().device_type == DeviceType::Cpu
    }

    pub(crate) fn name(&self) -> String {
        self.adapter.get_info().name
    }
}

pub(crate) struct GpuSurface {
    surface: Surface<'static>,
    painter: GpuPainter,
    config: SurfaceConfiguration,
    configured: bool,
    /// Whether the picture can be copied to the surface.
    copies: bool,
    /// Draws the picture if it can't be copied. Stored with the picture format that it was created for.
    blit: Option<(TextureFormat, Blit)>,
    /// The alpha mode for a translucent window, if the surface supports one.
    translucent: Option<CompositeAlphaMode>,
}

impl GpuSurface {
    pub(crate) fn new(found: WindowAdapter) -> Result<Self, PainterError> {
        let WindowAdapter { surface, adapter } = found;
        let caps = surface.get_capabilities(&adapter);
        let plain = [TextureFormat::Bgra8Unorm, TextureFormat::Rgba8Unorm];
        let format = plain
            .into_iter()
            .find(|format| caps.formats.contains(format))
            .or_else(|| caps.formats.first().copied())
            .ok_or_else(|| PainterError::Surface("it supports no pixel format".into()))?;
        // The format of the picture if colors are blended as coded values.
        let picture = if plain.contains(&format) { format } else { TextureFormat::Bgra8Unorm };
        let painter = GpuPainter::new(&adapter, picture)?;
        let copies = picture == format && caps.usages.contains(TextureUsages::COPY_DST);
        // Use `Inherit` if `PreMultiplied` is missing: X11 drivers don't report `PreMultiplied` but behave that way.
        // Colors are already multiplied by their opacity.
        let translucent = [CompositeAlphaMode::PreMultiplied, CompositeAlphaMode::Inherit]
            .into_iter()
            .find(|mode| caps.alpha_modes.contains(mode));
        let present_mode = [PresentMode::Mailbox, PresentMode::Immediate]
            .into_iter()
            .find(|mode| caps.present_modes.contains(mode))
            .unwrap_or(PresentMode::Fifo);
        let usage = if copies { TextureUsages::COPY_DST } else { TextureUsages::empty() };
        let config = SurfaceConfiguration {
            usage: TextureUsages::RENDER_ATTACHMENT | usage,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: 1,
            height: 1,
            present_mode,
            desired_maximum_frame_latency: 1,
            alpha_mode: CompositeAlphaMode::Auto,
            view_formats: Vec::new(),
        };
        tracing::debug!(?format, ?present_mode, copies, ?translucent, "GPU surface");
        let configured = false;
        Ok(Self { surface, painter, config, configured, copies, blit: None, translucent })
    }

    pub(crate) fn adapter(&self) -> String {
        self.painter.adapter()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.painter.is_lost()
    }

    /// Paints the renderer's last frame and presents it. The picture stays in its texture, so presenting it again costs
    /// only a copy.
    pub(crate) fn paint(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        let (_, painting) = self.painter.record(renderer);
        let Some(target) = &self.painter.target else { return Ok(()) };
        let is_opaque = renderer.last_frame().panes.iter().all(|pane| pane.opacity == 255);
        // `Auto` selects opaque if the surface supports it.
        let alpha_mode =
            self.translucent.filter(|_| !is_opaque).unwrap_or(CompositeAlphaMode::Auto);
        if !self.configured
            || self.config.alpha_mode != alpha_mode
            || (self.config.width, self.config.height) != (target.width, target.height)
        {
            self.config.alpha_mode = alpha_mode;
            self.config.width = target.width;
            self.config.height = target.height;
            self.configure();
        }
        let mut texture = self.surface.get_current_texture();
        if matches!(texture, CurrentSurfaceTexture::Outdated | CurrentSurfaceTexture::Lost) {
            self.configure();
            texture = self.surface.get_current_texture();
        }
        let texture = match texture {
            CurrentSurfaceTexture::Success(texture) => texture,
            CurrentSurfaceTexture::Suboptimal(texture) => {
                self.configured = false;
                texture
            }
            // The window is not visible now. Keep the picture for the next time.
            CurrentSurfaceTexture::Timeout | CurrentSurfaceTexture::Occluded => {
                self.painter.queue.submit(painting);
                return Ok(());
            }
            other => {
                self.painter.queue.submit(painting);
                self.configured = false;
                return Err(PainterError::Surface(format!("{other:?}")));
            }
        };
        let Some(target) = &self.painter.target else { return Ok(()) };
        let device = &self.painter.device;
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
        if self.copies {
            encoder.copy_texture_to_texture(
                target.texture.as_image_copy(),
                texture.texture.as_image_copy(),
                target.size(),
            );
        } else {
            let picture = target.texture.format();
            let blit = self.blit.take().filter(|(format, _)| *format == picture);
            let make = || (picture, Blit::new(device, picture, self.config.format));
            let (_, blit) = self.blit.insert(blit.unwrap_or_else(make));
            let view = texture.texture.create_view(&TextureViewDescriptor::default());
            blit.draw(device, &mut encoder, &target.view, &view);
        }
        // Submit once, because each submission wakes the driver.
        self.painter.queue.submit(painting.into_iter().chain([encoder.finish()]));
        self.painter.queue.present(texture);
        Ok(())
    }

    fn configure(&mut self) {
        self.surface.configure(&self.painter.device, &self.config);
        self.configured = true;
    }
}

/// Draws the picture on surfaces to which it can't be copied.
struct Blit {
    pipeline: RenderPipeline,
}

impl Blit {
    /// Draws from a picture of one format to a surface of another.
    fn new(device: &wgpu::Device, picture: TextureFormat, format: TextureFormat) -> Self {
        let module = device.create_shader_module(ShaderModuleDescriptor {
            label: Some("present"),
            source: ShaderSource::Wgsl(include_str!("present.wgsl").into()),
        });
        let layout = device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: Some("picture"),
            entries: &[texture(0)],
        });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some("present"),
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let change = match (picture.is_srgb(), format.is_srgb()) {
            (false, true) => 1.0,
            (true, false) => 2.0,
            _ => 0.0,
        };
        let pipeline = device.create_render_pipeline(&RenderPipelineDescriptor {
            label: Some("present"),
            layout: Some(&layout),
            vertex: VertexState {
                module: &module,
                entry_point: Some("corner"),
                compilation_options: PipelineCompilationOptions::default(),
                buffers: &[],
            },
            fragment: Some(FragmentState {
                module: &module,
                entry_point: Some("pixel"),
                compilation_options: PipelineCompilationOptions {
                    constants: &[("CHANGE", change)],
                    ..PipelineCompilationOptions::default()
                },
                targets: &[Some(ColorTargetState::from(format))],
            }),
            primitive: PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            multiview_mask: None,
            cache: None,
        });
        Self { pipeline }
    }

    fn draw(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        picture: &wgpu::TextureView,
        surface: &wgpu::TextureView,
    ) {
        let group = device.create_bind_group(&BindGroupDescriptor {
            label: Some("picture"),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[BindGroupEntry {
                binding: 0,
                resource: BindingResource::TextureView(picture),
            }],
        });
        let mut pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("present"),
            color_attachments: &[Some(RenderPassColorAttachment {
                view: surface,
                depth_slice: None,
                resolve_target: None,
                ops: Operations { load: LoadOp::Clear(wgpu::Color::BLACK), store: StoreOp::Store },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }
}
