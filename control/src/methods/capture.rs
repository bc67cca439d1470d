//! `capture.*`: pictures of sessions and of the display, and the clipboard.
//!
//! Unterm renders sessions itself, even without a window. If there is no display to capture, the result is a picture of
//! the sessions.

use std::{borrow::Cow, path::PathBuf, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Pane, private};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{Arg, NoParams, SessionOnly},
    session::blocking,
};
use crate::{
    authority::check_scope,
    caller::{Access, Scopes},
    error::Error,
    host::{Captures, Clip, OnDisplay},
    services::limits::pictures::{self, Turn},
};

/// The default time that the user has to select a region, in milliseconds.
const CHOOSING: u64 = 60_000;
/// The maximum size of a picture that is read, in bytes.
const LONGEST: u64 = 256 << 20;

/// A picture.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Image {
    /// The file.
    pub path: String,
    pub format: Word,
    pub width: u32,
    pub height: u32,
    pub size_bytes: usize,
    /// What the picture shows: `screen`, `window` or `region` of the display, or `sessions`, rendered by Unterm.
    pub source: Word,
    /// The file's bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Takes pictures for one call, off the async workers.
struct Camera {
    captures: Arc<dyn Captures>,
    home: PathBuf,
    /// The scopes of the caller.
    scopes: Scopes,
    base64: bool,
}

impl Camera {
    fn new(context: &Context, caller: &Caller, base64: bool) -> Result<Self> {
        let home = context.registration.home().to_owned();
        Ok(Self { captures: captures(context)?, home, scopes: caller.scopes, base64 })
    }

    /// A folder in Unterm's home. Creates it if it is missing.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.home.join(name);
        let failed = |error| Error::Failed(format!("{} can't be made: {error}", folder.display()));
        private::create_folder(&folder).map_err(failed)?;
        Ok(folder)
    }

    /// The path of a new picture of this kind.
    fn file(&self, kind: &str) -> Result<PathBuf> {
        let name = pictures::file_name(kind, &self.captures.stamp());
        Ok(self.folder("screenshots")?.join(name))
    }

    /// Takes a picture of the display. Checks the caller's scope here as well, because only the list of sessions shows
    /// whether a window belongs to a session.
    fn display(&self, what: &OnDisplay) -> Result<Image> {
        check_scope(self.scopes, Access::Admin, "a picture of the display")?;
        let source = match what {
            OnDisplay::Screen => "screen",
            OnDisplay::Window { .. } => "window",
            OnDisplay::Region(_) => "region",
        };
        let file = self.file(if source == "region" { "region_visible" } else { source })?;
        match self.captures.display(what, &file) {
            Ok(true) => {}
            Ok(false) => return Err(Error::Failed("The selection was canceled".to_owned())),
            Err(why) => return Err(Error::Failed(format!("No picture could be taken: {why}"))),
        }
        let png = private::read(&file, LONGEST);
        let png = png.map_err(|error| Error::Failed(format!("{}: {error}", file.display())))?;
        Ok(self.image(file, &png, source))
    }

    fn sessions(&self, panes: &[Arc<Pane>], kind: &str) -> Result<Image> {
        let failed = |why| Error::Failed(format!("No picture could be taken: {why}"));
        let png = self.captures.panes(panes).map_err(failed)?;
        let file = self.file(kind)?;
        let failed = |error| Error::Failed(format!("{} can't be written: {error}", file.display()));
        private::write(&file, &png).map_err(failed)?;
        Ok(self.image(file, &png, "sessions"))
    }

    fn image(&self, file: PathBuf, png: &[u8], source: &'static str) -> Image {
        if let Some(folder) = file.parent() {
            pictures::prune_made_by_calls(folder, &file);
        }
        let (width, height) = sides(png);
        Image {
            path: file.to_string_lossy().into_owned(),
            format: "png".into(),
            width,
            height,
            size_bytes: png.len(),
            source: source.into(),
            base64: self.base64.then(|| STANDARD.encode(png)),
        }
    }
}

