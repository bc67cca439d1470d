//! The textures of the images in a frame. A texture is dropped when its image is no longer shown.

use rustc_hash::FxHashMap;
use wgpu::{
    BindGroup, Device, Extent3d, Origin3d, Queue, TexelCopyBufferLayout, TexelCopyTextureInfo,
    TextureAspect, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages,
};

use super::pipeline::Pipeline;
use crate::Frame;

/// Bind groups, by the id of an image's pixels.
#[derive(Default)]
pub(super) struct Images {
    groups: FxHashMap<u64, BindGroup>,
}

impl Images {
    /// Uploads the frame's new images, and drops images that the frame doesn't show.
    pub(super) fn prepare(
        &mut self,
        frame: &Frame,
        device: &Device,
        queue: &Queue,
        pipeline: &Pipeline,
    ) {
        let shown = || frame.panes.iter().flat_map(|pane| &pane.images);
        if !self.groups.is_empty() {
            self.groups.retain(|id, _| shown().any(|image| image.pixels.id() == *id));
        }
        let most = device.limits().max_texture_dimension_2d;
        for image in shown() {
            let pixels = &image.pixels;
            let (width, height) = (pixels.width(), pixels.height());
            if self.groups.contains_key(&pixels.id()) {
                continue;
            }
            if width > most || height > most {
                tracing::debug!(width, height, most, "the image is too large for the GPU");
                continue;
            }
            let size = Extent3d { width, height, depth_or_array_layers: 1 };
            let texture = device.create_texture(&TextureDescriptor {
                label: Some("image"),
                size,
                mip_level_count: 1,
                sample_count: 1,
                dimension: TextureDimension::D2,
                format: TextureFormat::Rgba8Unorm,
                usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
                view_formats: &[],
            });
            queue.write_texture(
                TexelCopyTextureInfo {
                    texture: &texture,
                    mip_level: 0,
                    origin: Origin3d::ZERO,
                    aspect: TextureAspect::All,
                },
                pixels.rgba(),
                TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(width * 4),
                    rows_per_image: None,
                },
                size,
            );
            self.groups.insert(pixels.id(), pipeline.image_group(device, &texture));
        }
    }

    /// The bind group that draws an image, if the image was uploaded.
    pub(super) fn group(&self, image: u64) -> Option<&BindGroup> {
        self.groups.get(&image)
    }
}
