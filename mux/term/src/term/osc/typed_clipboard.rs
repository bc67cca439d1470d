//! OSC 5522: programs exchange data of several types with clipboards (kitty's "Copying all data types to the clipboard").
//!
//! Owns the data that is arriving for a clipboard, and the requests that wait for an answer. Only the terminal's owner
//! can answer a request; the engine itself answers invalid requests, and requests that exceed a limit.

use std::sync::Arc;

use base64::Engine as _;

use super::terminator;
use super::text::{BASE64, fit};
use crate::term::Term;
use crate::term::settings::conformance::Conformance;
use crate::{ClipboardTarget, Event};

/// Maximum reads that wait for an answer.
const READS_CAP: usize = 8;
/// Maximum writes that have arrived and wait for an answer.
const WRITES_CAP: usize = 8;
/// Maximum bytes of data that are arriving or wait for an answer.
const DATA_CAP: usize = 64 << 20;
/// Maximum types of one request, aliases included.
const TYPES_CAP: usize = 32;
/// Maximum bytes of the name of a type, of an identifier, of a program's name and of a password.
const TYPE_CAP: usize = 256;
const ID_CAP: usize = 128;
const NAME_CAP: usize = 128;
const PASSWORD_CAP: usize = 256;
/// Maximum bytes of data in one packet of a reply, before they are encoded (kitty, "Reading data").
const CHUNK: usize = 4096;
/// The log's names for what exceeds a cap.
const REQUEST: &str = "request of OSC 5522";
const DATA: &str = "data for a clipboard";
/// The name with which a program asks for the list of types.
const LIST: &str = ".";

/// The name of a type, and the clipboard's data in this type.
pub type ClipboardItem = (String, Arc<Vec<u8>>);
/// The data of a clipboard: each type with its bytes.
pub type ClipboardData = Vec<ClipboardItem>;

/// A program's request to read a clipboard (OSC 5522). [`Term::take_clipboard_read`] answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipboardRead {
    /// The request's handle. No other request of this terminal has the same one.
    pub handle: u64,
    /// Which clipboard.
    pub target: ClipboardTarget,
    /// The types that the program wants, each once, in its order. `.` stands for the list of all types.
    pub types: Vec<String>,
    /// The name and the password that the program gave, if it gave any.
    pub requester: Option<ClipboardRequester>,
}

impl ClipboardRead {
    /// Whether the program wants only the list of types, and no data.
    pub fn is_list(&self) -> bool {
        self.types == [LIST]
    }

    /// The types without the list.
    pub fn data_types(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(String::as_str).filter(|name| *name != LIST)
    }
}

/// The name and the password by which a program can be recognized. Any program may use any name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipboardRequester {
    /// The program's name for the user, at most 128 bytes without control characters.
    pub name: String,
    /// A secret of the program, at most 256 bytes.
    pub password: String,
}

/// Data that a program wrote to a clipboard (OSC 5522). [`Term::answer_clipboard_write`] answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipboardWrite {
    /// The request's handle. No other request of this terminal has the same one.
    pub handle: u64,
    /// Which clipboard.
    pub target: ClipboardTarget,
    /// The data, at most 64 MiB. An alias shares the bytes of its type. Empty: the clipboard is to be cleared.
    pub data: ClipboardData,
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipboardError {
    /// EBUSY: a temporary problem.
    Busy,
    /// EINVAL: a packet was invalid. Only for writes.
    Invalid,
    /// EIO: the data can't be processed. Only for writes.
    Io,
    /// EPERM: the user or the system denied it.
    Denied,
    /// ENOSYS: there is no such clipboard.
    Unavailable,
}

impl ClipboardError {
    fn code(self) -> &'static str {
        match self {
            Self::Busy => "EBUSY",
            Self::Invalid => "EINVAL",
            Self::Io => "EIO",
            Self::Denied => "EPERM",
            Self::Unavailable => "ENOSYS",
        }
    }
}

/// The identifier of a request, and the terminator of its packets. The packets of the replies repeat both.
#[derive(Clone, Debug, Default)]
struct Replies {
    id: Option<String>,
    bell: bool,
}

/// A read that waits for its data. It writes the reply, which can be longer than the replies that a terminal queues.
#[derive(Debug)]
pub struct ClipboardReader {
    handle: u64,
    target: ClipboardTarget,
    replies: Replies,
    is_eight_bit: bool,
}

