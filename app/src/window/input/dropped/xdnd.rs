//! Receives drops of files on X11 with the [XDND protocol], version 5.
//!
//! winit rejects a whole drop if one of its files is missing, replaces each link by its target, and reports no
//! position. Therefore the window names a proxy: a window on this thread's connection, to which other programs send
//! their messages instead. Drops from programs that ignore the proxy still reach winit.
//!
//! [XDND protocol]: https://www.freedesktop.org/wiki/Specifications/XDND/

use anyhow::{Result, ensure};
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{
            AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
            SelectionNotifyEvent, Timestamp, Window, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use crate::window::input::dropped::{Dropped, from_uri_list};

/// The version of the protocol that the proxy announces.
const VERSION: u32 = 5;
/// The maximum size of a list of dropped files, in bytes. A drop with a longer list is refused.
const LIST_CAP: u32 = 1 << 20;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        XdndActionCopy,
        XdndAware,
        XdndDrop,
        XdndEnter,
        XdndFinished,
        XdndLeave,
        XdndPosition,
        XdndProxy,
        XdndSelection,
        XdndStatus,
        XdndTypeList,
        UriList: b"text/uri-list",
    }
}

/// Receives drops on `window`, and passes each to `deliver`. Returns only on an error: the X server is unreachable or
/// closes the connection.
pub(crate) fn receive(window: Window, deliver: impl Fn(Dropped)) -> Result<()> {
    let receiver = Receiver::new(window)?;
    let mut drag = None;
    loop {
        receiver.connection.flush()?;
        match receiver.connection.wait_for_event()? {
            Event::ClientMessage(message) => receiver.message(&message, &mut drag)?,
            Event::SelectionNotify(answer) => {
                let Some(ended) = drag.take_if(|drag: &mut Drag| drag.is_dropped) else { continue };
                let dropped = receiver.read(&answer, &ended);
                if let Err(error) = &dropped {
                    tracing::debug!("a drop is refused: {error}");
                }
                receiver.finish(ended.source, dropped.is_ok())?;
                dropped.into_iter().for_each(&deliver);
            }
            // An error event replies to a message that was sent to a program that has exited.
            _ => {}
        }
    }
}

/// A drag of another program over this window.
struct Drag {
    source: Window,
    /// Whether the other program offers a list of URIs.
    is_list: bool,
    /// The pointer's position, in pixels of the root window.
    place: (i16, i16),
    is_dropped: bool,
}

struct Receiver {
    connection: RustConnection,
    atoms: Atoms,
    root: Window,
    window: Window,
    proxy: Window,
}

impl Receiver {
    /// Creates the proxy, then announces it to other programs.
    fn new(window: Window) -> Result<Self> {
        let (connection, screen) = x11rb::connect(None)?;
        let atoms = Atoms::new(&connection)?.reply()?;
        let root = connection.setup().roots[screen].root;
        let proxy = connection.generate_id()?;
        let (class, attributes) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        connection.create_window(0, proxy, root, -1, -1, 1, 1, 0, class, 0, &attributes)?;
        let set = |window, property, kind: AtomEnum, value| {
            connection.change_property32(PropMode::REPLACE, window, property, kind, &[value])
        };
        // A proxy must name itself. Other programs ignore a proxy without this property, since it may be left over
        // from a crashed program.
        set(proxy, atoms.XdndAware, AtomEnum::ATOM, VERSION)?;
        set(proxy, atoms.XdndProxy, AtomEnum::WINDOW, proxy)?;
        set(window, atoms.XdndProxy, AtomEnum::WINDOW, proxy)?.check()?;
        Ok(Self { connection, atoms, root, window, proxy })
    }