/// Runs a function that takes a picture on a blocking thread, and holds the permit meanwhile.
async fn taking<T: Send + 'static>(
    turn: Option<Turn>,
    take: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    // The permit moves into the function, which continues even if the caller disconnects.
    let work = move || {
        let _turn = turn;
        take()
    };
    blocking(work).await?
}

fn captures(context: &Context) -> Result<Arc<dyn Captures>> {
    let none = || Error::Failed("This instance takes no pictures".to_owned());
    context.host.captures().ok_or_else(none)
}

/// The rows of a session's screen, without trailing blanks.
fn screen_text(pane: &Pane) -> String {
    let term = pane.term();
    let top = term.live_top().0;
    let mut text = String::new();
    for row in 0..u64::from(term.size().rows) {
        let mut line = String::new();
        term.row_text(unterm_term::LineId(top + row), &mut line);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// `capture.screen`.
pub struct Screen;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ScreenParams<'a> {
    /// Return the picture's bytes too.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub include_base64: Arg<'a, bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ScreenReply {
    pub captures: Vec<Captured>,
    pub image: Image,
    pub r#type: Word,
    pub text_snapshot: bool,
    /// Why the picture shows the sessions instead of the display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Captured {
    pub session_id: String,
    pub title: String,
    /// The session's screen, each row a line.
    pub screen: String,
    pub r#type: Word,
}

/// Takes a picture of the display. If that fails, takes a picture of the sessions, and returns the reason too.
fn display_or_sessions(
    camera: &Camera,
    what: &OnDisplay,
    panes: &[Arc<Pane>],
) -> Result<(Image, Option<String>)> {
    match camera.display(what) {
        Ok(image) => Ok((image, None)),
        Err(error) => {
            let message = format!("{error}; the picture shows the sessions");
            let kind = if *what == OnDisplay::Screen { "screen" } else { "window" };
            Ok((camera.sessions(panes, kind)?, Some(message)))
        }
    }
}

impl Method for Screen {
    const NAME: &'static str = "capture.screen";
    const GROUP: Group = Group::Capture;
    const REVEALS: Subjects = Subjects::SESSIONS.union(Subjects::DISPLAY);
    const CHANGES: Subjects = Subjects::PICTURES;
    const DOC: &'static str = "Returns the text of every session, and a picture of the display. Without a display, the picture shows all sessions side by side.";
    type Params<'a> = ScreenParams<'a>;
    type Reply = ScreenReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: ScreenParams<'a>,
    ) -> Result<ScreenReply> {
        let camera = Camera::new(context, caller, params.include_base64.is_set("include_base64")?)?;
        let panes = context.mux.panes();
        taking(context.limits.pictures.display().await, move || {
            let (image, message) = display_or_sessions(&camera, &OnDisplay::Screen, &panes)?;
            let captures = panes.iter().map(|pane| Captured {
                session_id: pane.id().0.to_string(),
                title: pane.title(),
                screen: screen_text(pane),
                r#type: "text".into(),
            });
            let captures = captures.collect();
            Ok(ScreenReply {
                captures,
                image,
                r#type: "image/png".into(),
                text_snapshot: true,
                message,
            })
        })
        .await
    }
}

/// `capture.window`.
pub struct Window;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct WindowParams<'a> {
    /// A session's number or part of its title; or else part of the title of any window.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub title: Arg<'a, String>,
    /// The process id of a session or of any window. Default without a title: the first session.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub pid: Arg<'a, u64>,
    /// Return the picture's bytes too.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub include_base64: Arg<'a, bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct WindowReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session's screen, each row a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    pub image: Image,
    pub r#type: Word,
    /// Whether the picture shows a session. The session's text is then returned too.
    pub text_snapshot: bool,
    /// Why the picture shows all sessions instead of one session or window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The first session that matches the parameters.
