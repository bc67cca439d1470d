//! A recording's log: one line per event, `<unix_micros>\t<event>\t<base64>`. Lines are written as events happen, so
//! that the recording can be rendered even if its process was killed.

use std::{
    fs::File,
    io::{self, BufRead, Read as _},
};

use base64::{Engine, engine::general_purpose::STANDARD};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Output of the program.
    Out,
    /// Input to the program.
    In,
    /// The start of a prompt (OSC 133 A).
    Prompt,
    /// The start of the input line (OSC 133 B), or the line that the shell reports (OSC 633 E).
    Input,
    /// The start of a command's output (OSC 133 C).
    Output,
    /// The end of a command (OSC 133 D).
    Exit,
}

impl EventKind {
    const NAMES: [(Self, &'static str); 6] = [
        (Self::Out, "out"),
        (Self::In, "in"),
        (Self::Prompt, "block_prompt"),
        (Self::Input, "block_input"),
        (Self::Output, "block_output"),
        (Self::Exit, "block_exit"),
    ];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// An event in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Microseconds since 1970.
    pub micros: u64,
    /// The kind.
    pub kind: EventKind,
    /// The bytes. For a mark, its content without the pane's nonce.
    pub bytes: Vec<u8>,
}

impl Event {
    /// Appends the event's line.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{}\t{}\t", self.micros, self.kind.name()).as_bytes());
        out.extend_from_slice(STANDARD.encode(&self.bytes).as_bytes());
        out.push(b'\n');
    }

    /// Parses a line. `None` if it is invalid or incomplete.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let micros = fields.next()?.parse().ok()?;
        let name = fields.next()?;
        let (kind, _) = EventKind::NAMES.iter().find(|(_, known)| *known == name)?;
        let bytes = STANDARD.decode(fields.next()?).ok()?;
        Some(Self { micros, kind: *kind, bytes })
    }
}

/// The maximum number of bytes of a log that are read. This is several times the maximum size of a log.
const LONGEST: u64 = 128 << 20;

/// Reads a log, skipping invalid lines.
pub fn read(file: File) -> io::Result<Vec<Event>> {
    let rest = file.metadata()?.len().saturating_sub(LONGEST);
    let mut events = Vec::new();
    for line in io::BufReader::new(file.take(LONGEST)).split(b'\n') {
        let line = line?;
        events.extend(str::from_utf8(&line).ok().and_then(Event::read));
    }
    if rest > 0 {
        let bytes = format!("\r\n[{rest} more bytes are in the log]\r\n").into_bytes();
        let micros = events.last().map_or(0, |event| event.micros);
        events.push(Event { micros, kind: EventKind::Out, bytes });
    }
    Ok(events)
}

/// The maximum length of a mark.
const LONGEST_MARK: usize = 8 << 10;
/// The beginnings of marks.
const MARKS: [&[u8]; 2] = [b"\x1b]133;", b"\x1b]633;E;"];

/// Separates shell integration marks from other output. The output may arrive in chunks of any size.
#[derive(Default)]
pub struct Splitter {
    /// Bytes that may be the start of a mark.
    held: Vec<u8>,
}

impl Splitter {
    /// Returns the held bytes as output. Called at the end, because no further output can complete a mark.
    pub fn finish(&mut self, micros: u64) -> Option<Event> {
        let bytes = std::mem::take(&mut self.held);
        (!bytes.is_empty()).then_some(Event { micros, kind: EventKind::Out, bytes })
    }

