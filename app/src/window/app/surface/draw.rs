//! From state to pixels: builds a frame's scene, and presents it. Changes no state but the renderer's and painter's.

use unterm_renderer::{PaneScene, PixelRect, Renderer, Scene};

use crate::window::{
    app::{
        App,
        overlays::{stack, toast::kept_clear},
    },
    chrome::tab_bar::TabBar,
    overlays::{canvas::Canvas, taker::Taker},
    surface::{
        Surface,
        plan::{Drawn, Plan},
    },
    system::notices::{draw_flash, is_flashing},
    ui::{colors::quad, geometry::pixels},
    workspace::badge::{BadgeArea, draw_badges},
};

/// Builds a frame's scene. Also returns the caret of the panel or search, if one of them receives the keys.
pub(crate) fn scene<'a>(
    drawn: &Drawn<'a>,
    renderer: &mut Renderer,
) -> (Scene<'a>, Option<PixelRect>) {
    let Drawn { plan, workspace, input, overlays, chrome, prefs } = *drawn;
    let Plan { layout, placed, geometry, colors, panes, receivers, .. } = plan;
    let focused = panes.focused;
    let mut scene = Scene {
        width: geometry.width,
        height: geometry.height,
        background: colors.divider,
        ..Scene::default()
    };
    for (id, area) in placed {
        let Some(view) = workspace.views.get(id) else { continue };
        let has_keys = Some(*id) == focused;
        let plain = panes.scene(*id, *area, view);
        let takes_text = has_keys && plan.taker == Taker::Pane;
        scene.panes.push(PaneScene {
            highlights: if plan.matches.0 == Some(*id) { &plan.matches.1 } else { &[] },
            preedit: input.preedit.as_ref().filter(|_| takes_text),
            dim: if receivers.contains(id) { 0.0 } else { plain.dim },
            ..plain
        });
    }
    scene.quads.extend(plan.scrollbars.iter().cloned());
    if placed.len() > 1
        && let Some((_, area)) = placed.iter().find(|(id, _)| Some(*id) == focused)
    {
        // Mark the focused pane at its top edge, within its padding. A line between two panes could belong to either
        // pane.
        let height = geometry.px(2.0).min(geometry.px(geometry.padding)).max(1);
        scene.quads.push(quad(PixelRect { height, ..pixels(*area) }, colors.focus));
    }
    let toasts = overlays.toasts.placed(geometry, &kept_clear(drawn, geometry));
    let over: Vec<_> = toasts.into_iter().map(|(_, rect, _)| rect).collect();
    for (id, area) in placed {
        if let Some(view) = workspace.views.get(id) {
            let badges = view.badges(receivers.contains(id));
            let around = BadgeArea { area: pixels(*area), rows: &view.snapshot.rows, over: &over };
            draw_badges(&badges, &around, (geometry, colors), renderer, &mut scene);
        }
    }
    for (_, area) in placed.iter().filter(|(id, _)| is_flashing(&workspace.views, id)) {
        draw_flash(pixels(*area), colors, &mut scene);
    }
    let active = layout.active_tab().map(|tab| tab.id);
    let max_title = prefs.config.tab_bar.max_title;
    TabBar::new(*geometry, &chrome.tabs, active, chrome.tab_hand.strip, max_title).draw(
        &mut scene,
        colors,
        plan.tab_bar,
    );
    chrome.status_bar.draw(&mut scene, colors);
    let mut canvas = Canvas {
        geometry,
        colors,
        placed,
        views: &workspace.views,
        pointer: input.pointer.position,
        renderer,
        scene: &mut scene,
        preedit: input.preedit.as_ref().map(|preedit| (plan.taker, preedit)),
        caret: None,
    };
    stack::draw(drawn, &mut canvas);
    let caret = canvas.caret.filter(|_| matches!(plan.taker, Taker::Panel | Taker::Search));
    (scene, caret)
}

impl App {
    /// Paints a planned frame. Returns the caret of the panel or search.
    pub(crate) fn draw(&mut self, plan: &Plan) -> Option<PixelRect> {
        let drawn = Drawn {
            plan,
            workspace: &self.workspace,
            input: &self.input,
            overlays: &self.overlays,
            chrome: &self.chrome,
            prefs: &self.prefs,
        };
        let (scene, caret) = scene(&drawn, &mut self.surface.renderer);
        self.surface.renderer.frame(&scene);
        self.ask_to_finish();
        self.present();
        caret
    }

    /// Requests another frame if the one that was built last left glyphs that programs registered to later frames.
    pub(crate) fn ask_to_finish(&mut self) {
        if self.surface.renderer.is_unfinished() {
            self.surface.pacing.ask_for_text();
        }
    }

    /// Presents the frame that was built last.
    pub(crate) fn present(&mut self) {
        let Surface { screen, renderer, .. } = &mut *self.surface;
        if let Some(screen) = screen
            && let Err(error) = screen.present(renderer)
        {
            self.failure = Some(error.into());
        }
    }
}
