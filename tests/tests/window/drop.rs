//! Files dragged from another program onto the window: their paths are pasted into the pane under the pointer.

use anyhow::{Context as _, Result, ensure};
use unterm_tests::{Display, Instance, Pane, Start, wait_for};
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{self, ConnectionExt as _},
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

/// Another program from whose window files are dragged (XDND protocol, version 5).
struct DragSource {
    connection: RustConnection,
    root: xproto::Window,
    window: xproto::Window,
}

impl DragSource {
    fn new(display: &Display) -> Result<Self> {
        let (connection, screen) = x11rb::connect(Some(&display.name()))?;
        let root = connection.setup().roots[screen].root;
        let window = connection.generate_id()?;
        let (kind, none) = (xproto::WindowClass::INPUT_ONLY, xproto::CreateWindowAux::new());
        connection.create_window(0, window, root, 0, 0, 1, 1, 0, kind, 0, &none)?.check()?;
        Ok(Self { connection, root, window })
    }

    fn atom(&self, name: &str) -> Result<xproto::Atom> {
        Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }

    /// Drags files to the pointer, drops them, and waits until the window there has accepted them. If `follows_proxies`
    /// is set, sends the messages to the window's proxy.
    fn drop_files(&self, uris: &[&str], follows_proxies: bool) -> Result<()> {
        let at = self.connection.query_pointer(self.root)?.reply()?;
        let receiver = match follows_proxies {
            true => self.proxy(at.child)?,
            false => at.child,
        };
        let tell = |name: &str, data: [u32; 5]| -> Result<()> {
            let kind = self.atom(name)?;
            let message = xproto::ClientMessageEvent::new(32, at.child, kind, data);
            let nobody_else = xproto::EventMask::NO_EVENT;
            self.connection.send_event(false, receiver, nobody_else, message)?.check()?;
            Ok(())
        };
        let place = (at.root_x as u32) << 16 | at.root_y as u32;
        let (selection, list) = (self.atom("XdndSelection")?, self.atom("text/uri-list")?);
        let now = x11rb::CURRENT_TIME;
        self.connection.set_selection_owner(self.window, selection, now)?.check()?;
        tell("XdndEnter", [self.window, 5 << 24, list, 0, 0])?;
        let copies = self.atom("XdndActionCopy")?;
        tell("XdndPosition", [self.window, 0, place, now, copies])?;
        if follows_proxies {
            let status = self.message("XdndStatus", "its answer to the drag")?;
            ensure!(status[..2] == [at.child, 3], "the window refuses the drag: {status:?}");
            tell("XdndDrop", [self.window, 0, now, 0, 0])?;
        }
        let asked = self.wait_for("its question for the files", |event| match event {
            Event::SelectionRequest(asked) => Some(asked),
            _ => None,
        })?;
        let text: String = uris.iter().map(|uri| format!("{uri}\r\n")).collect();
        let (replace, to, property) = (xproto::PropMode::REPLACE, asked.requestor, asked.property);
        self.connection.change_property8(replace, to, property, asked.target, text.as_bytes())?;
        let answer = xproto::SelectionNotifyEvent {
            response_type: xproto::SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: to,
            selection: asked.selection,
            target: asked.target,
            property,
        };
        self.connection.send_event(false, to, xproto::EventMask::NO_EVENT, answer)?.check()?;
        if !follows_proxies {
            tell("XdndDrop", [self.window, 0, now, 0, 0])?;
        }
        let finished = self.message("XdndFinished", "the end of the drop")?;
        ensure!(finished[..2] == [at.child, 1], "the drop was refused: {finished:?}");
        Ok(())
    }

    /// The proxy that a window names in a property. Waits until the property is set. The proxy must also name itself.
    fn proxy(&self, window: xproto::Window) -> Result<xproto::Window> {
        let name = self.atom("XdndProxy")?;
        let named = |window| -> Result<Option<xproto::Window>> {
            let kind = xproto::AtomEnum::WINDOW;
            let property = self.connection.get_property(false, window, name, kind, 0, 1)?;
            Ok(property.reply()?.value32().and_then(|mut value| value.next()))
        };
        let proxy = wait_for("the proxy of the window", || named(window), String::new)?;
        ensure!(named(proxy)? == Some(proxy), "the proxy does not name itself");
        Ok(proxy)
    }

    /// Waits for a message of the XDND protocol.
    fn message(&self, name: &str, what: &str) -> Result<[u32; 5]> {
        let kind = self.atom(name)?;
        self.wait_for(what, |event| match event {
            Event::ClientMessage(message) if message.type_ == kind => {
                Some(message.data.as_data32())
            }
            _ => None,
        })
    }

    /// Waits for the event that `pick` accepts, and ignores other events.
    fn wait_for<T>(&self, what: &str, pick: impl Fn(Event) -> Option<T>) -> Result<T> {
        wait_for(what, || Ok(self.connection.poll_for_event()?.and_then(&pick)), String::new)
    }
}

/// Waits until a pane shows a text. The text may be wrapped.
fn shows(unterm: &mut Instance, pane: Pane, text: &str) -> Result<()> {
    pane.wait(unterm, text, |lines| lines.concat().contains(text))?;
    Ok(())
}

#[test]
fn a_file_is_pasted_into_the_pane_it_is_dropped_on() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, left) = Start::windowed(&display).at_prompt()?;
    let source = DragSource::new(&display)?;
    unterm.act(&["split_right"])?;
    let right = Pane { id: left.id + 1 };
    right.wait_for_prompt(&mut unterm)?;
    let home = unterm.home().canonicalize().context("its home")?;
    for name in ["one(1).txt", "two(2).txt"] {
        std::fs::write(home.join(name), "")?;
    }
    let uri = |name: &str| format!("file://{}", home.join(name).display());
    let (width, height) = (window.size()?.0 as i16, window.size()?.1 as i16);

    // The right pane has the keyboard focus. The focus moves to the pane that receives the drop.
    window.point(width / 4, height / 2)?;
    source.drop_files(&[&uri("one(1).txt")], true)?;
    shows(&mut unterm, left, "one(1).txt'")?;
    display.type_text("first")?;
    shows(&mut unterm, left, "one(1).txt' first")?;

    window.point(width * 3 / 4, height / 2)?;
    // Drop from a source that ignores proxies.
    source.drop_files(&[&uri("two(2).txt")], false)?;
    shows(&mut unterm, right, "two(2).txt'")?;
    for (pane, others) in [(left, "two(2)"), (right, "first")] {
        let shown = pane.lines(&mut unterm)?.concat();
        ensure!(!shown.contains(others), "{others} went to both: {shown}");
    }
    Ok(())
}

#[test]
fn a_missing_file_drops_no_other_and_a_link_stays_a_link() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    let source = DragSource::new(&display)?;
    let home = unterm.home().canonicalize().context("its home")?;
    std::fs::write(home.join("there"), "")?;
    std::os::unix::fs::symlink(home.join("there"), home.join("link"))?;
    let uri = |name: &str| format!("file://{}", home.join(name).display());
    let (width, height) = window.size()?;
    window.point(width as i16 / 2, height as i16 / 2)?;
    display.type_text("echo ")?;
    let web = "https://example.com/a";
    source.drop_files(&[&uri("gone"), &uri("there"), &uri("link"), web], true)?;
    let at = |name: &str| home.join(name).display().to_string();
    let words = [at("gone"), at("there"), at("link"), web.to_owned()].join(" ");
    shows(&mut unterm, pane, &format!("echo {words}"))
}
