//! Paints frames: builds a frame's scene, and presents it.

use unterm_renderer::PixelRect;

use crate::window::{
    app::App,
    redraw::Redraw,
    surface::{
        Surface,
        plan::{Drawn, Plan},
        scene::scene,
    },
};

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

    /// Requests another frame if the last built frame left glyphs that programs registered to later frames.
    pub(crate) fn ask_to_finish(&mut self) {
        if self.surface.renderer.is_unfinished() {
            self.surface.pacing.request(Redraw::Text);
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
