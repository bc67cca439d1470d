//! A picture for the clipboard.

/// A picture with 4 bytes per pixel: red, green, blue, alpha.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) rgba: Vec<u8>,
}

impl From<image::RgbaImage> for Picture {
    fn from(image: image::RgbaImage) -> Self {
        let (width, height) = image.dimensions();
        Self { width: width as usize, height: height as usize, rgba: image.into_raw() }
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}×{})", self.width, self.height)
    }
}
