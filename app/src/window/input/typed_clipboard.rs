//! The data that programs exchange with the system's clipboards (OSC 5522), in the forms that the clipboard library
//! supports: text, HTML, a PNG picture and a list of files.
//!
//! Runs on the clipboard's thread. Never decides whether a program may read or write.

use std::{io::Cursor, path::PathBuf, sync::Arc};

use unterm_mux::{file_uri, local_path};
use unterm_term::{ClipboardData, ClipboardError};

use crate::{
    captures,
    window::input::{buffer::Buffer, picture::Picture},
};

/// The maximum number of bytes that a program can read at once.
const READ_CAP: usize = 32 << 20;
/// The maximum width and height of a picture, in pixels, and the maximum memory for its decoding, in bytes.
const LARGEST_SIDE: u32 = 16_384;
const PICTURE_MEMORY: u64 = 512 << 20;
/// The name with which a program asks for the list of types.
const LIST: &str = ".";

/// A form of data that the clipboard library supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Html,
    Png,
    Files,
}

impl Form {
    /// Every form, in the order in which programs receive the list of types.
    const ALL: [Self; 4] = [Self::Text, Self::Html, Self::Png, Self::Files];

    pub(crate) fn mime(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Html => "text/html",
            Self::Png => "image/png",
            Self::Files => "text/uri-list",
        }
    }

    /// The form of a MIME type, or of a name that X11 uses for text. `None` if the clipboard library has no such form.
    fn of(name: &str) -> Option<Self> {
        if ["UTF8_STRING", "STRING", "TEXT"].contains(&name) {
            return Some(Self::Text);
        }
        let (mime, parameter) = name.split_once(';').unwrap_or((name, ""));
        let form = Self::ALL.into_iter().find(|form| form.mime().eq_ignore_ascii_case(mime))?;
        let is_utf8 = || parameter.trim().eq_ignore_ascii_case("charset=utf-8");
        (parameter.is_empty() || form != Self::Png && is_utf8()).then_some(form)
    }
}

/// What to put on a clipboard.
#[derive(Debug)]
pub(crate) enum Content {
    Nothing,
    Text(String),
    /// HTML, and its plain text for programs that do not accept HTML.
    Html(String, Option<String>),
    Picture(Picture),
    Files(Vec<PathBuf>),
}

impl Content {
    /// Chooses from the data that a program wrote. A clipboard holds one content: text with its HTML, or else a picture,
    /// HTML or files. Text comes first, because programs that offer text and a picture offer a picture of the text.
    ///
    /// # Errors
    /// [`ClipboardError::Io`] if no data has a supported form, or if the chosen data can't be read in its form.
    pub(crate) fn of(data: &ClipboardData) -> Result<Self, ClipboardError> {
        if data.is_empty() {
            return Ok(Self::Nothing);
        }
        let find = |form| data.iter().find(|(name, _)| Form::of(name) == Some(form));
        let text = |form| match find(form) {
            Some((_, bytes)) => {
                let text = std::str::from_utf8(bytes).map_err(|_| ClipboardError::Io)?;
                Ok(Some(text.to_owned()))
            }
            None => Ok(None),
        };
        let (plain, html) = (text(Form::Text)?, text(Form::Html)?);
        match (plain, html) {
            (Some(plain), Some(html)) => return Ok(Self::Html(html, Some(plain))),
            (Some(plain), None) => return Ok(Self::Text(plain)),
            (None, html) => {
                if let Some((_, bytes)) = find(Form::Png) {
                    return decoded(bytes).map(Self::Picture);
                }
                if let Some(html) = html {
                    return Ok(Self::Html(html, None));
                }
            }
        }
        let list = text(Form::Files)?.ok_or(ClipboardError::Io)?;
        let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let files: Option<Vec<PathBuf>> =
            lines.map(|line| local_path(line).filter(|path| path.exists())).collect();
        files.filter(|files| !files.is_empty()).map(Self::Files).ok_or(ClipboardError::Io)
    }
}

fn decoded(png: &[u8]) -> Result<Picture, ClipboardError> {
    let mut reader = image::ImageReader::with_format(Cursor::new(png), image::ImageFormat::Png);
    let mut limits = image::Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(LARGEST_SIDE), Some(LARGEST_SIDE));
    limits.max_alloc = Some(PICTURE_MEMORY);
    reader.limits(limits);
    let image = reader.decode().map_err(|error| {
        tracing::debug!(%error, "a program's picture for the clipboard");
        ClipboardError::Io
    })?;
    Ok(image.into_rgba8().into())
}

