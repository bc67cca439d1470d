//! An X server that belongs to one test, and a simulated user: keys, selections, bells and pixels.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use x11rb::{
    connection::Connection as _,
    protocol::{
        xkb::{self, ConnectionExt as _},
        xproto::{self, ConnectionExt as _, InputFocus},
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

use crate::{
    Instance, Picture, Window,
    keyboard::{Keys, keysym},
    process::OwnedProcess,
    wait_for, wait_until,
};

/// An Xvfb with a free display number. It has no window manager until one is started. It is ended on drop.
pub struct Display {
    server: OwnedProcess,
    number: u32,
    pub(crate) connection: RustConnection,
    pub(crate) root: xproto::Window,
    keys: Keys,
}

/// Size of the screen in pixels.
const SIZE: (u16, u16) = (1280, 800);

impl Display {
    /// Starts an X server with 1280×800 pixels in true color, and a US keyboard.
    ///
    /// # Errors
    ///
    /// If Xvfb is not installed or does not start.
    pub fn start() -> Result<Self> {
        Self::with(SIZE, "us", "")
    }

    /// Starts an X server with a screen of another size, in pixels.
    ///
    /// # Errors
    ///
    /// If Xvfb is not installed or does not start.
    pub fn sized(width: u16, height: u16) -> Result<Self> {
        Self::with((width, height), "us", "")
    }

    /// Starts an X server with another keyboard: a layout and a variant, in the form that setxkbmap expects.
    ///
    /// # Errors
    ///
    /// If Xvfb or setxkbmap is not installed or fails.
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
        let mut server = OwnedProcess(server);
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
        Ok(Self { server, number, connection, root, keys })
    }

    /// Kills the X server, as a crash would end it.
    ///
    /// # Errors
    ///
    /// If the X server has already ended.
    pub fn kill(self) -> Result<()> {
        Ok(self.server.kill()?)
    }

    /// The display's name, as in `$DISPLAY`.
    pub fn name(&self) -> String {
        format!(":{}", self.number)
    }

    /// Waits for the window of an instance, gives it the keyboard focus and returns it.
    ///
    /// # Errors
    ///
    /// If no window appears.
    pub fn window_of(&self, unterm: &Instance) -> Result<Window<'_>> {
        let id = wait_for("the window", || self.find_window(unterm.pid()), || unterm.log())?;
        self.connection.set_input_focus(InputFocus::PARENT, id, x11rb::CURRENT_TIME)?;
        let window = Window { display: self, id };
        // Wait until the window has processed that it is visible and focused. The test may then use other connections.
        window.wait_for_input()?;
        Ok(window)
    }

    /// The windows of programs: the root's children, and those that a window manager has framed.
    fn top_windows(&self) -> Result<Vec<xproto::Window>> {
        let mut windows = self.connection.query_tree(self.root)?.reply()?.children;
        windows.extend(self.root_windows(b"_NET_CLIENT_LIST")?);
        Ok(windows)
    }

    /// The windows listed in a property of the root.
    pub(crate) fn root_windows(&self, property: &[u8]) -> Result<Vec<xproto::Window>> {
        let property = self.connection.intern_atom(false, property)?.reply()?.atom;
        let kind = xproto::AtomEnum::WINDOW;
        let list = self.connection.get_property(false, self.root, property, kind, 0, 1024)?;
        Ok(list.reply()?.value32().into_iter().flatten().collect())
    }

    /// Finds a viewable top-level window whose `_NET_WM_PID` is `pid`.
    fn find_window(&self, pid: u32) -> Result<Option<xproto::Window>> {
        let property = self.connection.intern_atom(false, b"_NET_WM_PID")?.reply()?.atom;
        for window in self.top_windows()? {
            // A window may close between the listing and the request.
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

    /// Waits for a window of any program with this title, and gives it the keyboard focus.
    ///
    /// # Errors
    ///
    /// If no such window appears.
    pub fn window_titled(&self, title: &str) -> Result<Window<'_>> {
        let id = wait_for(title, || self.find_titled(title), String::new)?;
        self.connection.set_input_focus(InputFocus::PARENT, id, x11rb::CURRENT_TIME)?;
        self.connection.sync_all()?;
        Ok(Window { display: self, id })
    }

    fn find_titled(&self, title: &str) -> Result<Option<xproto::Window>> {
        for id in self.top_windows()? {
            // A window may close between the listing and the requests.
            let window = Window { display: self, id };
            if window.is_shown().unwrap_or(false) && window.title().is_ok_and(|own| own == title) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// A picture of the whole screen.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn picture(&self) -> Result<Picture> {
        Window { display: self, id: self.root }.picture()
    }

    /// The picture on the clipboard as PNG bytes, read with xclip. Empty if there is none.
    ///
    /// # Errors
    ///
    /// If xclip can't be started.
    pub fn clipboard_png(&self) -> Result<Vec<u8>> {
        let output = Command::new("xclip")
            .args(["-o", "-selection", "clipboard", "-t", "image/png", "-display", &self.name()])
            .stdin(Stdio::null())
            .output()
            .context("starting xclip")?;
        Ok(output.stdout)
    }

    /// Listens for windows that request to be raised (`_NET_ACTIVE_WINDOW`, which a window manager handles).
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn activations(&self) -> Result<Activations> {
        let atom = self.connection.intern_atom(false, b"_NET_ACTIVE_WINDOW")?.reply()?.atom;
        Ok(Activations { messages: self.messages_to_root()?, atom })
    }

    /// Listens for messages from windows to a window manager.
    pub(crate) fn messages_to_root(&self) -> Result<RootMessages> {
        let (connection, _) = x11rb::connect(Some(&self.name()))?;
        let events = xproto::EventMask::SUBSTRUCTURE_NOTIFY;
        let attributes = xproto::ChangeWindowAttributesAux::new().event_mask(events);
        connection.change_window_attributes(self.root, &attributes)?.check()?;
        Ok(RootMessages { connection })
    }

    /// Listens for the bells that the X server rings.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn bells(&self) -> Result<Bells> {
        let (connection, _) = x11rb::connect(Some(&self.name()))?;
        connection.xkb_use_extension(1, 0)?.reply()?;
        let (keyboard, bells) = (xkb::ID::USE_CORE_KBD.into(), xkb::EventType::BELL_NOTIFY);
        let (none, no_part) = (xkb::EventType::from(0_u16), xkb::MapPart::from(0_u16));
        let details = xkb::SelectEventsAux::new();
        connection.xkb_select_events(keyboard, none, bells, no_part, no_part, &details)?.check()?;
        Ok(Bells { connection })
    }

    /// Announces a compositing manager to windows (EWMH, `_NET_WM_CM_Sn`). Nothing is composited.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn claim_compositor(&self) -> Result<()> {
        let (connection, root) = (&self.connection, self.root);
        let owner = connection.generate_id()?;
        let (looks, kind) = (xproto::CreateWindowAux::new(), xproto::WindowClass::INPUT_ONLY);
        connection.create_window(0, owner, root, 0, 0, 1, 1, 0, kind, 0, &looks)?.check()?;
        let selection = connection.intern_atom(false, b"_NET_WM_CM_S0")?.reply()?.atom;
        connection.set_selection_owner(owner, selection, x11rb::CURRENT_TIME)?.check()?;
        Ok(())
    }

    /// Removes the keyboard focus from every window.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn take_keyboard(&self) -> Result<()> {
        // Focus no window at all (X11 protocol, SetInputFocus to None).
        self.connection.set_input_focus(InputFocus::NONE, x11rb::NONE, x11rb::CURRENT_TIME)?;
        self.connection.sync_all()
    }

    /// Simulates input from a device, through the XTEST extension.
    pub(crate) fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) -> Result<()> {
        self.connection.xtest_fake_input(kind, detail, 0, self.root, x, y, 0)?;
        Ok(())
    }

    /// Presses or releases one key that needs no modifier. The name is as in [`Display::press`].
    ///
    /// # Errors
    ///
    /// If the layout has no such key.
    pub fn one_key(&self, name: &str, down: bool) -> Result<()> {
        let kind = if down { xproto::KEY_PRESS_EVENT } else { xproto::KEY_RELEASE_EVENT };
        self.fake(kind, self.keys.find(keysym(name)?)?.0, 0, 0)
    }

    /// Presses the keys of `chord` in order, and releases them in reverse order. Example: `["Control_L", "Shift_L",
    /// "t"]`. A name is a character, or a key name of X11's keysymdef.h.
    ///
    /// # Errors
    ///
    /// If the layout has no such key.
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

    /// Types text, one key per character; `\n` is Return.
    ///
    /// # Errors
    ///
    /// If the layout lacks a character.
    pub fn type_text(&self, text: &str) -> Result<()> {
        for character in text.chars() {
            match character {
                '\n' => self.press(&["Return"])?,
                _ => self.press(&[character.encode_utf8(&mut [0; 4])])?,
            }
        }
        Ok(())
    }

    /// The text of a selection (`clipboard` or `primary`), read with xclip.
    ///
    /// # Errors
    ///
    /// If xclip can't be started.
    pub fn selection(&self, name: &str) -> Result<String> {
        let output = Command::new("xclip")
            .args(["-o", "-selection", name, "-display", &self.name()])
            .stdin(Stdio::null())
            .output()
            .context("starting xclip")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Puts text into a selection (`clipboard` or `primary`). xclip serves the text until another program owns the
    /// selection.
    ///
    /// # Errors
    ///
    /// If xclip can't be started.
    pub fn set_selection(&self, name: &str, text: &str) -> Result<()> {
        self.give_to_xclip(&["-selection", name], text.as_bytes())?;
        // xclip moves to the background before it owns the selection.
        self.wait_for_selection(name, text)
    }

    /// Puts data of one type (`image/png`) on the clipboard like another program would. The clipboard contains no other
    /// form of the data.
    ///
    /// # Errors
    ///
    /// If xclip can't be started, or the clipboard does not hold the data.
    pub fn set_clipboard(&self, kind: &str, bytes: &[u8]) -> Result<()> {
        self.give_to_xclip(&["-selection", "clipboard", "-t", kind], bytes)?;
        let held = || {
            let output = Command::new("xclip")
                .args(["-o", "-selection", "clipboard", "-t", kind, "-display", &self.name()])
                .stdin(Stdio::null())
                .output()
                .context("starting xclip")?;
            Ok((output.stdout == bytes).then_some(()))
        };
        wait_for(&format!("{kind} on the clipboard"), held, String::new)
    }

    fn give_to_xclip(&self, args: &[&str], bytes: &[u8]) -> Result<()> {
        let mut xclip = Command::new("xclip")
            .args(["-i", "-display", &self.name()])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("starting xclip")?;
        xclip.stdin.take().context("xclip's stdin")?.write_all(bytes)?;
        ensure!(xclip.wait()?.success(), "xclip took nothing");
        Ok(())
    }

    /// Waits until a selection (`clipboard` or `primary`) contains a text.
    ///
    /// # Errors
    ///
    /// If the text does not appear.
    pub fn wait_for_selection(&self, name: &str, text: &str) -> Result<()> {
        let what = format!("{text:?} in the selection {name}");
        wait_until(&what, || self.selection(name), |now| now == text).map(drop)
    }
}

