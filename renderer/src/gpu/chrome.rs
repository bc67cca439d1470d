//! Chrome text on the GPU, through glyphon.

use std::ops::Range;

use cosmic_text::{Color, FontSystem, SwashCache};
use glyphon::{
    Cache, ColorMode, Resolution, TextArea, TextAtlas, TextBounds, TextRenderer, Viewport,
};
use wgpu::{Device, MultisampleState, Queue, RenderPass, TextureFormat};

use crate::{Frame, FrameLabel};

pub(super) struct Chrome {
    viewport: Viewport,
    atlas: TextAtlas,
    /// One text renderer per layer. The list grows to the maximum number of layers seen in a frame.
    texts: Vec<TextRenderer>,
    prepared: Option<Prepared>,
}

/// The labels that are prepared for drawing.
#[derive(PartialEq)]
struct Prepared {
    width: u32,
    height: u32,
    labels: Vec<FrameLabel>,
    /// The range of `labels` in each layer.
    layers: Vec<Range<usize>>,
}

impl Chrome {
    pub(super) fn new(device: &Device, queue: &Queue, format: TextureFormat) -> Self {
        let cache = Cache::new(device);
        let viewport = Viewport::new(device, &cache);
        // glyphon's `Web` mode blends colors as coded values, which matches the rest of a picture that is not sRGB.
        let mode = if format.is_srgb() { ColorMode::Accurate } else { ColorMode::Web };
        let atlas = TextAtlas::with_color_mode(device, queue, &cache, format, mode);
        Self { viewport, atlas, texts: Vec::new(), prepared: None }
    }

    /// Forgets the prepared labels, because fonts have changed.
    pub(super) fn reset(&mut self) {
        self.prepared = None;
    }

    /// Uploads the labels of `frame` unless they are already prepared.
    pub(super) fn prepare(
        &mut self,
        frame: &Frame,
        device: &Device,
        queue: &Queue,
        system: &mut FontSystem,
        swash: &mut SwashCache,
    ) {
        let wanted = Prepared {
            width: frame.width,
            height: frame.height,
            labels: frame.chrome.labels.clone(),
            layers: frame.chrome.layers().map(|(_, labels)| labels).collect(),
        };
        if self.prepared.as_ref() == Some(&wanted) {
            return;
        }
        self.viewport.update(queue, Resolution { width: frame.width, height: frame.height });
        self.atlas.trim();
        let mut fits = true;
        for (index, layer) in wanted.layers.iter().enumerate() {
            if self.texts.len() == index {
                let samples = MultisampleState::default();
                self.texts.push(TextRenderer::new(&mut self.atlas, device, samples, None));
            }
            let areas = frame.chrome.labels[layer.clone()].iter().map(text_area);
            let (text, atlas, viewport) = (&mut self.texts[index], &mut self.atlas, &self.viewport);
            if let Err(error) = text.prepare(device, queue, system, atlas, viewport, areas, swash) {
                tracing::warn!(%error, "chrome text does not fit its atlas");
                fits = false;
            }
        }
        self.prepared = fits.then_some(wanted);
    }

    /// Draws the labels of a layer.
    pub(super) fn draw(&self, layer: usize, pass: &mut RenderPass<'_>) {
        if let Some(prepared) = &self.prepared
            && prepared.layers.get(layer).is_some_and(|labels| !labels.is_empty())
            && let Err(error) = self.texts[layer].render(&self.atlas, &self.viewport, pass)
        {
            tracing::warn!(%error, "chrome text was not drawn");
        }
    }
}

fn text_area(label: &FrameLabel) -> TextArea<'_> {
    TextArea {
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
    }
}
