//! Decodes image files to pixels, with limits that apply before memory is allocated.

use std::io::{Cursor, Read};

use image::{AnimationDecoder, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::pixels::{MAX_SIDE, byte_count};
use super::store::QUOTA;

/// Maximum frames of an animated file; further frames are ignored.
const FRAMES_CAP: usize = 4096;
/// The delay in milliseconds of a frame with no or almost no delay, as browsers use it.
const DEFAULT_DELAY: u32 = 100;

/// A decoded picture.
pub(crate) struct Decoded {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

/// Why bytes could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// Not an image of a supported format, or truncated.
    Invalid,
    /// A side or the whole picture would be too large.
    TooLarge,
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(QUOTA as u64);
    limits
}

fn error(error: image::ImageError) -> DecodeError {
    tracing::debug!(%error, "image not decoded");
    match error {
        image::ImageError::Limits(_) => DecodeError::TooLarge,
        _ => DecodeError::Invalid,
    }
}

fn finish(image: DynamicImage) -> Result<Decoded, DecodeError> {
    let (width, height) = (image.width(), image.height());
    check_size(width, height)?;
    Ok(Decoded { width, height, rgba: image.into_rgba8().into_raw() })
}

/// The bytes of a picture of this size, if it is within the limits.
pub(crate) fn check_size(width: u32, height: u32) -> Result<usize, DecodeError> {
    match byte_count(width, height) {
        Some(0) => Err(DecodeError::Invalid),
        Some(bytes) if width <= MAX_SIDE && height <= MAX_SIDE && bytes <= QUOTA => Ok(bytes),
        _ => Err(DecodeError::TooLarge),
    }
}

/// Decodes a PNG.
pub(crate) fn png(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    still(bytes, ImageFormat::Png)
}

fn still(bytes: &[u8], format: ImageFormat) -> Result<Decoded, DecodeError> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits());
    finish(reader.decode().map_err(error)?)
}

/// Decodes an image file of any format that iTerm2 requires: PNG, JPEG, GIF, WebP, BMP, TIFF. Returns its frames with
/// their durations in milliseconds; a still image is one frame.
pub(crate) fn file(bytes: &[u8]) -> Result<Vec<(Decoded, u32)>, DecodeError> {
    let format = image::guess_format(bytes).map_err(error)?;
    match format {
        ImageFormat::Gif => {
            let mut decoder =
                image::codecs::gif::GifDecoder::new(Cursor::new(bytes)).map_err(error)?;
            decoder.set_limits(limits()).map_err(error)?;
            frames(decoder.into_frames())
        }
        ImageFormat::WebP => {
            let mut decoder =
                image::codecs::webp::WebPDecoder::new(Cursor::new(bytes)).map_err(error)?;
            decoder.set_limits(limits()).map_err(error)?;
            if decoder.has_animation() {
                frames(decoder.into_frames())
            } else {
                Ok(vec![(still(bytes, format)?, 0)])
            }
        }
        ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Bmp | ImageFormat::Tiff => {
            Ok(vec![(still(bytes, format)?, 0)])
        }
        _ => Err(DecodeError::Invalid),
    }
}

fn frames(frames: image::Frames<'_>) -> Result<Vec<(Decoded, u32)>, DecodeError> {
    let mut all: Vec<(Decoded, u32)> = Vec::new();
    let mut bytes = 0;
    for frame in frames.take(FRAMES_CAP) {
        let frame = match frame {
            Ok(frame) => frame,
            // Show the frames before a broken one.
            Err(_) if !all.is_empty() => break,
            Err(e) => return Err(error(e)),
        };
        let (numerator, denominator) = frame.delay().numer_denom_ms();
        let delay = numerator / denominator.max(1);
        let buffer = frame.into_buffer();
        let (width, height) = buffer.dimensions();
        bytes += check_size(width, height)?;
        if bytes > QUOTA {
            break;
        }
        let delay = if delay <= 10 { DEFAULT_DELAY } else { delay };
        all.push((Decoded { width, height, rgba: buffer.into_raw() }, delay));
    }
    if all.is_empty() { Err(DecodeError::Invalid) } else { Ok(all) }
}

/// Decompresses `bytes` (RFC 1950), if the result has at most `cap` bytes.
pub(crate) fn inflate(bytes: &[u8], cap: usize) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    let mut reader = flate2::read::ZlibDecoder::new(bytes).take(cap as u64 + 1);
    reader.read_to_end(&mut out).map_err(|_| DecodeError::Invalid)?;
    if out.len() > cap { Err(DecodeError::TooLarge) } else { Ok(out) }
}