/// Messages from windows to the root window, which a window manager receives.
pub(crate) struct RootMessages {
    connection: RustConnection,
}

impl RootMessages {
    /// Waits for a message for which `is_it` returns true.
    pub(crate) fn wait(
        &self,
        what: &str,
        is_it: impl Fn(&xproto::ClientMessageEvent) -> bool,
    ) -> Result<()> {
        let look = || {
            while let Some(event) = self.connection.poll_for_event()? {
                if let x11rb::protocol::Event::ClientMessage(message) = event
                    && is_it(&message)
                {
                    return Ok(Some(()));
                }
            }
            Ok(None)
        };
        wait_for(what, look, String::new)
    }
}

/// Requests from windows to be raised.
pub struct Activations {
    messages: RootMessages,
    atom: xproto::Atom,
}

impl Activations {
    /// Waits until a window requests to be raised.
    ///
    /// # Errors
    ///
    /// If the window sends no such request.
    pub fn wait_for(&self, window: &Window<'_>) -> Result<()> {
        self.messages.wait("the window to ask for the front", |message| {
            (message.type_, message.window) == (self.atom, window.id)
        })
    }
}

/// The bells that the X server rings (X Keyboard Extension, XkbBellNotify).
pub struct Bells {
    connection: RustConnection,
}

impl Bells {
    /// Whether a bell rang since the last call.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn rang(&self) -> Result<bool> {
        let mut rang = false;
        while let Some(event) = self.connection.poll_for_event()? {
            rang |= matches!(event, x11rb::protocol::Event::XkbBellNotify(_));
        }
        Ok(rang)
    }
}

/// Waits until the server has processed all requests.
pub(crate) trait SyncAll {
    fn sync_all(&self) -> Result<()>;
}

impl SyncAll for RustConnection {
    fn sync_all(&self) -> Result<()> {
        self.get_input_focus()?.reply()?;
        Ok(())
    }
}
