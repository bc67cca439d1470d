//! The body of a message: a sequence of fields, each with a tag, a length and bytes.
//!
//! A reader skips fields whose tags it does not know, so that newer peers can add fields. Numbers are little-endian.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

/// The bytes before the contents of a field: a tag of two bytes, and a length of four bytes.
const FIELD_HEADER: usize = 6;

/// Why bytes are not a valid message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

/// Writes fields.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter(Vec<u8>);

impl FieldWriter {
    pub(crate) fn bytes(&mut self, tag: u16, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(&tag.to_le_bytes());
        // The frame refuses a body that is too long, so a length that does not fit never reaches a peer.
        self.0.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(&mut self, tag: u16, text: impl AsRef<OsStr>) -> &mut Self {
        self.bytes(tag, text.as_ref().as_bytes())
    }

    pub(crate) fn number(&mut self, tag: u16, number: u64) -> &mut Self {
        self.bytes(tag, &number.to_le_bytes())
    }

    /// Writes numbers one after the other into one field.
    pub(crate) fn numbers(&mut self, tag: u16, numbers: &[u64]) -> &mut Self {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.bytes(tag, &bytes)
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// A field that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) tag: u16,
    bytes: &'a [u8],
}

impl<'a> Field<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The contents as a string for the system: without a NUL.
    pub(crate) fn os_string(&self) -> Result<OsString, Broken> {
        match self.bytes.contains(&0) {
            true => Err(Broken(format!("field {} contains a NUL", self.tag))),
            false => Ok(OsString::from_vec(self.bytes.to_vec())),
        }
    }

    /// The contents as text of at most `longest` bytes.
    pub(crate) fn text(&self, longest: usize) -> Result<String, Broken> {
        if self.bytes.len() > longest {
            let length = self.bytes.len();
            return Err(Broken(format!(
                "field {} has {length} bytes, more than {longest}",
                self.tag
            )));
        }
        String::from_utf8(self.bytes.to_vec())
            .map_err(|_| Broken(format!("field {} is not UTF-8", self.tag)))
    }

    /// The contents as `NAME=VALUE`.
    pub(crate) fn variable(&self) -> Result<(OsString, OsString), Broken> {
        let at = self.bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0);
        let at = at.ok_or_else(|| Broken(format!("field {} is no NAME=VALUE", self.tag)))?;
        let whole = self.os_string()?.into_vec();
        Ok((OsString::from_vec(whole[..at].to_vec()), OsString::from_vec(whole[at + 1..].to_vec())))
    }

    pub(crate) fn number(&self) -> Result<u64, Broken> {
        let bytes = self.bytes.try_into();
        bytes.map(u64::from_le_bytes).map_err(|_| {
            Broken(format!("field {} has {} bytes, not 8", self.tag, self.bytes.len()))
        })
    }

    /// A number of a smaller type.
    pub(crate) fn small<T: TryFrom<u64>>(&self) -> Result<T, Broken> {
        let number = self.number()?;
        T::try_from(number)
            .map_err(|_| Broken(format!("{number} is too large for field {}", self.tag)))
    }

    pub(crate) fn numbers(&self) -> Result<Vec<u64>, Broken> {
        let (numbers, rest) = self.bytes.as_chunks();
        match rest.is_empty() {
            true => Ok(numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()),
            false => Err(Broken(format!("field {} ends inside a number", self.tag))),
        }
    }
}

/// Reads the fields of a body, in their order. Ends after the first error.
pub(crate) fn fields(body: &[u8]) -> impl Iterator<Item = Result<Field<'_>, Broken>> {
    let mut rest = body;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = first_field(rest);
        rest = match &field {
            Ok(field) => &rest[FIELD_HEADER + field.bytes.len()..],
            Err(_) => &[],
        };
        Some(field)
    })
}

fn first_field(body: &[u8]) -> Result<Field<'_>, Broken> {
    let cut = || Broken(format!("the last {} bytes are no whole field", body.len()));
    let (tag, rest) = body.split_first_chunk().ok_or_else(cut)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let bytes = rest.get(..u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
    Ok(Field { tag: u16::from_le_bytes(*tag), bytes })
}

/// Joins a variable's name and value.
pub(crate) fn variable(name: &OsStr, value: &OsStr) -> OsString {
    let mut whole = name.to_owned();
    whole.push("=");
    whole.push(value);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_written() {
        let body = FieldWriter::default()
            .text(1, "a")
            .number(2, u64::MAX)
            .numbers(3, &[7, 8])
            .bytes(4, b"")
            .finish();
        let read: Vec<_> = fields(&body).map(Result::unwrap).collect();
        assert_eq!(read.iter().map(|field| field.tag).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(read[0].os_string().unwrap(), "a");
        assert_eq!(read[1].number(), Ok(u64::MAX));
        assert_eq!(read[2].numbers(), Ok(vec![7, 8]));
        assert_eq!(read[3].bytes(), b"");
    }

    #[test]
    fn a_body_that_is_cut_anywhere_is_refused() {
        let body = FieldWriter::default().text(1, "text").number(2, 5).finish();
        let first = FIELD_HEADER + 4;
        for end in 0..body.len() {
            let is_whole = end == 0 || end == first;
            assert_eq!(fields(&body[..end]).all(|field| field.is_ok()), is_whole, "{end}");
        }
    }

    #[test]
    fn contents_of_another_type_are_refused() {
        let body = FieldWriter::default().bytes(9, b"a\0b").finish();
        let field = fields(&body).next().unwrap().unwrap();
        assert_eq!(field.os_string().unwrap_err().to_string(), "field 9 contains a NUL");
        assert_eq!(field.number().unwrap_err().to_string(), "field 9 has 3 bytes, not 8");
        assert_eq!(field.numbers().unwrap_err().to_string(), "field 9 ends inside a number");
        assert_eq!(field.text(2).unwrap_err().to_string(), "field 9 has 3 bytes, more than 2");
        assert_eq!(field.variable().unwrap_err().to_string(), "field 9 is no NAME=VALUE");
        let body = FieldWriter::default().number(1, 1 << 40).bytes(2, b"\xff").finish();
        let read: Vec<_> = fields(&body).map(Result::unwrap).collect();
        assert_eq!(
            read[0].small::<u16>().unwrap_err().to_string(),
            "1099511627776 is too large for field 1"
        );
        assert_eq!(read[1].text(9).unwrap_err().to_string(), "field 2 is not UTF-8");
    }
}