impl ClipboardReader {
    /// The reply. Data must contain each type at most once. A failure for which a read has no code counts as a temporary
    /// problem.
    pub fn reply(&self, data: Result<&[ClipboardItem], ClipboardError>) -> Vec<u8> {
        let data = data.map_err(|error| match error {
            ClipboardError::Invalid | ClipboardError::Io => ClipboardError::Busy,
            error => error,
        });
        let packets = self.replies.of_read(self.target, data, None);
        if self.is_eight_bit { widened(&packets) } else { packets.into_bytes() }
    }
}

impl Replies {
    /// The packets that answer a read, or that report a paste if there is a password.
    fn of_read(
        &self,
        target: ClipboardTarget,
        data: Result<&[ClipboardItem], ClipboardError>,
        password: Option<&str>,
    ) -> String {
        let mut out = String::new();
        let password = password.map(|password| format!(":pw={}", BASE64.encode(password)));
        let password = password.as_deref().unwrap_or_default();
        let data = match data {
            Ok(data) => data,
            Err(error) => {
                self.packet(&mut out, "read", error.code(), "", None);
                return out;
            }
        };
        let loc = if target == ClipboardTarget::Primary { ":loc=primary" } else { "" };
        self.packet(&mut out, "read", "OK", &format!("{loc}{password}"), None);
        for (name, bytes) in data {
            let keys = format!(":mime={}{password}", BASE64.encode(name));
            // A type without data has one packet, so that the program knows that the clipboard contains it.
            let mut chunks = bytes.chunks(CHUNK);
            let first = chunks.next().unwrap_or_default();
            for chunk in std::iter::once(first).chain(chunks) {
                self.packet(&mut out, "read", "DATA", &keys, Some(chunk));
            }
        }
        self.packet(&mut out, "read", "DONE", password, None);
        out
    }

    /// Appends a packet. Only the data of a packet can be long.
    fn packet(&self, out: &mut String, kind: &str, status: &str, keys: &str, data: Option<&[u8]>) {
        out.push_str("\x1b]5522;type=");
        out.push_str(kind);
        out.push_str(":status=");
        out.push_str(status);
        if let Some(id) = &self.id {
            out.push_str(":id=");
            out.push_str(id);
        }
        out.push_str(keys);
        if let Some(data) = data {
            out.push(';');
            BASE64.encode_string(data, out);
        }
        out.push_str(terminator(self.bell));
    }
}

/// Packets with 8-bit controls.
fn widened(packets: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(packets.len());
    Conformance::default().widen(packets.as_bytes(), &mut out);
    out
}

/// A write whose data is arriving.
#[derive(Debug)]
struct Arriving {
    target: ClipboardTarget,
    replies: Replies,
    types: Vec<(String, Vec<u8>)>,
    /// Each alias with its type.
    aliases: Vec<(String, String)>,
    /// Base64 of the last type that the next chunk continues, at most 3 characters. A chunk without padding may end
    /// anywhere.
    rest: Vec<u8>,
    /// The bytes of all types.
    bytes: usize,
}

impl Arriving {
    /// Adds a chunk of data of a type. All chunks of a type must follow each other. `room`: how many bytes all types may
    /// have.
    fn add(&mut self, name: &str, chunk: &[u8], room: usize) -> Result<(), ClipboardError> {
        if self.types.last().is_none_or(|(last, _)| last != name) {
            self.finish_type()?;
            if self.types.iter().any(|(earlier, _)| earlier == name) {
                return Err(ClipboardError::Invalid);
            }
            if self.types.len() + self.aliases.len() == TYPES_CAP {
                return Err(ClipboardError::Io);
            }
            self.types.push((name.to_owned(), Vec::new()));
        }
        for piece in chunk.split_inclusive(|&b| b == b'=') {
            let text = piece.strip_suffix(b"=").unwrap_or(piece);
            if self.bytes + (self.rest.len() + text.len()) / 4 * 3 > room {
                return Err(ClipboardError::Io);
            }
            self.rest.extend_from_slice(text);
            let mut whole = std::mem::take(&mut self.rest);
            self.rest = whole.split_off(whole.len() / 4 * 4);
            self.decode(&whole)?;
            if !self.rest.iter().all(is_base64) {
                return Err(ClipboardError::Invalid);
            }
            // A second padding character follows a piece that is decoded already.
            if piece.ends_with(b"=") {
                self.finish_type()?;
            }
        }
        Ok(())
    }

