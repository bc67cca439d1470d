//! Hints: labels over each visible link, path, hash and number. The user types a label to choose its target. Quick
//! select copies the target; all other hints open it.
//!
//! Owns the labels. `targets.rs` finds the targets, and the app opens the chosen target.

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};

use crate::config::HintAction;
use crate::window::{
    cx::Cx,
    input::buffer::Buffer,
    overlays::{
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        targets::{self, Target, TargetKind, reach::Reach},
        text_target::TextTarget,
    },
    ui::{colors::Colors, geometry::Geometry},
    wish::Wish,
    workspace::view::View,
};

/// The open labels over a pane.
pub(crate) struct Hints {
    pub(crate) pane: PaneId,
    targets: Vec<Target>,
    /// The label of each target. Targets with equal text share a label.
    labels: Vec<String>,
    typed: String,
    /// Whether a chosen target is always copied, never opened.
    copies: bool,
}

impl Hints {
    /// Labels over the visible targets of the focused pane. A chosen target is copied if `copies` is set, and otherwise
    /// opened. If there is no target, shows a message.
    pub(crate) fn over_targets(copies: bool, cx: &mut Cx<'_>) -> Option<Self> {
        let pane = cx.focused_pane()?;
        cx.fresh_view(&pane);
        let view = cx.views.get(&pane.id())?;
        let reach = Reach::of(&view.snapshot.rows, &pane.term());
        let targets = targets::find(&reach, &cx.prefs.config.hint_patterns);
        if targets.is_empty() {
            cx.notify("hints", "No link, path, hash or number is in sight.");
            return None;
        }
        Some(Self::new(pane.id(), targets, &cx.prefs.config.hints.alphabet, copies))
    }

    pub(crate) fn new(pane: PaneId, targets: Vec<Target>, alphabet: &str, copies: bool) -> Self {
        let mut texts: Vec<(&str, usize)> = Vec::new();
        let mut numbers = vec![0; targets.len()];
        // Targets near the prompt get the shortest labels.
        for (index, target) in targets.iter().enumerate().rev() {
            let known = texts.iter().find(|(text, _)| *text == target.text).map(|(_, n)| *n);
            numbers[index] = known.unwrap_or_else(|| {
                texts.push((&target.text, texts.len()));
                texts.len() - 1
            });
        }
        let codes = codes(texts.len(), alphabet);
        let labels = numbers.into_iter().map(|n| codes[n].clone()).collect();
        Self { pane, targets, labels, typed: String::new(), copies }
    }

    /// Whether a target's label starts with the typed characters.
    fn is_open(&self, index: usize) -> bool {
        self.labels[index].starts_with(&self.typed)
    }

    /// Adds a typed character. If a label is now complete, returns its target.
    fn push(&mut self, c: char) -> Option<Target> {
        self.typed.extend(c.to_lowercase());
        if !(0..self.labels.len()).any(|index| self.is_open(index)) {
            self.typed.pop();
            return None;
        }
        let chosen = self.labels.iter().position(|label| *label == self.typed)?;
        Some(self.targets[chosen].clone())
    }

    /// Copies, pastes or opens the chosen target.
    fn use_target(&self, target: &Target, pastes: bool, cx: &mut Cx<'_>) {
        let text = target.text.clone();
        let action = match pastes {
            true => HintAction::Paste,
            false if self.copies => HintAction::Copy,
            false => own_action(target.kind),
        };
        match action {
            HintAction::Copy => {
                cx.store(Buffer::Primary, text.clone());
                cx.store(Buffer::Clipboard, text);
            }
            HintAction::Paste => cx.wish(Wish::Paste(self.pane, text)),
            HintAction::Open => cx.wish(Wish::OpenTarget(text)),
            HintAction::Editor => cx.wish(Wish::Edit(self.pane, text)),
        }
    }

