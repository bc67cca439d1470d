//! The debug overlay: the rate and cost of frames, the painter, and the contents of the cell under the mouse.
//!
//! Measures only while the overlay is open. Requests no frames by itself, and shows the values of the last frame.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_renderer::{Damage, Frame, Label, PixelRect, Quad, Renderer, Scene};
use unterm_term::{Color, Content, PromptRole, Underline, Width};

use crate::window::{
    overlays::{canvas::Canvas, overlay::Overlay},
    ui::{colors::Colors, geometry::Geometry},
    workspace::view::View,
};

/// The maximum number of measured frames and key presses to keep.
const SAMPLES: usize = 120;
/// The minimum time between two measurements of the memory use.
const MEMORY_AGE: Duration = Duration::from_millis(500);
/// The margin and the padding of the overlay, in logical pixels.
const MARGIN: f32 = 12.0;
const PADDING: f32 = 10.0;

/// The measurements of one frame.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The time when the frame was presented.
    at: Instant,
    /// The time from taking the snapshot to presenting the frame.
    took: Duration,
    /// The share of the window that changed, from 0 to 1.
    damage: f32,
}

/// The overlay's measurements.
#[derive(Default)]
pub(crate) struct Debug {
    samples: VecDeque<Sample>,
    /// The time of the first key press since the last frame.
    key: Option<Instant>,
    keys: VecDeque<Duration>,
    last: Option<Arc<Frame>>,
    memory: Option<(Instant, u64)>,
}

impl Debug {
    /// Starts to measure the time from a key press to the next frame.
    pub(crate) fn press_key(&mut self, now: Instant) {
        self.key.get_or_insert(now);
    }

    /// Records a painted frame, and the time when its painting started.
    pub(crate) fn painted(&mut self, begun: Instant, frame: &Arc<Frame>) {
        let at = Instant::now();
        let area = |rect: &PixelRect| f64::from(rect.width) * f64::from(rect.height);
        let whole = f64::from(frame.width) * f64::from(frame.height);
        let damage = match self.last.replace(Arc::clone(frame)) {
            Some(last) => Damage::between(&last, frame).rects.iter().map(area).sum::<f64>() / whole,
            None => 1.0,
        };
        keep(&mut self.samples, Sample { at, took: at - begun, damage: damage as f32 });
        if let Some(pressed) = self.key.take() {
            keep(&mut self.keys, at - pressed);
        }
    }

    /// The number of frames in the second that ended with the last frame.
    fn rate(&self) -> usize {
        let Some(last) = self.samples.back() else { return 0 };
        self.samples.iter().filter(|sample| sample.at + Duration::from_secs(1) > last.at).count()
    }

    /// Measures the memory use, if the last measurement is too old.
    pub(crate) fn measure(&mut self, now: Instant) {
        if self.memory.is_none_or(|(read, _)| now > read + MEMORY_AGE) {
            self.memory = resident().map(|bytes| (now, bytes));
        }
    }

    /// The text lines about frames, keys and memory.
    fn lines(&self) -> Vec<String> {
        let times = self.samples.iter().map(|sample| sample.took);
        let frames = spread(times).unwrap_or_else(|| "none yet".to_owned());
        let damage = self.samples.back().map_or(0.0, |sample| sample.damage * 100.0);
        let keys = spread(self.keys.iter().copied())
            .unwrap_or_else(|| "press a key to measure".to_owned());
        let memory = self
            .memory
            .map_or_else(String::new, |(_, bytes)| format!("memory {:.1} MB", bytes as f64 / 1e6));
        vec![
            format!("{} pictures/s   damage {damage:.1} %", self.rate()),
            format!("picture {frames}"),
            format!("key to picture {keys}"),
            memory,
        ]
    }
}

fn keep<T>(list: &mut VecDeque<T>, new: T) {
    if list.len() == SAMPLES {
        list.pop_front();
    }
    list.push_back(new);
}

/// The median and the maximum of some times, as text.
fn spread(times: impl Iterator<Item = Duration>) -> Option<String> {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    let (median, most) = (times.get(times.len() / 2)?, times.last()?);
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    Some(format!("{:.2} ms, at most {:.2} ms", ms(median), ms(most)))
}

/// The resident memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
}