    /// Decodes the rest of the last type, which is complete.
    fn finish_type(&mut self) -> Result<(), ClipboardError> {
        let rest = std::mem::take(&mut self.rest);
        self.decode(&rest)
    }

    fn decode(&mut self, base64: &[u8]) -> Result<(), ClipboardError> {
        let Some((_, bytes)) = self.types.last_mut() else { return Ok(()) };
        let before = bytes.len();
        BASE64.decode_vec(base64, bytes).map_err(|_| ClipboardError::Invalid)?;
        self.bytes += bytes.len() - before;
        Ok(())
    }

    fn add_aliases(&mut self, name: &str, aliases: Vec<String>) -> Result<(), ClipboardError> {
        if self.types.len() + self.aliases.len() + aliases.len() > TYPES_CAP {
            return Err(ClipboardError::Io);
        }
        self.aliases.extend(aliases.into_iter().map(|alias| (alias, name.to_owned())));
        Ok(())
    }

    /// The data with its aliases. An alias of a type that was not sent has no effect, nor has one whose name has data of
    /// its own.
    fn into_data(self) -> ClipboardData {
        let types = self.types.into_iter();
        let mut data: ClipboardData = types.map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        for (alias, name) in self.aliases {
            let find = |wanted: &str| data.iter().find(|(name, _)| name == wanted);
            if find(&alias).is_none()
                && let Some((_, bytes)) = find(&name)
            {
                let bytes = Arc::clone(bytes);
                data.push((alias, bytes));
            }
        }
        data
    }
}

/// A write that has arrived and waits for an answer.
#[derive(Debug)]
struct Arrived {
    handle: u64,
    replies: Replies,
    bytes: usize,
}

/// The requests of one terminal.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last_handle: u64,
    reads: Vec<ClipboardReader>,
    arriving: Option<Arriving>,
    arrived: Vec<Arrived>,
}

impl Requests {
    /// Forgets all requests. Later requests get other handles, so that a late answer reaches none of them.
    pub fn forget(&mut self) {
        *self = Self { last_handle: self.last_handle, ..Self::default() };
    }

    fn next_handle(&mut self) -> u64 {
        self.last_handle += 1;
        self.last_handle
    }

    /// The bytes of data that are arriving.
    pub fn arriving_bytes(&self) -> usize {
        self.arriving.as_ref().map_or(0, |arriving| arriving.bytes + arriving.rest.len())
    }

    /// The bytes of data that a write may have now.
    fn room(&self) -> usize {
        DATA_CAP.saturating_sub(self.arrived.iter().map(|arrived| arrived.bytes).sum())
    }
}

/// The text of a request between the number and the payload: `key=value` pairs separated by `:`.
struct Metadata<'a> {
    kind: &'a [u8],
    target: ClipboardTarget,
    id: Option<String>,
    /// The name of a type, in base64.
    mime: Option<&'a [u8]>,
    requester: Option<ClipboardRequester>,
}

impl<'a> Metadata<'a> {
    /// `None` if a pair has no `=`, or if a value is too long.
    fn parse(text: &'a [u8]) -> Option<Self> {
        let mut metadata = Self {
            kind: b"",
            target: ClipboardTarget::Clipboard,
            id: None,
            mime: None,
            requester: None,
        };
        let (mut name, mut password) = (String::new(), String::new());
        for pair in text.split(|&b| b == b':') {
            let (key, value) = pair.split_at(pair.iter().position(|&b| b == b'=')?);
            let value = &value[1..];
            match key {
                b"type" => metadata.kind = value,
                b"loc" if value == b"primary" => metadata.target = ClipboardTarget::Primary,
                b"id" => metadata.id = identifier(value)?,
                b"mime" => metadata.mime = Some(value),
                b"name" => name = fit(&BASE64.decode(value).ok()?, NAME_CAP)?,
                b"pw" => password = String::from_utf8(BASE64.decode(value).ok()?).ok()?,
                _ => {}
            }
        }
        if password.len() > PASSWORD_CAP {
            return None;
        }
        // A password without a name counts as none (kitty, "Avoiding repeated permission prompts").
        if !name.trim().is_empty() && !password.is_empty() {
            metadata.requester = Some(ClipboardRequester { name, password });
        }
        Some(metadata)
    }

    /// The name of the type.
    fn mime(&self) -> Result<Option<String>, ClipboardError> {
        let Some(mime) = self.mime.filter(|mime| !mime.is_empty()) else { return Ok(None) };
        let name = BASE64.decode(mime).ok().and_then(|name| String::from_utf8(name).ok());
        name.filter(|name| is_type(name)).map(Some).ok_or(ClipboardError::Invalid)
    }
}