    /// Draws the labels over a pane. `origin` is the position of the pane's first cell.
    fn draw_labels(
        &self,
        view: &View,
        origin: (i32, i32),
        geometry: &Geometry,
        colors: &Colors,
        scene: &mut Scene<'_>,
    ) {
        for (index, target) in self.targets.iter().enumerate().filter(|(i, _)| self.is_open(*i)) {
            let cells = view.cells_of(&target.range, origin, geometry);
            for &rect in &cells {
                let color = colors.accent;
                scene.quads.push(Quad { rect, color, alpha: 0.3, radius: 0.0 });
            }
            // The start of a target may be scrolled out of view.
            let Some(first) = cells.first() else { continue };
            let label = &self.labels[index];
            let rect = PixelRect {
                width: label.chars().count() as u32 * geometry.cell.width + geometry.px(4.0),
                ..*first
            };
            let radius = geometry.px(3.0) as f32;
            scene.quads.push(Quad { rect, color: colors.bell, alpha: 1.0, radius });
            let typed = Some(0..self.typed.len()).filter(|typed| !typed.is_empty());
            scene.labels.push(Label {
                rect,
                text: label.clone(),
                color: colors.on_bell,
                size: geometry.ui_font(),
                bold: true,
                align: LabelAlign::Center,
                accents: typed.into_iter().collect(),
                accent: crate::window::ui::colors::mix(colors.bell, colors.on_bell, 0.45),
            });
        }
    }
}

/// Returns `count` codes, the shortest first. No code is a prefix of another code.
fn codes(count: usize, alphabet: &str) -> Vec<String> {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut codes: Vec<String> = letters.iter().map(char::to_string).collect();
    let mut at = codes.len();
    // While more codes are needed, replace the last of the shorter codes by longer codes that start with it.
    while codes.len() < count && letters.len() > 1 {
        if at == 0 || codes[at - 1].len() < codes.last().map_or(0, String::len) && at == 1 {
            at = codes.len();
        }
        let prefix = codes.remove(at - 1);
        at -= 1;
        codes.extend(letters.iter().map(|letter| format!("{prefix}{letter}")));
        codes.sort_by_key(String::len);
    }
    codes.truncate(count.max(1));
    codes
}

impl Overlay for Hints {
    fn has_input(&self, focused: Option<PaneId>) -> bool {
        Some(self.pane) == focused
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Nobody)
    }

    /// The program never receives a key while labels are shown.
    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        let Press { pressed, modifiers, text, .. } = *press;
        let special = modifiers.intersects(Modifiers::CTRL | Modifiers::ALT | Modifiers::SUPER);
        let typed = text.and_then(|text| text.chars().next());
        match (pressed.key, typed) {
            (Key::Modifier(..), _) => return Handled::No,
            (Key::Backspace, _) if !self.typed.is_empty() => drop(self.typed.pop()),
            (Key::Char(_), Some(c)) if !special && !c.is_control() => {
                if let Some(target) = self.push(c) {
                    cx.close();
                    self.use_target(&target, c.is_uppercase(), cx);
                }
            }
            _ => cx.close(),
        }
        Handled::Yes
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        if let Some(area) = canvas.area(self.pane)
            && let Some(view) = canvas.views.get(&self.pane)
        {
            let (geometry, colors) = (canvas.geometry, canvas.colors);
            self.draw_labels(view, geometry.origin(area), geometry, colors, canvas.scene);
        }
    }
}

/// The default action for a target of this kind.
fn own_action(kind: TargetKind) -> HintAction {
    match kind {
        TargetKind::Link | TargetKind::Url => HintAction::Open,
        TargetKind::Path => HintAction::Editor,
        TargetKind::Text => HintAction::Copy,
        TargetKind::Own(action) => action,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{LineId, Point, TextRange};

    #[test]
    fn no_label_is_the_start_of_another() {
        for count in [1, 3, 4, 8, 9, 27, 28, 300] {
            let codes = codes(count, "asdf");
            assert_eq!(codes.len(), count);
            for (i, code) in codes.iter().enumerate() {
                let clash =
                    codes.iter().enumerate().any(|(j, other)| i != j && other.starts_with(code));
                assert!(!clash, "{code} among {count}");
            }
        }
        assert_eq!(codes(4, "asdf"), ["a", "s", "d", "f"]);
        assert_eq!(codes(5, "asdf")[..3], ["a", "s", "d"]);
    }

    #[test]
    fn the_same_text_has_the_same_label_and_the_last_line_the_first() {
        let target = |line, text: &str| {
            let at = Point { line: LineId(line), col: 0 };
            let range = TextRange { start: at, end: at, block: false };
            Target { kind: TargetKind::Text, range, text: text.to_owned() }
        };
        let targets = vec![target(0, "x"), target(1, "y"), target(2, "x")];
        let mut hints = Hints::new(PaneId(0), targets, "asdf", true);
        assert_eq!(hints.labels, ["a", "s", "a"]);
        assert_eq!(hints.push('q'), None);
        assert_eq!(hints.push('S').map(|target| target.text), Some("y".to_owned()));
    }
}
