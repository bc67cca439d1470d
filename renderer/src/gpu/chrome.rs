//! Chrome text on the GPU, through glyphon.

use cosmic_text::{Color, FontSystem, SwashCache};
use glyphon::{
    Cache, ColorMode, Resolution, TextArea, TextAtlas, TextBounds, TextRenderer, Viewport,
};
use wgpu::{Device, MultisampleState, Queue, RenderPass, TextureFormat};

use crate::{Frame, FrameLabel};

pub(super) struct Chrome {
    viewport: Viewport,
    atlas: TextAtlas,
    text: TextRenderer,
    /// The labels that are prepared, for a surface of this size.
    prepared: Option<(u32, u32, Vec<FrameLabel>)>,
}

impl Chrome {
    pub(super) fn new(device: &Device, queue: &Queue, format: TextureFormat) -> Self {
        let cache = Cache::new(device);
        let viewport = Viewport::new(device, &cache);
        // `Web`: colours are blended as they are, like everything else here.
        let mut atlas = TextAtlas::with_color_mode(device, queue, &cache, format, ColorMode::Web);
        let text = TextRenderer::new(&mut atlas, device, MultisampleState::default(), None);
        Self { viewport, atlas, text, prepared: None }
    }

    /// Forgets what is prepared, since fonts have changed.
    pub(super) fn reset(&mut self) {
        self.prepared = None;
    }

    /// Uploads the labels of `frame` unless they are there already.
    pub(super) fn prepare(
        &mut self,
        frame: &Frame,
        device: &Device,
        queue: &Queue,
        system: &mut FontSystem,
        swash: &mut SwashCache,
    ) {
        if self.prepared.as_ref().is_some_and(|(width, height, labels)| {
            (*width, *height) == (frame.width, frame.height) && *labels == frame.labels
        }) {
            return;
        }
        self.viewport.update(queue, Resolution { width: frame.width, height: frame.height });
        self.atlas.trim();
        let areas = frame.labels.iter().map(|label| TextArea {
            buffer: &label.buffer,
            left: label.left,
            top: label.top,
            scale: 1.0,
            bounds: TextBounds {
                left: label.clip.x,
                top: label.clip.y,
                right: label.clip.x + label.clip.width as i32,
                bottom: label.clip.y + label.clip.height as i32,
            },
            default_color: Color::rgb(label.color.r, label.color.g, label.color.b),
            custom_glyphs: &[],
        });
        let prepared =
            self.text.prepare(device, queue, system, &mut self.atlas, &self.viewport, areas, swash);
        self.prepared = match prepared {
            Ok(()) => Some((frame.width, frame.height, frame.labels.clone())),
            Err(error) => {
                tracing::warn!(%error, "chrome text does not fit its atlas");
                None
            }
        };
    }

    pub(super) fn draw(&self, pass: &mut RenderPass<'_>) {
        if self.prepared.as_ref().is_some_and(|(_, _, labels)| !labels.is_empty())
            && let Err(error) = self.text.render(&self.atlas, &self.viewport, pass)
        {
            tracing::warn!(%error, "chrome text was not drawn");
        }
    }
}
