//! Actions `f` (data of a frame), `a` (which frame is shown) and `c` (frames composed from frames).

use super::{Command, Failure};
use crate::graphics::Layer;
use crate::graphics::animation::Run;
use crate::graphics::decode::Decoded;
use crate::graphics::pixels::{Area, Canvas, Pixels};
use crate::graphics::store::{Frame, Image, ImageKey, QUOTA};
use crate::term::Term;

/// Milliseconds a frame is shown for when nobody says how long.
const DEFAULT_GAP: u32 = 40;
/// Milliseconds a frame is shown for at most: a day.
const MAX_GAP: u32 = 86_400_000;

/// The gap that a command's `z` asks for; `None` when it says nothing.
fn gap(z: i32) -> Option<u32> {
    match z {
        0 => None,
        z => Some(z.clamp(0, MAX_GAP as i32) as u32),
    }
}

/// A frame's place from its number, which counts from 1.
fn index(image: &Image, number: u32) -> Option<usize> {
    let index = (number as usize).checked_sub(1)?;
    (index < image.frames.len()).then_some(index)
}

/// Adds a frame to an image, or changes one. Gives the command with the frame's number as `r`.
pub(super) fn add(
    term: &mut Term,
    mut command: Command,
    decoded: Result<Decoded, Failure>,
) -> (Command, Result<(), Failure>) {
    let result = (|| {
        let key = term.named_image(&command).ok_or(Failure::NoImage)?;
        let part = decoded?;
        let layer = &mut term.graphics.shown;
        let image = layer.store.get(key).ok_or(Failure::NoImage)?;
        if part.width > image.width() || part.height > image.height() {
            return Err(Failure::OutOfBounds);
        }
        let bytes = image.shown().rgba().len();
        let edited = index(image, command.r);
        command.r = edited.unwrap_or(image.frames.len()) as u32 + 1;
        if edited.is_none() {
            layer.make_room(bytes, Some(key));
            if layer.store.bytes() + bytes > QUOTA {
                return Err(Failure::NoSpace);
            }
        }
        let pixels =
            layer.store.get(key).ok_or(Failure::NoImage)?.composed(&command, edited, &part)?;
        layer.store.change(key, |image| match edited {
            Some(index) => {
                image.frames[index].pixels = pixels;
                if let Some(gap) = gap(command.z) {
                    image.frames[index].gap = gap;
                }
            }
            None => {
                let gap = gap(command.z).unwrap_or(DEFAULT_GAP);
                image.frames.push(Frame { pixels, gap });
            }
        });
        term.graphics.changed();
        Ok(())
    })();
    (command, result)
}

impl Image {
    /// What a frame looks like once `part` is laid on its canvas: the frame itself when it is edited, else another frame
    /// or a colour.
    fn composed(
        &self,
        command: &Command,
        edited: Option<usize>,
        part: &Decoded,
    ) -> Result<std::sync::Arc<Pixels>, Failure> {
        let (width, height) = (self.width(), self.height());
        let base = match (edited, command.c) {
            (Some(index), _) => Some(index),
            (None, 0) => None,
            (None, number) => Some(index(self, number).ok_or(Failure::NoFrameBase)?),
        };
        let mut rgba = match base {
            Some(index) => self.frames[index].pixels.rgba().to_vec(),
            None => command.cell_y.to_be_bytes().repeat(width as usize * height as usize),
        };
        let from = Area { x: 0, y: 0, width: part.width, height: part.height };
        Canvas { width, rgba: &mut rgba }.compose(
            command.x,
            command.y,
            (part.width, &part.rgba),
            from,
            command.cell_x == 1,
        );
        Pixels::new(width, height, rgba).ok_or(Failure::BadSize)
    }
}

impl Term {
    /// Action `a`: a frame's gap, the frame shown, running and stopping, loops. It is not answered, as in kitty, unless
    /// there is no such image.
    pub(super) fn control_animation(&mut self, command: &Command) {
        let Some(key) = self.named_image(command) else {
            return self.answer_kitty(command, Err(Failure::NoImage));
        };
        self.graphics.shown.store.change(key, |image| {
            if let (Some(index), Some(gap)) = (index(image, command.r), gap(command.z)) {
                image.frames[index].gap = gap;
            }
            if let Some(index) = index(image, command.c) {
                image.animation.current = index;
                image.animation.since = None;
            }
            let run = match command.s {
                1 => Some(Run::Stopped),
                2 => Some(Run::Loading),
                3 => Some(Run::Looping),
                _ => None,
            };
            if let Some(run) = run {
                if image.animation.run == Run::Stopped {
                    image.animation.since = None;
                }
                image.animation.run = run;
                image.animation.played = 0;
            }
            if command.v > 0 {
                image.animation.loops = command.v - 1;
            }
        });
        self.graphics.changed();
    }

    /// Action `c`: a rectangle of one frame (`r`, at `X`, `Y`) laid on another (`c`, at `x`, `y`).
    pub(super) fn compose_frames(&mut self, command: &Command) -> Result<(), Failure> {
        let key = self.named_image(command).ok_or(Failure::NoImage)?;
        let store = &mut self.graphics.shown.store;
        let image = store.get(key).ok_or(Failure::NoImage)?;
        let from = index(image, command.r).ok_or(Failure::NoFrame)?;
        let to = index(image, command.c).ok_or(Failure::NoFrame)?;
        let (width, height) = (image.width(), image.height());
        let w = if command.w == 0 { width } else { command.w };
        let h = if command.h == 0 { height } else { command.h };
        let fits = |x: u32, y: u32| {
            x as u64 + w as u64 <= width as u64 && y as u64 + h as u64 <= height as u64
        };
        if !fits(command.x, command.y) || !fits(command.cell_x, command.cell_y) {
            return Err(Failure::OutOfBounds);
        }
        let apart =
            command.x.abs_diff(command.cell_x) >= w || command.y.abs_diff(command.cell_y) >= h;
        if from == to && !apart {
            return Err(Failure::Overlap);
        }
        let mut rgba = image.frames[to].pixels.rgba().to_vec();
        let area = Area { x: command.cell_x, y: command.cell_y, width: w, height: h };
        let over = (width, image.frames[from].pixels.rgba());
        Canvas { width, rgba: &mut rgba }.compose(
            command.x,
            command.y,
            over,
            area,
            command.stay == 1,
        );
        let pixels = Pixels::new(width, height, rgba).ok_or(Failure::BadSize)?;
        store.change(key, |image| image.frames[to].pixels = pixels);
        self.graphics.changed();
        Ok(())
    }
}

impl Layer {
    /// Deletes a frame by its number (0: the first). Says whether the whole image is to go: its only frame was, and
    /// `frees`.
    pub(super) fn delete_frame(&mut self, key: ImageKey, number: u32, frees: bool) -> bool {
        let delete = |image: &mut Image| {
            if image.frames.len() == 1 {
                return frees;
            }
            let index = (number.max(1) as usize).min(image.frames.len()) - 1;
            image.frames.remove(index);
            let current = &mut image.animation.current;
            if *current > index || *current == image.frames.len() {
                *current -= 1;
            }
            false
        };
        self.store.change(key, delete).unwrap_or(false)
    }
}