fn meant(panes: &[Arc<Pane>], title: Option<&str>, pid: Option<u32>) -> Option<Arc<Pane>> {
    let is_numbered = |pane: &&Arc<Pane>| title.is_some_and(|it| it == pane.id().0.to_string());
    if let (Some(pane), None) = (panes.iter().find(is_numbered), pid) {
        return Some(pane.clone());
    }
    let is_meant = |pane: &&Arc<Pane>| {
        let has_title = |part: &str| pane.title().contains(part);
        let has_pid = |pid: u32| {
            let is_it = |own: Option<i32>| own.is_some_and(|own| own.unsigned_abs() == pid);
            is_it(pane.process().pid()) || is_it(pane.foreground().map(|process| process.pid))
        };
        title.is_none_or(has_title) && pid.is_none_or(has_pid)
    };
    panes.iter().find(is_meant).cloned()
}

impl Method for Window {
    const NAME: &'static str = "capture.window";
    const GROUP: Group = Group::Capture;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const CHANGES: Subjects = Subjects::PICTURES;
    const DOC: &'static str = "Returns a picture and the text of one session. With admin, also a picture of any window on the display, or of all sessions if no window matches.";
    type Params<'a> = WindowParams<'a>;
    type Reply = WindowReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: WindowParams<'a>,
    ) -> Result<WindowReply> {
        let title = params.title.text("title")?.map(Cow::into_owned);
        let pid = params.pid.number("pid", 0..=u64::from(u32::MAX))?.map(|pid| pid as u32);
        let camera = Camera::new(context, caller, params.include_base64.is_set("include_base64")?)?;
        let panes = context.mux.panes();
        let look = move || (meant(&panes, title.as_deref(), pid), title, panes);
        let (pane, title, panes) = blocking(look).await?;
        let Some(pane) = pane else {
            if title.is_none() && pid.is_none() {
                return Err(Error::Failed("There is no session".to_owned()));
            }
            // A caller that may not capture the display gets an error, not another picture.
            check_scope(camera.scopes, Access::Admin, "a picture of the display")?;
            let window = OnDisplay::Window { title, pid };
            let take = move || display_or_sessions(&camera, &window, &panes);
            let (image, message) = taking(context.limits.pictures.display().await, take).await?;
            return Ok(WindowReply {
                session_id: None,
                title: None,
                screen: None,
                image,
                r#type: "image/png".into(),
                text_snapshot: false,
                message,
            });
        };
        taking(context.limits.pictures.painting().await, move || {
            Ok(WindowReply {
                session_id: Some(pane.id().0.to_string()),
                title: Some(pane.title()),
                screen: Some(screen_text(&pane)),
                image: camera.sessions(&[pane], "window")?,
                r#type: "image/png".into(),
                text_snapshot: true,
                message: None,
            })
        })
        .await
    }
}

/// `screen.png`.
pub struct Png;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct PngReply {
    /// The picture, as a PNG in base64. It is not stored in a file.
    pub base64: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The session's `seq` before it was rendered.
    pub seq: u64,
}

impl Method for Png {
    const NAME: &'static str = "screen.png";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Renders a session's screen as the window would show it.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = PngReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<PngReply> {
        let pane = context.pane(params.session())?;
        let captures = captures(context)?;
        taking(context.limits.pictures.painting().await, move || {
            let seq = pane.term().seq();
            let failed = |why| Error::Failed(format!("No picture could be taken: {why}"));
            let png = captures.panes(&[pane]).map_err(failed)?;
            let (width, height) = sides(&png);
            Ok(PngReply { base64: STANDARD.encode(png), width, height, seq })
        })
        .await
    }
}

/// Width and height of a picture, in pixels.
fn sides(png: &[u8]) -> (u32, u32) {
    // PNG, section 11.2.1: width and height are the first fields of the first chunk.
    let side = |at: usize| {
        let bytes = png.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        u32::from_be_bytes(bytes.unwrap_or_default())
    };
    (side(16), side(20))
}

/// `capture.select`.
pub struct Select;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SelectParams<'a> {
    /// Let the user select a region with the mouse, if there is a window.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub interactive: Arg<'a, bool>,
    /// How long the user may take, in milliseconds. Default: 60,000.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub timeout_ms: Arg<'a, u64>,
    /// Return the picture's bytes too.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub include_base64: Arg<'a, bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SelectReply {
    pub image: Image,
    pub r#type: Word,
    /// `region`, or `screen_fallback`.
    pub mode: Word,
    pub message: Word,
}