    /// Splits a chunk of output into events.
    pub fn split(&mut self, micros: u64, bytes: &[u8]) -> Vec<Event> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut rest = all.as_slice();
        let mut plain: Vec<u8> = Vec::new();
        while let Some(at) = memchr::memchr(0x1b, rest) {
            plain.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            let start = MARKS.iter().find(|start| rest.starts_with(start));
            let Some(start) = start else {
                if MARKS.iter().any(|start| start.starts_with(rest)) {
                    self.held = rest.to_vec();
                    rest = &[];
                    break;
                }
                plain.push(rest[0]);
                rest = &rest[1..];
                continue;
            };
            let body = &rest[start.len()..];
            let Some(end) = memchr::memchr2(0x07, 0x1b, body) else {
                if body.len() < LONGEST_MARK {
                    self.held = rest.to_vec();
                } else {
                    plain.extend_from_slice(rest);
                }
                rest = &[];
                break;
            };
            // The mark ends with BEL or ESC \.
            let after = if body[end] == 0x07 { end + 1 } else { (end + 2).min(body.len()) };
            let is_line = start.len() > MARKS[0].len();
            let kind = match body.first() {
                _ if is_line => Some(EventKind::Input),
                Some(b'A') => Some(EventKind::Prompt),
                // A prompt that need not begin on a new line, as bash's integration marks it.
                Some(b'P') if body.starts_with(b"P;k=i") => Some(EventKind::Prompt),
                Some(b'B') => Some(EventKind::Input),
                Some(b'C') => Some(EventKind::Output),
                Some(b'D') => Some(EventKind::Exit),
                _ => None,
            };
            if let Some(kind) = kind {
                if !plain.is_empty() {
                    let bytes = std::mem::take(&mut plain);
                    events.push(Event { micros, kind: EventKind::Out, bytes });
                }
                let bytes = without_nonce(&body[..end], is_line);
                events.push(Event { micros, kind, bytes });
            }
            rest = &body[after..];
        }
        plain.extend_from_slice(rest);
        if !plain.is_empty() {
            events.push(Event { micros, kind: EventKind::Out, bytes: plain });
        }
        events
    }
}

/// The mark without its nonce, which only the pane's own shells may know. A mark with a reported line keeps its `E;`.
fn without_nonce(body: &[u8], is_line: bool) -> Vec<u8> {
    if is_line {
        let line = body.split(|byte| *byte == b';').next().unwrap_or_default();
        return [b"E;", line].concat();
    }
    let parts = body.split(|byte| *byte == b';').filter(|part| !part.starts_with(b"nonce="));
    parts.collect::<Vec<_>>().join(&b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_apart_however_the_output_is_cut() {
        let stream = b"$ \x1b]133;B\x07ls\r\n\x1b]633;E;ls -l;n1\x07\x1b]133;C;nonce=n1\x1b\\\x1b[1mout\r\n\x1b]133;D;3;nonce=n1\x07";
        let expected = [
            (EventKind::Out, "$ "),
            (EventKind::Input, "B"),
            (EventKind::Out, "ls\r\n"),
            (EventKind::Input, "E;ls -l"),
            (EventKind::Output, "C"),
            (EventKind::Out, "\x1b[1mout\r\n"),
            (EventKind::Exit, "D;3"),
        ];
        for cut in 0..stream.len() {
            let mut splitter = Splitter::default();
            let mut joined: Vec<(EventKind, Vec<u8>)> = Vec::new();
            for piece in [&stream[..cut], &stream[cut..]] {
                for event in splitter.split(1, piece) {
                    match joined.last_mut() {
                        Some((EventKind::Out, bytes)) if event.kind == EventKind::Out => {
                            bytes.extend(event.bytes)
                        }
                        _ => joined.push((event.kind, event.bytes)),
                    }
                }
            }
            let joined: Vec<_> = joined
                .iter()
                .map(|(kind, bytes)| (*kind, str::from_utf8(bytes).unwrap()))
                .collect();
            // The `\` of an ESC \ may be in the next chunk.
            let joined: Vec<_> = joined
                .into_iter()
                .map(|(kind, text)| (kind, text.strip_prefix('\\').unwrap_or(text)))
                .collect();
            assert_eq!(joined, expected, "cut at {cut}");
        }
    }

    #[test]
    fn half_a_line_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let event = Event { micros: 5, kind: EventKind::Exit, bytes: b"D;1".to_vec() };
        let mut text = Vec::new();
        event.write(&mut text);
        text.extend_from_slice(b"6\tout\taGV");
        std::fs::write(&path, text).unwrap();
        assert_eq!(read(File::open(&path).unwrap()).unwrap(), [event]);
    }
}
