//! An X server of the test's own, and a person in front of it: keys, mouse, window size and pixels.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use x11rb::{
    connection::Connection as _,
    protocol::{
        xkb::{self, ConnectionExt as _},
        xproto::{self, ConfigureWindowAux, ConnectionExt as _, ImageFormat, InputFocus},
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

use crate::{Instance, process::Ended, wait_for, wait_until};

/// An Xvfb on a display number that was free, without a window manager until one is started; ended when dropped.
pub struct Display {
    _server: Ended,
    number: u32,
    pub(crate) connection: RustConnection,
    pub(crate) root: xproto::Window,
    keys: Keys,
}

/// Its screen, in pixels.
const SIZE: (u16, u16) = (1280, 800);

impl Display {
    /// Starts it, 1280×800 in true colour, with a US keyboard.
    ///
    /// # Errors
    ///
    /// When Xvfb is not installed or does not start.
    pub fn start() -> Result<Self> {
        Self::with(SIZE, "us", "")
    }

    /// The same with a screen of another size, in pixels.
    ///
    /// # Errors
    ///
    /// When Xvfb is not installed or does not start.
    pub fn sized(width: u16, height: u16) -> Result<Self> {
        Self::with((width, height), "us", "")
    }

    /// The same with another keyboard: a layout and a variant of it, as setxkbmap takes them.
    ///
    /// # Errors
    ///
    /// When Xvfb or setxkbmap is not installed or fails.
    pub fn with_keyboard(layout: &str, variant: &str) -> Result<Self> {
        Self::with(SIZE, layout, variant)
    }

    fn with((width, height): (u16, u16), layout: &str, variant: &str) -> Result<Self> {
        let server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                &format!("{width}x{height}x24"),
                "-nolisten",
                "tcp",
                "-noreset",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting Xvfb")?;
        let mut server = Ended(server);
        let mut line = String::new();
        let stdout = server.0.stdout.take().context("Xvfb's stdout")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let number = line.trim().parse().context("Xvfb gave no display number")?;
        let map = Command::new("setxkbmap")
            .args(["-display", &format!(":{number}"), "-layout", layout, "-variant", variant])
            .stdin(Stdio::null())
            .status()
            .context("starting setxkbmap")?;
        ensure!(map.success(), "setxkbmap does not know {layout} {variant}");
        let (connection, screen) = x11rb::connect(Some(&format!(":{number}")))?;
        let root = connection.setup().roots[screen].root;
        let keys = Keys::read(&connection)?;
        Ok(Self { _server: server, number, connection, root, keys })
    }

    /// Its name, as in `$DISPLAY`.
    pub fn name(&self) -> String {
        format!(":{}", self.number)
    }

    /// Waits for the window of an instance, gives it the keyboard and returns it.
    ///
    /// # Errors
    ///
    /// When none comes.
    pub fn window_of(&self, unterm: &Instance) -> Result<Window<'_>> {
        let id = wait_for("the window", || self.find_window(unterm.pid()), || unterm.log())?;
        self.connection.set_input_focus(InputFocus::PARENT, id, x11rb::CURRENT_TIME)?;
        self.connection.sync_all()?;
        Ok(Window { display: self, id })
    }

    /// The windows of programs: the root's children, and those that a window manager has put into frames.
    fn top_windows(&self) -> Result<Vec<xproto::Window>> {
        let mut windows = self.connection.query_tree(self.root)?.reply()?.children;
        windows.extend(self.root_windows(b"_NET_CLIENT_LIST")?);
        Ok(windows)
    }

    /// The windows that a property of the root names.
    pub(crate) fn root_windows(&self, property: &[u8]) -> Result<Vec<xproto::Window>> {
        let property = self.connection.intern_atom(false, property)?.reply()?.atom;
        let kind = xproto::AtomEnum::WINDOW;
        let list = self.connection.get_property(false, self.root, property, kind, 0, 1024)?;
        Ok(list.reply()?.value32().into_iter().flatten().collect())
    }

    /// A viewable top-level window whose `_NET_WM_PID` is `pid`.
    fn find_window(&self, pid: u32) -> Result<Option<xproto::Window>> {
        let property = self.connection.intern_atom(false, b"_NET_WM_PID")?.reply()?.atom;
        for window in self.top_windows()? {
            // A window may close between the listing and the question.
            let Ok(attributes) = self.connection.get_window_attributes(window)?.reply() else {
                continue;
            };
            let Ok(owner) = self
                .connection
                .get_property(false, window, property, xproto::AtomEnum::CARDINAL, 0, 1)?
                .reply()
            else {
                continue;
            };
            let is_owner = owner.value32().and_then(|mut values| values.next()) == Some(pid);
            if is_owner && attributes.map_state == xproto::MapState::VIEWABLE {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }

    /// Waits for a window with a title, whoever's it is, and gives it the keyboard.
    ///
    /// # Errors
    ///
    /// When none comes.
    pub fn window_titled(&self, title: &str) -> Result<Window<'_>> {
        let id = wait_for(title, || self.find_titled(title), String::new)?;
        self.connection.set_input_focus(InputFocus::PARENT, id, x11rb::CURRENT_TIME)?;
        self.connection.sync_all()?;
        Ok(Window { display: self, id })
    }

    fn find_titled(&self, title: &str) -> Result<Option<xproto::Window>> {
        for id in self.top_windows()? {
            // A window may close between the listing and the questions.
            let window = Window { display: self, id };
            if window.is_shown().unwrap_or(false) && window.title().is_ok_and(|own| own == title) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// What the whole screen shows.
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn picture(&self) -> Result<Picture> {
        Window { display: self, id: self.root }.picture()
    }

    /// The picture on the clipboard, as a PNG file's bytes, by xclip; empty where there is none.
    ///
    /// # Errors
    ///
    /// When xclip can't be started.
    pub fn clipboard_png(&self) -> Result<Vec<u8>> {
        let output = Command::new("xclip")
            .args(["-o", "-selection", "clipboard", "-t", "image/png", "-display", &self.name()])
            .stdin(Stdio::null())
            .output()
            .context("starting xclip")?;
        Ok(output.stdout)
    }

    /// Listens for windows that ask to be brought to the front (_NET_ACTIVE_WINDOW, which a window manager does).
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn activations(&self) -> Result<Activations> {
        let (connection, _) = x11rb::connect(Some(&self.name()))?;
        let atom = connection.intern_atom(false, b"_NET_ACTIVE_WINDOW")?.reply()?.atom;
        let events = xproto::EventMask::SUBSTRUCTURE_NOTIFY;
        let attributes = xproto::ChangeWindowAttributesAux::new().event_mask(events);
        connection.change_window_attributes(self.root, &attributes)?.check()?;
        Ok(Activations { connection, atom })
    }

    /// Listens for the bells that the X server rings.
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn bells(&self) -> Result<Bells> {
        let (connection, _) = x11rb::connect(Some(&self.name()))?;
        connection.xkb_use_extension(1, 0)?.reply()?;
        let (keyboard, bells) = (xkb::ID::USE_CORE_KBD.into(), xkb::EventType::BELL_NOTIFY);
        let (none, no_part) = (xkb::EventType::from(0_u16), xkb::MapPart::from(0_u16));
        let details = xkb::SelectEventsAux::new();
        connection.xkb_select_events(keyboard, none, bells, no_part, no_part, &details)?.check()?;
        Ok(Bells { connection })
    }

    /// Takes the keyboard away from every window.
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn take_keyboard(&self) -> Result<()> {
        // To no window at all (X11 protocol, SetInputFocus to None).
        self.connection.set_input_focus(InputFocus::NONE, x11rb::NONE, x11rb::CURRENT_TIME)?;
        self.connection.sync_all()
    }

    fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) -> Result<()> {
        self.connection.xtest_fake_input(kind, detail, 0, self.root, x, y, 0)?;
        Ok(())
    }

    /// Presses or releases one key that needs no other, by its name as in [`Display::press`].
    ///
    /// # Errors
    ///
    /// When the layout has no such key.
    pub fn one_key(&self, name: &str, down: bool) -> Result<()> {
        let kind = if down { xproto::KEY_PRESS_EVENT } else { xproto::KEY_RELEASE_EVENT };
        self.fake(kind, self.keys.find(keysym(name)?)?.0, 0, 0)
    }

    /// Presses the keys of `chord` in order and releases them in reverse: `["Control_L", "Shift_L", "t"]`. A name is a
    /// character, or what X11's keysymdef.h calls it.
    ///
    /// # Errors
    ///
    /// When the layout has no such key.
    pub fn press(&self, chord: &[&str]) -> Result<()> {
        let mut held = Vec::new();
        for name in chord {
            let (code, shift) = self.keys.find(keysym(name)?)?;
            if shift {
                held.push(self.keys.find(keysym("Shift_L")?)?.0);
                self.fake(xproto::KEY_PRESS_EVENT, *held.last().unwrap_or(&0), 0, 0)?;
            }
            self.fake(xproto::KEY_PRESS_EVENT, code, 0, 0)?;
            held.push(code);
        }
        for code in held.into_iter().rev() {
            self.fake(xproto::KEY_RELEASE_EVENT, code, 0, 0)?;
        }
        self.connection.sync_all()
    }

    /// Types text, a key a character; `\n` is Return.
    ///
    /// # Errors
    ///
    /// When the layout lacks a character.
    pub fn type_text(&self, text: &str) -> Result<()> {
        for character in text.chars() {
            match character {
                '\n' => self.press(&["Return"])?,
                _ => self.press(&[character.encode_utf8(&mut [0; 4])])?,
            }
        }
        Ok(())
    }

    /// The text of a selection (`clipboard` or `primary`), by xclip.
    ///
    /// # Errors
    ///
    /// When xclip can't be started.
    pub fn selection(&self, name: &str) -> Result<String> {
        let output = Command::new("xclip")
            .args(["-o", "-selection", name, "-display", &self.name()])
            .stdin(Stdio::null())
            .output()
            .context("starting xclip")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Puts text into a selection (`clipboard` or `primary`), by xclip, which serves it until another takes its place.
    ///
    /// # Errors
    ///
    /// When xclip can't be started.
    pub fn set_selection(&self, name: &str, text: &str) -> Result<()> {
        let mut xclip = Command::new("xclip")
            .args(["-i", "-selection", name, "-display", &self.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("starting xclip")?;
        xclip.stdin.take().context("xclip's stdin")?.write_all(text.as_bytes())?;
        ensure!(xclip.wait()?.success(), "xclip took nothing");
        // It owns the selection some time after it has gone to the background.
        self.wait_for_selection(name, text)
    }

    /// Waits until a selection (`clipboard` or `primary`) holds a text.
    ///
    /// # Errors
    ///
    /// When it does not come.
    pub fn wait_for_selection(&self, name: &str, text: &str) -> Result<()> {
        let what = format!("{text:?} in the selection {name}");
        wait_until(&what, || self.selection(name), |now| now == text).map(drop)
    }
}

/// What windows ask of a window manager.
pub struct Activations {
    connection: RustConnection,
    atom: xproto::Atom,
}

impl Activations {
    /// Waits until a window asks to be brought to the front.
    ///
    /// # Errors
    ///
    /// When it does not.
    pub fn wait_for(&self, window: &Window<'_>) -> Result<()> {
        wait_for(
            "the window to ask for the front",
            || {
                while let Some(event) = self.connection.poll_for_event()? {
                    if let x11rb::protocol::Event::ClientMessage(message) = event
                        && (message.type_, message.window) == (self.atom, window.id)
                    {
                        return Ok(Some(()));
                    }
                }
                Ok(None)
            },
            String::new,
        )
    }
}

/// The bells that the X server rings (X Keyboard Extension, XkbBellNotify).
pub struct Bells {
    connection: RustConnection,
}

impl Bells {
    /// Whether one rang since this was asked last.
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn rang(&self) -> Result<bool> {
        let mut rang = false;
        while let Some(event) = self.connection.poll_for_event()? {
            rang |= matches!(event, x11rb::protocol::Event::XkbBellNotify(_));
        }
        Ok(rang)
    }
}

/// A window.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    pub(crate) display: &'a Display,
    pub(crate) id: xproto::Window,
}

impl Window<'_> {
    /// Its width and height in pixels.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn size(&self) -> Result<(u16, u16)> {
        let geometry = self.display.connection.get_geometry(self.id)?.reply()?;
        Ok((geometry.width, geometry.height))
    }

    /// Sets its width and height in pixels.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn resize(&self, width: u16, height: u16) -> Result<()> {
        let size = ConfigureWindowAux::new().width(u32::from(width)).height(u32::from(height));
        self.display.connection.configure_window(self.id, &size)?.check()?;
        Ok(())
    }

    /// Whether it is mapped.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn is_shown(&self) -> Result<bool> {
        let attributes = self.display.connection.get_window_attributes(self.id)?.reply()?;
        Ok(attributes.map_state != xproto::MapState::UNMAPPED)
    }

    /// Whether it asks for attention (WM_HINTS, ICCCM 4.1.2.4).
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn is_urgent(&self) -> Result<bool> {
        const URGENT: u32 = 1 << 8;
        let (hints, kind) = (xproto::AtomEnum::WM_HINTS, xproto::AtomEnum::WM_HINTS);
        let hints = self.display.connection.get_property(false, self.id, hints, kind, 0, 1)?;
        let flags = hints.reply()?.value32().and_then(|mut values| values.next());
        Ok(flags.is_some_and(|flags| flags & URGENT != 0))
    }

    /// Whether it has a property, empty or not.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn has_property(&self, name: &str) -> Result<bool> {
        let connection = &self.display.connection;
        let atom = connection.intern_atom(false, name.as_bytes())?.reply()?.atom;
        Ok(connection.list_properties(self.id)?.reply()?.atoms.contains(&atom))
    }

    /// Its title.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn title(&self) -> Result<String> {
        let connection = &self.display.connection;
        let name = connection.intern_atom(false, b"_NET_WM_NAME")?.reply()?.atom;
        let kind = connection.intern_atom(false, b"UTF8_STRING")?.reply()?.atom;
        let title = connection.get_property(false, self.id, name, kind, 0, 1024)?.reply()?.value;
        Ok(String::from_utf8_lossy(&title).into_owned())
    }

    /// Waits until its title is as `is_it` wants it, and returns it.
    ///
    /// # Errors
    ///
    /// When it does not come.
    pub fn wait_for_title(&self, is_it: impl Fn(&str) -> bool) -> Result<String> {
        wait_until("the title", || self.title(), |title| is_it(title))
    }

    /// Asks it to close, as a window manager's close button does.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn close(&self) -> Result<()> {
        let connection = &self.display.connection;
        let protocols = connection.intern_atom(false, b"WM_PROTOCOLS")?.reply()?.atom;
        let delete = connection.intern_atom(false, b"WM_DELETE_WINDOW")?.reply()?.atom;
        let data = [delete, x11rb::CURRENT_TIME, 0, 0, 0];
        let event = xproto::ClientMessageEvent::new(32, self.id, protocols, data);
        connection.send_event(false, self.id, xproto::EventMask::NO_EVENT, event)?.check()?;
        Ok(())
    }

    /// Moves the pointer to a point of the window, in pixels.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn point(&self, x: i16, y: i16) -> Result<()> {
        let connection = &self.display.connection;
        let at = connection.translate_coordinates(self.id, self.display.root, x, y)?.reply()?;
        self.display.fake(xproto::MOTION_NOTIFY_EVENT, 0, at.dst_x, at.dst_y)?;
        connection.sync_all()
    }

    /// Presses or releases a mouse button (1 left, 2 middle, 3 right, 4 and 5 the wheel) where the pointer is.
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn button(&self, button: u8, down: bool) -> Result<()> {
        let kind = if down { xproto::BUTTON_PRESS_EVENT } else { xproto::BUTTON_RELEASE_EVENT };
        self.display.fake(kind, button, 0, 0)?;
        self.display.connection.sync_all()
    }

    /// Presses the left button twice where the pointer is, as fast as the display takes it.
    ///
    /// # Errors
    ///
    /// When the display has gone.
    pub fn double_click(&self) -> Result<()> {
        for kind in [xproto::BUTTON_PRESS_EVENT, xproto::BUTTON_RELEASE_EVENT].repeat(2) {
            self.display.fake(kind, 1, 0, 0)?;
        }
        self.display.connection.sync_all()
    }

    /// Drags with the left button from one point to another.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn drag(&self, from: (i16, i16), to: (i16, i16)) -> Result<()> {
        self.point(from.0, from.1)?;
        self.button(1, true)?;
        // A hand passes through the points between.
        for step in 1..=8 {
            let along = |from: i16, to: i16| from + (to - from) * step / 8;
            self.point(along(from.0, to.0), along(from.1, to.1))?;
        }
        self.button(1, false)
    }

    /// Waits until most of it has a colour, as a theme's background.
    ///
    /// # Errors
    ///
    /// When it does not come.
    pub fn wait_for_background(&self, color: [u8; 3]) -> Result<()> {
        crate::wait_for(
            &format!("a window in {color:x?}"),
            || {
                let picture = self.picture()?;
                Ok((picture.count(color) * 2 > picture.pixels.len()).then_some(()))
            },
            String::new,
        )
    }

    /// What it shows.
    ///
    /// # Errors
    ///
    /// When it has closed.
    pub fn picture(&self) -> Result<Picture> {
        let (width, height) = self.size()?;
        let all_planes = u32::MAX;
        let connection = &self.display.connection;
        let image = connection
            .get_image(ImageFormat::Z_PIXMAP, self.id, 0, 0, width, height, all_planes)?
            .reply()?;
        // 24 bits deep in 32, little-endian: B G R x.
        ensure!(image.depth == 24, "depth {}", image.depth);
        let pixels =
            image.data.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
        Ok(Picture { width: usize::from(width), pixels })
    }
}

