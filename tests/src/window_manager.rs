//! A simulated X11 desktop: a window manager, compositing, and windows of programs other than Unterm.

use std::process::Stdio;

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT,
    connection::Connection as _,
    protocol::{
        composite::{ConnectionExt as _, Redirect},
        xproto::{
            AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux,
            EventMask, MapState, PropMode, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use crate::{
    Display, Window,
    process::{OwnedProcess, bare},
    wait_for,
};

/// The maximum distance between a window's corner and its frame's corner, in pixels.
const FRAME: i16 = 40;

/// openbox. It is ended on drop.
pub struct WindowManager {
    _process: OwnedProcess,
    _home: TempDir,
}

impl WindowManager {
    /// Starts openbox on a display.
    ///
    /// # Errors
    ///
    /// If openbox is not installed or does not start.
    pub fn start(display: &Display) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let mut command = bare("openbox", home.path());
        command.arg("--sm-disable").env("DISPLAY", display.name());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = OwnedProcess(command.spawn().context("starting openbox")?);
        let is_there = || {
            let named = display.root_windows(b"_NET_SUPPORTING_WM_CHECK")?;
            Ok((!named.is_empty()).then_some(()))
        };
        wait_for("the window manager", is_there, String::new)?;
        // openbox announces itself before it is ready, and a window that opens too early stays hidden. Once it has
        // shown one window, it shows all later windows.
        let first = display.open_window("the first one", [0; 3], (1, 1))?;
        display.connection.destroy_window(first.id)?.check()?;
        let is_gone = || {
            let listed = display.root_windows(b"_NET_CLIENT_LIST_STACKING")?;
            Ok((!listed.contains(&first.id)).then_some(()))
        };
        wait_for("the first window to go", is_gone, String::new)?;
        Ok(Self { _process: process, _home: home })
    }
}

/// Stores each window's contents separately from the screen, like a compositing manager (Composite extension), until
/// dropped.
pub struct Compositing {
    _connection: RustConnection,
}

impl Compositing {
    /// Starts compositing in the display's X server.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn start(display: &Display) -> Result<Self> {
        let (connection, _) = x11rb::connect(Some(&display.name()))?;
        connection.composite_query_version(0, 4)?.reply()?;
        connection.composite_redirect_subwindows(display.root, Redirect::AUTOMATIC)?.check()?;
        Ok(Self { _connection: connection })
    }
}

impl Display {
    /// Opens a window of one color, and waits until the window manager shows it in front. Its title is set only by
    /// ICCCM properties, and its process is the test.
    ///
    /// # Errors
    ///
    /// If the window is not shown, for example because there is no window manager.
    pub fn open_window(
        &self,
        title: &str,
        color: [u8; 3],
        (width, height): (u16, u16),
    ) -> Result<Window<'_>> {
        let connection = &self.connection;
        let id = connection.generate_id()?;
        let [red, green, blue] = color;
        let pixel = u32::from_be_bytes([0, red, green, blue]);
        let attributes = CreateWindowAux::new().background_pixel(pixel);
        connection.create_window(
            COPY_DEPTH_FROM_PARENT,
            id,
            self.root,
            0,
            0,
            width,
            height,
            0,
            WindowClass::INPUT_OUTPUT,
            COPY_FROM_PARENT,
            &attributes,
        )?;
        let (replace, text) = (PropMode::REPLACE, AtomEnum::STRING);
        connection.change_property8(replace, id, AtomEnum::WM_NAME, text, title.as_bytes())?;
        let pid = connection.intern_atom(false, b"_NET_WM_PID")?.reply()?.atom;
        let own = [std::process::id()];
        connection.change_property32(replace, id, pid, AtomEnum::CARDINAL, &own)?;
        let is_there = || {
            // Map the window repeatedly: see [`WindowManager::start`].
            connection.map_window(id)?.check()?;
            let is_listed = self.root_windows(b"_NET_CLIENT_LIST_STACKING")?.contains(&id);
            let state = connection.get_window_attributes(id)?.reply()?.map_state;
            Ok((is_listed && state == MapState::VIEWABLE).then_some(()))
        };
        wait_for(title, is_there, String::new)?;
        Ok(Window { display: self, id })
    }
}

impl Window<'_> {
    /// Position of the window's corner on the screen, in pixels.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn corner(&self) -> Result<(i16, i16)> {
        let connection = &self.display.connection;
        let at = connection.translate_coordinates(self.id, self.display.root, 0, 0)?.reply()?;
        Ok((at.dst_x, at.dst_y))
    }

    /// Requests the window manager to move the window's frame to a point of the screen, in pixels. Waits until the
    /// frame is at that point.
    ///
    /// # Errors
    ///
    /// If the frame does not move to the point.
    pub fn move_to(&self, x: i16, y: i16) -> Result<()> {
        let place = ConfigureWindowAux::new().x(i32::from(x)).y(i32::from(y));
        self.display.connection.configure_window(self.id, &place)?.check()?;
        let is_near = |is: i16, wanted: i16| (wanted..wanted + FRAME).contains(&is);
        let is_there = || {
            let place = self.corner()?;
            Ok((is_near(place.0, x) && is_near(place.1, y)).then_some(()))
        };
        wait_for("the window at its new place", is_there, String::new)
    }

    /// Requests the window manager to minimize the window (WM_CHANGE_STATE, ICCCM 4.1.4), and waits until it is
    /// minimized.
    ///
    /// # Errors
    ///
    /// If the window has closed, or stays visible.
    pub fn minimize(&self) -> Result<()> {
        const ICONIC: u32 = 3;
        let (connection, root) = (&self.display.connection, self.display.root);
        let change = connection.intern_atom(false, b"WM_CHANGE_STATE")?.reply()?.atom;
        let event = ClientMessageEvent::new(32, self.id, change, [ICONIC, 0, 0, 0, 0]);
        let managers = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        connection.send_event(false, root, managers, event)?.check()?;
        let is_gone = || Ok((!self.is_shown()?).then_some(()));
        wait_for("the window to go", is_gone, String::new)
    }
}
