//! From state to a scene: everything that a whole frame shows. Changes no state.

use unterm_renderer::{PaneScene, PixelRect, Renderer, Scene};

use crate::window::{
    overlays::{canvas::Canvas, text_target::TextTarget, toast::rows_in_use},
    surface::{
        pane_marks,
        plan::{Drawn, Plan},
        stack,
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
        let takes_text = has_keys && plan.text_target == TextTarget::Pane;
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
    let search = overlays.search.bar();
    let bar = search.map(|search| (search.pane, search.bar()));
    let kept = rows_in_use(layout, placed, &workspace.views, bar, geometry);
    let toasts = overlays.toasts.placed(geometry, &kept);
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
    if geometry.sidebar().width > 0 {
        let state = (plan.tab_bar, chrome.sidebar.selected(), plan.attention);
        chrome.tabs.side(*geometry, layout).draw(&mut scene, colors, state);
    } else {
        let max_title = prefs.config.tab_bar.max_title;
        chrome.tabs.bar(*geometry, layout, max_title).draw(&mut scene, colors, plan.tab_bar);
    }
    chrome.status_bar.draw(&mut scene, colors);
    let mut canvas = Canvas {
        geometry,
        colors,
        placed,
        views: &workspace.views,
        layout,
        search: overlays.search.bar(),
        debug: plan.debug.as_ref(),
        pointer: input.pointer.position,
        renderer,
        scene: &mut scene,
        preedit: input.preedit.as_ref().map(|preedit| (plan.text_target, preedit)),
        caret: None,
    };
    pane_marks::draw_copy_modes(drawn, &mut canvas);
    pane_marks::draw_commands(drawn, &mut canvas);
    stack::draw(drawn, &mut canvas);
    let caret =
        canvas.caret.filter(|_| matches!(plan.text_target, TextTarget::Panel | TextTarget::Search));
    (scene, caret)
}