/// The pixels of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Red, green, blue; row after row.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a PNG of 8 bits a channel, without what is behind its transparency.
    ///
    /// # Errors
    ///
    /// When it is no such PNG.
    pub fn of_png(bytes: &[u8]) -> Result<Self> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
        let mut pixels = vec![0; reader.output_buffer_size().context("too large")?];
        let info = reader.next_frame(&mut pixels)?;
        let channels = info.color_type.samples();
        ensure!(channels >= 3, "{:?}", info.color_type);
        let pixels = pixels[..info.buffer_size()].chunks_exact(channels);
        let pixels = pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Ok(Self { width: info.width as usize, pixels })
    }

    /// Pixels in a column.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width.max(1)
    }

    /// A part of it: its corner and size.
    pub fn part(&self, corner: (usize, usize), size: (usize, usize)) -> Self {
        let rows = self.pixels.chunks(self.width).skip(corner.1).take(size.1);
        let pixels = rows.flat_map(|row| &row[corner.0..corner.0 + size.0]).copied().collect();
        Self { width: size.0, pixels }
    }

    /// How many different colours there are.
    pub fn colors(&self) -> usize {
        self.pixels.iter().collect::<std::collections::HashSet<_>>().len()
    }

    /// How many pixels have a colour.
    pub fn count(&self, color: [u8; 3]) -> usize {
        self.pixels.iter().filter(|pixel| **pixel == color).count()
    }

    /// The smallest area that holds all pixels of a colour; none without any.
    pub fn area_of(&self, color: [u8; 3]) -> Option<Area> {
        let found = self.pixels.iter().enumerate().filter(|(_, pixel)| **pixel == color);
        found.fold(None, |area: Option<Area>, (index, _)| {
            let (x, y) = ((index % self.width) as i16, (index / self.width) as i16);
            let area = area.unwrap_or(Area { left: x, top: y, right: x, bottom: y });
            Some(Area {
                left: area.left.min(x),
                top: area.top.min(y),
                right: area.right.max(x + 1),
                bottom: area.bottom.max(y + 1),
            })
        })
    }

    /// How many pixels differ from those of another picture of the same size.
    pub fn difference(&self, other: &Self) -> usize {
        self.pixels.iter().zip(&other.pixels).filter(|(a, b)| a != b).count()
    }
}