/// The text lines about a cell of a view.
fn cell_lines(view: &View, col: u16, row: usize) -> Vec<String> {
    let Some(line) = view.snapshot.rows.get(row) else { return Vec::new() };
    let Some(cell) = line.cells.get(usize::from(col)) else { return Vec::new() };
    let text = match cell.content() {
        Content::Empty => String::new(),
        Content::Char(c) => c.to_string(),
        Content::Cluster(_) => line.cluster(col).unwrap_or_default().to_owned(),
    };
    let codes: Vec<_> = text.chars().map(|c| format!("U+{:04X}", u32::from(c))).collect();
    let shown = if text.is_empty() { "empty".to_owned() } else { format!("{text:?}") };
    let run = line.styles.iter().find(|run| (run.start..run.end).contains(&col));
    let mut lines = vec![
        joined([
            &format!("cell {col},{row}"),
            &shown,
            &codes.join(" "),
            match cell.width() {
                Width::Narrow => "one column",
                Width::Wide => "two columns",
                Width::Tail => "second half",
                Width::Head => "left free by a wide character",
            },
        ]),
        joined([
            &format!("line {}", line.line.0),
            &format!("changed at {}", line.revision),
            if line.wrapped { "goes on below" } else { "" },
            match cell.prompt_role() {
                PromptRole::Output => "",
                PromptRole::Prompt => "of a prompt",
                PromptRole::Input => "of a command line",
            },
            if cell.is_protected() { "protected" } else { "" },
        ]),
    ];
    if let Some(run) = run {
        let style = run.style;
        let attrs: Vec<_> = style.attrs.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        let underline = match style.underline {
            Underline::None => String::new(),
            kind => {
                let kind = format!("{kind:?}").to_lowercase();
                format!("underline {kind}, {}", color(style.underline_color))
            }
        };
        lines.push(joined([
            &format!("text {}", color(style.foreground)),
            &format!("background {}", color(style.background)),
            &attrs.join(", "),
            &underline,
        ]));
        if let Some(link) = &run.link {
            let id = if link.id.is_empty() { String::new() } else { format!("   id {}", link.id) };
            lines.push(format!("link {}{id}", link.uri));
        }
    }
    lines
}

/// Joins the parts that are not empty, with spaces between them.
fn joined<const N: usize>(parts: [&str; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("   ")
}

fn color(color: Color) -> String {
    match color {
        Color::Default => "default".to_owned(),
        Color::Indexed(index) => format!("color {index}"),
        Color::Rgb(rgb) => rgb.to_string(),
    }
}

/// Draws text lines at the right side of the window, below the tab bar.
fn draw(
    lines: &[String],
    (geometry, colors): (&Geometry, &Colors),
    renderer: &mut Renderer,
    scene: &mut Scene<'_>,
) {
    let (size, line) = (geometry.ui_font(), geometry.ui_line());
    let (margin, padding) = (geometry.px(MARGIN), geometry.px(PADDING));
    let widest = lines.iter().map(|text| renderer.label_width(text, size, false).ceil() as u32 + 1);
    let most = geometry.width.saturating_sub(2 * margin);
    let width = (widest.max().unwrap_or(0) + 2 * padding).min(most);
    let rect = PixelRect {
        x: geometry.width.saturating_sub(width + margin) as i32,
        y: (geometry.content().y + margin) as i32,
        width,
        height: lines.len() as u32 * line + 2 * padding,
    };
    let radius = geometry.px(8.0) as f32;
    scene.quads.push(Quad { rect, color: colors.raised, alpha: 0.92, radius });
    for (index, text) in lines.iter().enumerate() {
        scene.labels.push(Label {
            rect: PixelRect {
                x: rect.x + padding as i32,
                y: rect.y + (padding + index as u32 * line) as i32,
                width: width.saturating_sub(2 * padding),
                height: line,
            },
            text: text.clone(),
            color: colors.text,
            size,
            ..Label::default()
        });
    }
}

impl Overlay for Debug {
    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        let Some(of) = canvas.debug else { return };
        let (geometry, view) = (canvas.geometry, |id| canvas.views.get(&id));
        let hovered = of.cell.and_then(|(id, col, row)| Some((view(id)?, col, row)));
        let focused = canvas.layout.active_tab().map(|tab| tab.focused);
        let focused = focused.and_then(|id| Some((view(id)?, id.0)));
        let mut lines = self.lines();
        lines.push(format!("painter {}", of.painter));
        lines.push(format!(
            "window {}×{}   scale {}   cell {}×{}",
            geometry.width,
            geometry.height,
            geometry.scale,
            geometry.cell.width,
            geometry.cell.height
        ));
        if let Some((view, id)) = focused {
            let snapshot = &view.snapshot;
            lines.push(format!(
                "pane {id}   {}×{}   {:?}   seq {}   history {}   images {}",
                snapshot.size.cols,
                snapshot.size.rows,
                snapshot.screen,
                snapshot.seq,
                snapshot.live_top.0.saturating_sub(snapshot.oldest.0),
                snapshot.images.len()
            ));
        }
        if let Some((view, col, row)) = hovered {
            lines.extend(cell_lines(view, col, row));
        }
        draw(&lines, (geometry, canvas.colors), canvas.renderer, canvas.scene);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_limited_and_the_rate_counts_the_last_second() {
        let mut debug = Debug::default();
        let start = Instant::now();
        for n in 0..300u32 {
            let at = start + Duration::from_millis(25) * n;
            keep(&mut debug.samples, Sample { at, took: Duration::from_millis(2), damage: 0.5 });
        }
        assert_eq!(debug.samples.len(), SAMPLES);
        assert_eq!(debug.rate(), 40);
        let lines = debug.lines();
        assert_eq!(lines[0], "40 pictures/s   damage 50.0 %");
        assert_eq!(lines[1], "picture 2.00 ms, at most 2.00 ms");
    }
}
