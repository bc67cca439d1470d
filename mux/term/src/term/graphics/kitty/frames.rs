//! Actions `f` (data of a frame), `a` (animation control) and `c` (composition of frames).

use std::sync::Arc;

use super::{Command, Failure};
use crate::grid::tiles::ImageKey;
use crate::term::Term;
use crate::term::graphics::Layer;
use crate::term::graphics::animation::Run;
use crate::term::graphics::decode::Decoded;
use crate::term::graphics::decoding::Task;
use crate::term::graphics::pixels::{Area, Canvas, Pixels};
use crate::term::graphics::store::{Frame, Image, QUOTA};

/// The default duration of a frame in milliseconds.
const DEFAULT_GAP: u32 = 40;
/// The maximum duration of a frame in milliseconds: one day.
const MAX_GAP: u32 = 86_400_000;

/// The gap in a command's `z`; `None` if it is 0.
fn gap(z: i32) -> Option<u32> {
    match z {
        0 => None,
        z => Some(z.clamp(0, MAX_GAP as i32) as u32),
    }
}

/// The index of a frame, from its number, which counts from 1.
fn index(image: &Image, number: u32) -> Option<usize> {
    let index = (number as usize).checked_sub(1)?;
    (index < image.frames.len()).then_some(index)
}

/// The canvas for a frame's data: the base of a new frame, or the frame to edit.
pub(super) struct FrameCanvas {
    image: ImageKey,
    /// The size of the image.
    width: u32,
    height: u32,
    /// The index of the frame to edit; `None` for a new frame.
    edited: Option<usize>,
    /// The pixels underneath; `None` for a plain color.
    base: Option<Arc<Pixels>>,
    /// The pixels underneath are transient.
    is_transient: bool,
}

impl FrameCanvas {
    /// Composes `part` onto the canvas and returns the whole frame.
    pub fn compose(&self, command: &Command, part: &Decoded) -> Result<Arc<Pixels>, Failure> {
        let (width, height) = (self.width, self.height);
        if part.width > width || part.height > height {
            return Err(Failure::OutOfBounds);
        }
        let mut rgba = match &self.base {
            Some(base) => base.rgba().to_vec(),
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

/// A rectangle of one frame to compose onto another frame.
pub(crate) struct Composition {
    command: Command,
    image: ImageKey,
    /// The index of the frame to change.
    to: usize,
    under: Arc<Pixels>,
    over: Arc<Pixels>,
    /// One of the two frames is transient, and so is what they compose.
    is_transient: bool,
    area: Area,
    /// `None` until `run`.
    done: Option<Result<Arc<Pixels>, Failure>>,
}

impl Composition {
    pub fn run(&mut self) {
        if self.done.is_some() {
            return;
        }
        let Self { command, under, over, area, .. } = self;
        let mut rgba = under.rgba().to_vec();
        Canvas { width: under.width(), rgba: &mut rgba }.compose(
            command.x,
            command.y,
            (over.width(), over.rgba()),
            *area,
            command.stay == 1,
        );
        let pixels = Pixels::new(under.width(), under.height(), rgba);
        self.done = Some(pixels.ok_or(Failure::BadSize));
    }
}

impl Term {
    /// The canvas for the data of action `f`: the edited frame itself, or else another frame or a color.
    pub(super) fn frame_canvas(&self, command: &Command) -> Result<FrameCanvas, Failure> {
        let key = self.named_image(command).ok_or(Failure::NoImage)?;
        let image = self.graphics.shown.store.get(key).ok_or(Failure::NoImage)?;
        let edited = index(image, command.r);
        let base = match (edited, command.c) {
            (Some(index), _) => Some(index),
            (None, 0) => None,
            (None, number) => Some(index(image, number).ok_or(Failure::NoFrameBase)?),
        };
        let base = base.map(|index| &image.frames[index]);
        let is_transient = base.is_some_and(|base| base.is_transient);
        let base = base.map(|base| base.pixels.clone());
        let (width, height) = (image.width(), image.height());
        Ok(FrameCanvas { image: key, width, height, edited, base, is_transient })
    }

    /// Adds a frame to an image, or edits one. Returns the command with the frame's number as `r`.
    pub(super) fn add_frame(
        &mut self,
        mut command: Command,
        canvas: Result<FrameCanvas, Failure>,
        pixels: Result<Arc<Pixels>, Failure>,
    ) -> (Command, Result<(), Failure>) {
        let result = (|| {
            let FrameCanvas { image: key, edited, is_transient, .. } = canvas?;
            // A frame composed of any transient one is transient.
            let is_transient = is_transient || command.is_transient();
            let pixels = pixels?;
            let layer = &mut self.graphics.shown;
            let image = layer.store.get(key).ok_or(Failure::NoImage)?;
            command.r = edited.unwrap_or(image.frames.len()) as u32 + 1;
            if edited.is_none() {
                let bytes = pixels.rgba().len();
                layer.make_room(&mut self.caps, bytes, Some(key));
                if layer.store.bytes() + bytes > QUOTA {
                    return Err(Failure::NoSpace);
                }
            }
            layer.store.change(key, |image| match edited {
                Some(index) => {
                    image.frames[index].pixels = pixels;
                    image.frames[index].is_transient = is_transient;
                    if let Some(gap) = gap(command.z) {
                        image.frames[index].gap = gap;
                    }
                }
                None => {
                    let gap = gap(command.z).unwrap_or(DEFAULT_GAP);
                    image.frames.push(Frame { pixels, gap, is_transient });
                }
            });
            self.graphics.changed();
            Ok(())
        })();
        (command, result)
    }
}

impl Term {
    /// Action `a`: sets a frame's gap, the current frame, running or stopped, and the number of loops. As in kitty, it
    /// is answered only if there is no such image.
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

    /// Action `c`: composes a rectangle of one frame (`r`, at `X`, `Y`) onto another (`c`, at `x`, `y`).
    pub(super) fn compose_frames(&mut self, command: &Command) {
        match self.composition(command) {
            Ok(composition) => self.decode_apart(Task::Frame(composition)),
            Err(failure) => self.answer_kitty(command, Err(failure)),
        }
    }

    fn composition(&self, command: &Command) -> Result<Composition, Failure> {
        let key = self.named_image(command).ok_or(Failure::NoImage)?;
        let image = self.graphics.shown.store.get(key).ok_or(Failure::NoImage)?;
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
        Ok(Composition {
            command: *command,
            image: key,
            to,
            under: image.frames[to].pixels.clone(),
            over: image.frames[from].pixels.clone(),
            is_transient: image.frames[to].is_transient || image.frames[from].is_transient,
            area: Area { x: command.cell_x, y: command.cell_y, width: w, height: h },
            done: None,
        })
    }

    pub(in crate::term::graphics) fn finish_composition(&mut self, mut composition: Composition) {
        composition.run();
        let Composition { command, image, to, is_transient, done, .. } = composition;
        let result = done.unwrap_or(Err(Failure::BadSize)).map(|pixels| {
            let place = |image: &mut Image| {
                image.frames[to].pixels = pixels;
                image.frames[to].is_transient = is_transient;
            };
            self.graphics.shown.store.change(image, place);
            self.graphics.changed();
        });
        self.answer_kitty(&command, result);
    }
}

impl Layer {
    /// Deletes a frame by its number (0: the first). If it is the only frame, deletes nothing and returns `frees`:
    /// whether the caller must remove the whole image.
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