/// A part of a window, in pixels; right and bottom are the first outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Area {
    pub left: i16,
    pub top: i16,
    pub right: i16,
    pub bottom: i16,
}

impl Area {
    /// Its middle.
    pub fn middle(&self) -> (i16, i16) {
        ((self.left + self.right) / 2, (self.top + self.bottom) / 2)
    }
}

/// The layout: which key gives which keysym, with or without Shift.
struct Keys {
    first_code: u8,
    per_code: usize,
    keysyms: Vec<u32>,
}

impl Keys {
    fn read(connection: &RustConnection) -> Result<Self> {
        let (first, last) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let mapping = connection.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        Ok(Self {
            first_code: first,
            per_code: usize::from(mapping.keysyms_per_keycode),
            keysyms: mapping.keysyms,
        })
    }

    /// The key code for a keysym, and whether Shift must be held.
    fn find(&self, keysym: u32) -> Result<(u8, bool)> {
        for shift in [false, true] {
            for (index, row) in self.keysyms.chunks(self.per_code).enumerate() {
                if row.get(usize::from(shift)) == Some(&keysym) {
                    return Ok((self.first_code + index as u8, shift));
                }
            }
        }
        bail!("the layout has no key for keysym {keysym:#x}")
    }
}

/// The keysym (X11/keysymdef.h) of a character or a named key.
fn keysym(name: &str) -> Result<u32> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        // Latin-1 stands for itself, the rest of Unicode with a bit before it.
        let code = u32::from(character);
        return Ok(if code < 0x100 { code } else { 0x0100_0000 | code });
    }
    Ok(match name {
        "BackSpace" => 0xff08,
        "Tab" => 0xff09,
        "Return" => 0xff0d,
        "Escape" => 0xff1b,
        "Home" => 0xff50,
        "Left" => 0xff51,
        "Up" => 0xff52,
        "Right" => 0xff53,
        "Down" => 0xff54,
        "Prior" => 0xff55,
        "Next" => 0xff56,
        "End" => 0xff57,
        "Insert" => 0xff63,
        "ISO_Level3_Shift" => 0xfe03,
        "dead_acute" => 0xfe51,
        "dead_diaeresis" => 0xfe57,
        "Shift_L" => 0xffe1,
        "Control_L" => 0xffe3,
        "Alt_L" => 0xffe9,
        "Delete" => 0xffff,
        _ => bail!("no key is called {name}"),
    })
}

/// Waits until the server has taken all requests.
trait SyncAll {
    fn sync_all(&self) -> Result<()>;
}

impl SyncAll for RustConnection {
    fn sync_all(&self) -> Result<()> {
        self.get_input_focus()?.reply()?;
        Ok(())
    }
}