/// The characters of an identifier that a reply may contain (kitty, "Support for terminal multiplexers"). The outer
/// `None` if there are too many.
fn identifier(value: &[u8]) -> Option<Option<String>> {
    let is_fit = |&b: &u8| b.is_ascii_alphanumeric() || b"-_+.".contains(&b);
    let id: String = value.iter().copied().filter(is_fit).map(char::from).collect();
    (id.len() <= ID_CAP).then(|| Some(id).filter(|id| !id.is_empty()))
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/".contains(byte)
}

/// Whether a text may name a type.
fn is_type(name: &str) -> bool {
    (1..=TYPE_CAP).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic())
}

/// Decodes a list of types, each once. `None` if it is no base64, or if a name is invalid.
fn types(payload: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8(BASE64.decode(payload).ok()?).ok()?;
    let mut types: Vec<String> = Vec::new();
    for name in text.split_ascii_whitespace() {
        if !is_type(name) {
            return None;
        }
        if !types.iter().any(|earlier| earlier == name) {
            types.push(name.to_owned());
        }
        if types.len() > TYPES_CAP {
            break;
        }
    }
    Some(types)
}

impl Term {
    /// `metadata ; base64`.
    pub(super) fn exchange_clipboard(&mut self, rest: &[u8], bell: bool) {
        let (text, mut payload) = split(rest);
        let Some(mut metadata) = Metadata::parse(text) else {
            return tracing::debug!("OSC 5522 with invalid metadata");
        };
        match metadata.kind {
            b"read" => self.read_clipboard(metadata, payload, bell),
            b"write" => self.begin_clipboard_write(metadata, bell),
            b"wdata" => {
                let added = self.add_clipboard_data(&metadata, payload);
                self.go_on_with_write(added);
            }
            b"walias" => {
                // The specification shows the key after a semicolon; kitty's own programs send it after a colon.
                if let Some(more) = payload.strip_prefix(b"mime=") {
                    let (mime, aliases) = split(more);
                    metadata.mime = Some(mime);
                    payload = aliases;
                }
                let added = self.add_clipboard_aliases(&metadata, payload);
                self.go_on_with_write(added);
            }
            _ => tracing::debug!("OSC 5522 of an unknown type"),
        }
    }

    fn read_clipboard(&mut self, metadata: Metadata<'_>, payload: &[u8], bell: bool) {
        // A read has no code for an invalid request.
        let Some(types) = types(payload) else {
            return tracing::debug!("OSC 5522 with an invalid list of types");
        };
        if types.len() > TYPES_CAP {
            return self.caps.dropped(REQUEST, TYPES_CAP);
        }
        let (target, replies) = (metadata.target, Replies { id: metadata.id, bell });
        let requests = &mut self.osc.clipboard_requests;
        let failure = if !self.has_clipboard {
            Some(ClipboardError::Unavailable)
        } else if requests.reads.len() == READS_CAP {
            Some(ClipboardError::Busy)
        } else {
            None
        };
        if failure.is_some() || types.is_empty() {
            let reply = replies.of_read(target, failure.map_or(Ok(&[]), Err), None);
            return self.reply(reply.as_bytes());
        }
        let handle = requests.next_handle();
        requests.reads.push(ClipboardReader { handle, target, replies, is_eight_bit: false });
        let read = ClipboardRead { handle, target, types, requester: metadata.requester };
        self.event(Event::ClipboardRead(Box::new(read)));
    }

    fn begin_clipboard_write(&mut self, metadata: Metadata<'_>, bell: bool) {
        let replies = Replies { id: metadata.id, bell };
        self.osc.clipboard_requests.arriving = Some(Arriving {
            target: metadata.target,
            replies,
            types: Vec::new(),
            aliases: Vec::new(),
            rest: Vec::new(),
            bytes: 0,
        });
        if !self.has_clipboard {
            self.go_on_with_write(Err(ClipboardError::Unavailable));
        } else if self.osc.clipboard_requests.arrived.len() == WRITES_CAP {
            self.go_on_with_write(Err(ClipboardError::Busy));
        }
    }