impl Method for Select {
    const NAME: &'static str = "capture.select";
    const GROUP: Group = Group::Capture;
    const REVEALS: Subjects = Subjects::SESSIONS.union(Subjects::DISPLAY);
    const CHANGES: Subjects = Subjects::PICTURES;
    const DOC: &'static str =
        "Takes a picture of the display, or of a region that the user selects.";
    type Params<'a> = SelectParams<'a>;
    type Reply = SelectReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SelectParams<'a>,
    ) -> Result<SelectReply> {
        let time = params.timeout_ms.number("timeout_ms", 1..=3_600_000)?.unwrap_or(CHOOSING);
        let camera = Camera::new(context, caller, params.include_base64.is_set("include_base64")?)?;
        let panes = context.mux.panes();
        if params.interactive.is_set("interactive")? && context.host.has_window() {
            let busy = || {
                Error::Failed("The user is choosing a region for another call: wait until the user has chosen it or canceled".to_owned())
            };
            let turn = context.limits.pictures.selection().ok_or_else(busy)?;
            let region = OnDisplay::Region(Duration::from_millis(time));
            let image = taking(Some(turn), move || camera.display(&region)).await?;
            let message = "The user chose a region.";
            return Ok(SelectReply {
                image,
                r#type: "image/png".into(),
                mode: "region".into(),
                message: message.into(),
            });
        }
        taking(context.limits.pictures.display().await, move || {
            let (image, _) = display_or_sessions(&camera, &OnDisplay::Screen, &panes)?;
            let message = "Interactive region selection is not available in headless MCP mode; captured the screen instead.";
            Ok(SelectReply { image, r#type: "image/png".into(), mode: "screen_fallback".into(), message: message.into() })
        })
        .await
    }
}

/// `capture.clipboard`.
pub struct Clipboard;

/// The contents of the clipboard.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(extend("type" = "object"))]
pub enum ClipboardReply {
    /// Text.
    Text {
        /// The text.
        content: String,
    },
    /// A picture.
    Image {
        /// `png`.
        format: Word,
        /// The file it was written to.
        image_path: String,
        /// In pixels.
        width: usize,
        /// In pixels.
        height: usize,
        /// Bits per channel.
        bit_depth: u8,
        /// Size of the file in bytes.
        size_bytes: usize,
        /// The file's bytes.
        base64: String,
    },
}

impl Method for Clipboard {
    const NAME: &'static str = "capture.clipboard";
    const GROUP: Group = Group::Capture;
    const REVEALS: Subjects = Subjects::CLIPBOARD;
    const CHANGES: Subjects = Subjects::PICTURES;
    const DOC: &'static str = "Reads the system's clipboard: its text, or its picture as a file.";
    type Params<'a> = NoParams;
    type Reply = ClipboardReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        _: NoParams,
    ) -> Result<ClipboardReply> {
        let camera = Camera::new(context, caller, true)?;
        // The permit limits how many threads block here, because the program that owns the clipboard may never answer.
        taking(context.limits.pictures.clipboard().await, move || {
            Ok(match camera.captures.clipboard().map_err(Error::Failed)? {
                Clip::Text(content) => ClipboardReply::Text { content },
                Clip::Image { width, height, png } => {
                    let folder = camera.folder("clipboard")?;
                    let name = format!("clipboard_{}.png", camera.captures.stamp());
                    let file = folder.join(name);
                    let failed = |error| {
                        Error::Failed(format!("{} can't be written: {error}", file.display()))
                    };
                    private::write(&file, &png).map_err(failed)?;
                    pictures::prune_all(&folder, &file);
                    ClipboardReply::Image {
                        format: "png".into(),
                        image_path: file.to_string_lossy().into_owned(),
                        width,
                        height,
                        bit_depth: 8,
                        size_bytes: png.len(),
                        base64: STANDARD.encode(&png),
                    }
                }
            })
        })
        .await
    }
}
