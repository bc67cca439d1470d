//! Lends the parts of the window what they need, and carries out what they request.

use crate::window::{
    app::App,
    chrome::Chrome,
    cx::Cx,
    overlays::{Overlays, clipboard_requests::Allowed},
    surface::Surface,
    system::System,
    workspace::{dividers::Dividers, panes::Broadcast},
};

/// The parts of the window. A [`Cx`] lends the views and the pointer, so they are missing here.
pub(crate) struct Parts<'a> {
    pub(crate) chrome: &'a mut Chrome,
    pub(crate) overlays: &'a mut Overlays,
    pub(crate) broadcast: &'a mut Broadcast,
    pub(crate) dividers: &'a mut Dividers,
    pub(crate) surface: &'a mut Surface,
    pub(crate) clipboard_access: &'a mut Allowed,
    pub(crate) system: &'a mut System,
}

impl App {
    /// Lends the parts what they need, and carries out their requests before it returns.
    pub(crate) fn with_parts<R>(
        &mut self,
        run: impl FnOnce(&mut Parts<'_>, &mut Cx<'_>) -> R,
    ) -> R {
        let clock = self.clock();
        let Self {
            mux,
            server,
            inbox,
            prefs,
            workspace,
            input,
            overlays,
            chrome,
            surface,
            system,
            now,
            effects,
            ..
        } = self;
        let surface = &mut **surface;
        let mut cx = Cx {
            now: *now,
            clock,
            mux,
            inbox,
            server: server.as_ref(),
            prefs,
            geometry: surface.geometry,
            search_bar: overlays.search.bar().map(|search| (search.pane, search.bar())),
            views: &mut workspace.views,
            pointer: &mut input.pointer,
            modifiers: input.modifiers,
            has_focus: input.focused,
            effects,
            wishes: Vec::new(),
            closes: false,
        };
        let (broadcast, dividers) = (&mut workspace.broadcast, &mut workspace.dividers);
        let clipboard_access = &mut input.clipboard_access;
        let mut parts =
            Parts { chrome, overlays, broadcast, dividers, surface, clipboard_access, system };
        let result = run(&mut parts, &mut cx);
        let Cx { wishes, .. } = cx;
        wishes.into_iter().for_each(|wish| self.grant(wish));
        result
    }
}
