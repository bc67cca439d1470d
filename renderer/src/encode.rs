//! Encodes pictures as PNG (W3C, third edition).

use std::collections::HashMap;

/// Encodes `0xAARRGGBB` pixels as PNG. Uses a palette if the picture has at most 256 colors, as most screens do,
/// otherwise 8-bit RGB.
pub(crate) fn encode_png(
    pixels: &[u32],
    width: u32,
    height: u32,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_depth(png::BitDepth::Eight);
    let bytes: Vec<u8> = if let Some((palette, indices)) = indexed(pixels) {
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.iter().copied().flat_map(rgb).collect::<Vec<u8>>());
        // Palette indices are not quantities, so PNG filters, which store differences, do not help (PNG, 12.7).
        encoder.set_compression(png::Compression::Balanced);
        encoder.set_filter(png::Filter::NoFilter);
        indices
    } else {
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Fast);
        pixels.iter().copied().flat_map(rgb).collect()
    };
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(out)
}

fn rgb(pixel: u32) -> [u8; 3] {
    [(pixel >> 16) as u8, (pixel >> 8) as u8, pixel as u8]
}

/// The palette, and for each pixel its index in the palette. `None` if the picture has more than 256 colors.
fn indexed(pixels: &[u32]) -> Option<(Vec<u32>, Vec<u8>)> {
    let mut indices = HashMap::new();
    let mut palette = Vec::new();
    let mut last = (None, 0);
    let pixels = pixels.iter().map(|pixel| {
        let color = pixel & 0x00ff_ffff;
        // Adjacent pixels mostly have the same color.
        if last.0 != Some(color) {
            let index = *indices.entry(color).or_insert_with(|| {
                palette.push(color);
                palette.len() - 1
            });
            last = (Some(color), u8::try_from(index).ok()?);
        }
        Some(last.1)
    });
    let pixels = pixels.collect::<Option<Vec<u8>>>()?;
    Some((palette, pixels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(png: &[u8]) -> (png::ColorType, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        (reader.info().color_type, bytes)
    }

    #[test]
    fn few_colors_use_a_palette_and_no_color_is_lost() {
        for (colors, kind) in [
            (1, png::ColorType::Indexed),
            (256, png::ColorType::Indexed),
            (257, png::ColorType::Rgb),
        ] {
            let pixels: Vec<u32> = (0..1024).map(|at| 0xff00_0000 | (at % colors * 4099)).collect();
            let png = encode_png(&pixels, 32, 32).unwrap();
            let expected: Vec<u8> = pixels.into_iter().flat_map(rgb).collect();
            assert_eq!(decoded(&png), (kind, expected), "{colors}");
        }
    }
}