/// Reads the data of these types. Leaves out types that the clipboard does not have.
///
/// # Errors
/// If the clipboard does not exist, or if it can't be read for the moment. [`ClipboardError::Busy`] if there is too much
/// data.
pub(crate) fn read(
    clipboard: &mut arboard::Clipboard,
    buffer: Buffer,
    types: &[String],
) -> Result<ClipboardData, ClipboardError> {
    let mut data = ClipboardData::new();
    for name in types {
        let bytes = match Form::of(name) {
            _ if name == LIST => Some(list(clipboard, buffer)?.join(" ").into_bytes()),
            Some(form) => read_form(clipboard, buffer, form)?,
            None => None,
        };
        let Some(bytes) = bytes else { continue };
        let total: usize = data.iter().map(|(_, bytes)| bytes.len()).sum();
        if total + bytes.len() > READ_CAP {
            tracing::warn!("a program asks for more than {READ_CAP} bytes of the {buffer:?}");
            return Err(ClipboardError::Busy);
        }
        data.push((name.clone(), Arc::new(bytes)));
    }
    Ok(data)
}

/// The types that a clipboard has. The clipboard library can't list them, so all of them are read.
pub(crate) fn list(
    clipboard: &mut arboard::Clipboard,
    buffer: Buffer,
) -> Result<Vec<&'static str>, ClipboardError> {
    let mut found = Vec::new();
    for form in Form::ALL {
        let has = match form {
            Form::Png => found_in(get(clipboard, buffer)?.image())?.is_some(),
            form => read_form(clipboard, buffer, form)?.is_some(),
        };
        if has {
            found.push(form.mime());
        }
    }
    Ok(found)
}

fn read_form(
    clipboard: &mut arboard::Clipboard,
    buffer: Buffer,
    form: Form,
) -> Result<Option<Vec<u8>>, ClipboardError> {
    let get = get(clipboard, buffer)?;
    Ok(match form {
        Form::Text => found_in(get.text())?.map(String::into_bytes),
        Form::Html => found_in(get.html())?.map(String::into_bytes),
        Form::Png => found_in(get.image())?.and_then(|image| {
            captures::png_of(image.width, image.height, image.bytes.into_owned())
        }),
        Form::Files => found_in(get.file_list())?.filter(|files| !files.is_empty()).map(|files| {
            files.iter().map(|file| file_uri(file) + "\r\n").collect::<String>().into_bytes()
        }),
    })
}

/// Puts content on a clipboard.
///
/// # Errors
/// If the clipboard does not exist, or if it can't be written.
pub(crate) fn write(
    clipboard: &mut arboard::Clipboard,
    buffer: Buffer,
    content: Content,
) -> Result<(), ClipboardError> {
    let written = match content {
        Content::Nothing => clear(clipboard, buffer)?,
        Content::Text(text) => set(clipboard, buffer)?.text(text),
        Content::Html(html, plain) => set(clipboard, buffer)?.html(html, plain),
        Content::Picture(Picture { width, height, rgba }) => {
            set(clipboard, buffer)?.image(arboard::ImageData { width, height, bytes: rgba.into() })
        }
        Content::Files(files) => set(clipboard, buffer)?.file_list(&files),
    };
    written.map_err(|error| {
        tracing::warn!("a program's data can't be put on the {buffer:?}: {error}");
        failure(&error)
    })
}

/// `None` if the clipboard does not have the data in this form.
fn found_in<T>(data: Result<T, arboard::Error>) -> Result<Option<T>, ClipboardError> {
    match data {
        Ok(data) => Ok(Some(data)),
        Err(error) => match failure(&error) {
            ClipboardError::Io => {
                tracing::debug!("no such data on the clipboard: {error}");
                Ok(None)
            }
            failure => Err(failure),
        },
    }
}

fn failure(error: &arboard::Error) -> ClipboardError {
    match error {
        arboard::Error::ClipboardNotSupported => ClipboardError::Unavailable,
        arboard::Error::ClipboardOccupied => ClipboardError::Busy,
        _ => ClipboardError::Io,
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
mod system {
    use arboard::{ClearExtLinux, GetExtLinux, SetExtLinux};

    use super::*;
    use crate::window::input::buffer::kind;

    pub(super) fn get(
        clipboard: &mut arboard::Clipboard,
        buffer: Buffer,
    ) -> Result<arboard::Get<'_>, ClipboardError> {
        Ok(clipboard.get().clipboard(kind(buffer)))
    }

    pub(super) fn set(
        clipboard: &mut arboard::Clipboard,
        buffer: Buffer,
    ) -> Result<arboard::Set<'_>, ClipboardError> {
        Ok(clipboard.set().clipboard(kind(buffer)))
    }

    pub(super) fn clear(
        clipboard: &mut arboard::Clipboard,
        buffer: Buffer,
    ) -> Result<Result<(), arboard::Error>, ClipboardError> {
        Ok(clipboard.clear_with().clipboard(kind(buffer)))
    }
}