    fn message(&self, message: &ClientMessageEvent, drag: &mut Option<Drag>) -> Result<()> {
        if message.format != 32 {
            return Ok(());
        }
        let (kind, data) = (message.type_, message.data.as_data32());
        let source = data[0];
        let is_current = drag.as_ref().is_some_and(|drag| drag.source == source);
        if kind == self.atoms.XdndEnter {
            let is_list = self.offers_list(data);
            *drag = Some(Drag { source, is_list, place: (0, 0), is_dropped: false });
        } else if !is_current {
            // This message belongs to a drag that has already ended.
        } else if kind == self.atoms.XdndLeave {
            *drag = None;
        } else if let Some(drag) = drag {
            if kind == self.atoms.XdndPosition {
                drag.place = ((data[2] >> 16) as i16, data[2] as i16);
                self.report_status(drag)?;
            } else if kind == self.atoms.XdndDrop {
                drag.is_dropped = true;
                self.ask(drag, data[2])?;
            }
        }
        Ok(())
    }

    /// Whether the source of an `XdndEnter` message offers a list of URIs. The message contains up to three types; a
    /// longer list of types is in a property.
    fn offers_list(&self, [source, flags, types @ ..]: [u32; 5]) -> bool {
        if flags & 1 == 0 {
            return types.contains(&self.atoms.UriList);
        }
        let property = self.atoms.XdndTypeList;
        let list = self.connection.get_property(false, source, property, AtomEnum::ATOM, 0, 1024);
        let list = list.ok().and_then(|list| list.reply().ok());
        list.and_then(|list| Some(list.value32()?.any(|kind| kind == self.atoms.UriList)))
            .unwrap_or(false)
    }

    /// Requests the list of files, which arrives as an event. If the source offers no list, refuses the drop.
    fn ask(&self, drag: &Drag, time: Timestamp) -> Result<()> {
        let Atoms { XdndSelection: selection, UriList: list, .. } = self.atoms;
        if drag.is_list {
            self.connection.convert_selection(self.proxy, selection, list, selection, time)?;
            return Ok(());
        }
        self.finish(drag.source, false)
    }

    /// Reads the dropped files from the source's reply. The position of the drop is in pixels of the window.
    fn read(&self, answer: &SelectionNotifyEvent, drag: &Drag) -> Result<Dropped> {
        ensure!(answer.property != x11rb::NONE, "its source has no list of files");
        let (any, words) = (AtomEnum::ANY, LIST_CAP / 4);
        let property =
            self.connection.get_property(true, self.proxy, answer.property, any, 0, words)?;
        let property = property.reply()?;
        // If a list is larger than one request, the source sends it in parts (type INCR). Unterm does not support such
        // lists.
        ensure!(
            property.type_ == self.atoms.UriList && property.bytes_after == 0,
            "its list of files is too long, or no list of URIs"
        );
        let (x, y) = drag.place;
        let place = self.connection.translate_coordinates(self.root, self.window, x, y)?.reply()?;
        let at = Some((f64::from(place.dst_x), f64::from(place.dst_y)));
        Ok(Dropped { names: from_uri_list(&property.value), at })
    }

    /// Reports to the source whether the window accepts the drop. The answer holds for every position in the window.
    fn report_status(&self, drag: &Drag) -> Result<()> {
        let accepts = u32::from(drag.is_list);
        let action = if drag.is_list { self.atoms.XdndActionCopy } else { x11rb::NONE };
        // Bit 1 requests position messages even inside the rectangle that follows, which is empty.
        self.send(drag.source, self.atoms.XdndStatus, [self.window, accepts | 2, 0, 0, action])
    }

    /// Reports to the source that its data is no longer needed.
    fn finish(&self, source: Window, accepted: bool) -> Result<()> {
        let action = if accepted { self.atoms.XdndActionCopy } else { x11rb::NONE };
        let data = [self.window, u32::from(accepted), action, 0, 0];
        self.send(source, self.atoms.XdndFinished, data)
    }

    fn send(&self, source: Window, kind: u32, data: [u32; 5]) -> Result<()> {
        let message = ClientMessageEvent::new(32, source, kind, data);
        self.connection.send_event(false, source, EventMask::NO_EVENT, message)?;
        Ok(())
    }
}