    /// Adds data to the write. A packet without a type and data ends the write.
    fn add_clipboard_data(
        &mut self,
        metadata: &Metadata<'_>,
        payload: &[u8],
    ) -> Result<(), ClipboardError> {
        let requests = &mut self.osc.clipboard_requests;
        let room = requests.room();
        let Some(arriving) = &mut requests.arriving else { return Ok(()) };
        match metadata.mime()? {
            Some(name) => return arriving.add(&name, payload, room),
            None if !payload.is_empty() => return Err(ClipboardError::Invalid),
            None => arriving.finish_type()?,
        }
        let handle = requests.next_handle();
        let Some(arriving) = requests.arriving.take() else { return Ok(()) };
        let (target, bytes) = (arriving.target, arriving.bytes);
        requests.arrived.push(Arrived { handle, replies: arriving.replies.clone(), bytes });
        let write = ClipboardWrite { handle, target, data: arriving.into_data() };
        self.event(Event::ClipboardWrite(Box::new(write)));
        Ok(())
    }

    fn add_clipboard_aliases(
        &mut self,
        metadata: &Metadata<'_>,
        payload: &[u8],
    ) -> Result<(), ClipboardError> {
        let Some(arriving) = &mut self.osc.clipboard_requests.arriving else { return Ok(()) };
        let name = metadata.mime()?.ok_or(ClipboardError::Invalid)?;
        let aliases = types(payload).ok_or(ClipboardError::Invalid)?;
        arriving.add_aliases(&name, aliases)
    }

    /// After an error, reports it and drops the write, so that the rest of its packets is ignored.
    fn go_on_with_write(&mut self, outcome: Result<(), ClipboardError>) {
        let Err(error) = outcome else { return };
        let Some(arriving) = self.osc.clipboard_requests.arriving.take() else { return };
        if error == ClipboardError::Io {
            self.caps.dropped(DATA, DATA_CAP);
        }
        self.reply_to_write(&arriving.replies, Err(error));
    }

    fn reply_to_write(&mut self, replies: &Replies, outcome: Result<(), ClipboardError>) {
        let mut packet = String::new();
        let status = outcome.map_or_else(ClipboardError::code, |()| "DONE");
        replies.packet(&mut packet, "write", status, "", None);
        self.reply(packet.as_bytes());
    }

    /// Takes a read that waits for its data ([`Event::ClipboardRead`]). `None` if the read was already answered, or if the
    /// program that asked has ended. The caller sends the reply to the program.
    pub fn take_clipboard_read(&mut self, handle: u64) -> Option<ClipboardReader> {
        let reads = &mut self.osc.clipboard_requests.reads;
        let at = reads.iter().position(|read| read.handle == handle)?;
        Some(ClipboardReader { is_eight_bit: self.conformance.eight_bit, ..reads.remove(at) })
    }

    /// Answers a write ([`Event::ClipboardWrite`]). Has no effect if the write was already answered, or if the program
    /// that wrote has ended.
    pub fn answer_clipboard_write(&mut self, handle: u64, outcome: Result<(), ClipboardError>) {
        let arrived = &mut self.osc.clipboard_requests.arrived;
        let Some(at) = arrived.iter().position(|write| write.handle == handle) else { return };
        let write = arrived.remove(at);
        self.reply_to_write(&write.replies, outcome);
    }

    /// The report of a paste for a program that asked for such reports ([`crate::Modes::PASTE_EVENTS`]): the types that
    /// the clipboard has, and a password for one read of their data.
    pub fn paste_event(&self, target: ClipboardTarget, types: &[&str], password: &str) -> Vec<u8> {
        let list = (LIST.to_owned(), Arc::new(types.join(" ").into_bytes()));
        let packets = Replies::default().of_read(target, Ok(&[list]), Some(password));
        if self.conformance.eight_bit { widened(&packets) } else { packets.into_bytes() }
    }

    /// The bytes of data that are arriving for a clipboard.
    pub(crate) fn clipboard_bytes(&self) -> usize {
        self.osc.clipboard_requests.arriving_bytes()
    }

    /// Forgets the requests of a program that has ended: an answer would be typed into the next program.
    pub(crate) fn forget_clipboard_requests(&mut self) {
        self.osc.clipboard_requests.forget();
    }

    /// Drops data that is arriving for a clipboard, for the sake of other terminals.
    pub(crate) fn shed_clipboard_data(&mut self) {
        if self.clipboard_bytes() > 0 {
            self.go_on_with_write(Err(ClipboardError::Busy));
        }
    }
}

/// The text before the first `;`, and the text after it.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&b| b == b';') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}