/// Other systems have no primary selection.
#[cfg(not(all(unix, not(target_os = "macos"))))]
mod system {
    use super::*;

    fn check(buffer: Buffer) -> Result<(), ClipboardError> {
        match buffer {
            Buffer::Clipboard => Ok(()),
            Buffer::Primary => Err(ClipboardError::Unavailable),
        }
    }

    pub(super) fn get(
        clipboard: &mut arboard::Clipboard,
        buffer: Buffer,
    ) -> Result<arboard::Get<'_>, ClipboardError> {
        check(buffer).map(|()| clipboard.get())
    }

    pub(super) fn set(
        clipboard: &mut arboard::Clipboard,
        buffer: Buffer,
    ) -> Result<arboard::Set<'_>, ClipboardError> {
        check(buffer).map(|()| clipboard.set())
    }

    pub(super) fn clear(
        clipboard: &mut arboard::Clipboard,
        buffer: Buffer,
    ) -> Result<Result<(), arboard::Error>, ClipboardError> {
        check(buffer).map(|()| clipboard.clear())
    }
}

use system::{clear, get, set};

#[cfg(test)]
mod tests {
    use super::*;

    fn content(types: &[(&str, &[u8])]) -> Result<Content, ClipboardError> {
        let data = types.iter().map(|(name, bytes)| ((*name).to_owned(), Arc::new(bytes.to_vec())));
        Content::of(&data.collect())
    }

    /// The content as text, for comparison.
    fn chosen(types: &[(&str, &[u8])]) -> String {
        format!("{:?}", content(types))
    }

    #[test]
    fn names_of_types_have_forms() {
        for (name, form) in [
            ("text/plain", Some(Form::Text)),
            ("Text/Plain;charset=UTF-8", Some(Form::Text)),
            ("text/plain; charset=utf-8", Some(Form::Text)),
            ("UTF8_STRING", Some(Form::Text)),
            ("text/html", Some(Form::Html)),
            ("text/html;charset=utf-8", Some(Form::Html)),
            ("image/png", Some(Form::Png)),
            ("text/uri-list", Some(Form::Files)),
            ("text/plain;charset=latin1", None),
            ("image/png;charset=utf-8", None),
            ("image/jpeg", None),
            ("text", None),
            ("", None),
        ] {
            assert_eq!(Form::of(name), form, "{name}");
        }
    }

    #[test]
    fn one_content_is_chosen_from_the_data() {
        let png = captures::png_of(1, 1, vec![1, 2, 3, 255]).expect("a picture");
        let (text, html) = (("text/plain", &b"hi"[..]), ("text/html", &b"<b>hi</b>"[..]));
        let png = ("image/png", &png[..]);
        let other = ("application/x-other", &b"x"[..]);
        assert_eq!(chosen(&[]), "Ok(Nothing)");
        assert_eq!(chosen(&[text]), "Ok(Text(\"hi\"))");
        assert_eq!(chosen(&[other, text]), "Ok(Text(\"hi\"))");
        assert_eq!(chosen(&[html, text]), "Ok(Html(\"<b>hi</b>\", Some(\"hi\")))");
        assert_eq!(chosen(&[html]), "Ok(Html(\"<b>hi</b>\", None))");
        assert_eq!(chosen(&[html, png]), "Ok(Picture(Picture(1×1)))");
        assert_eq!(chosen(&[png, text]), "Ok(Text(\"hi\"))");
    }

    #[test]
    fn files_must_exist_on_this_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a file");
        std::fs::write(&file, "").expect("a file");
        let uri = file_uri(&file);
        let list = format!("# a comment\r\n{uri}\r\n");
        let found = content(&[("text/uri-list", list.as_bytes())]);
        let Ok(Content::Files(files)) = found else { panic!("{found:?}") };
        assert_eq!(files, [file]);
        for list in ["", "http://example.org/x", "file:///no/such/file", "file://other.host/tmp"] {
            let found = content(&[("text/uri-list", list.as_bytes())]);
            assert_eq!(found.err(), Some(ClipboardError::Io), "{list}");
        }
    }

    #[test]
    fn data_that_can_not_be_carried_is_an_error() {
        for data in [
            ("application/pdf", &b"x"[..]),
            ("text/plain", &b"\xff"[..]),
            ("text/html", &b"\xff"[..]),
            ("image/png", &b"no picture"[..]),
            ("image/jpeg", &b"x"[..]),
        ] {
            assert_eq!(content(&[data]).err(), Some(ClipboardError::Io), "{}", data.0);
        }
    }
}
