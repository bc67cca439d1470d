//! Commands as blocks: a mark left of each prompt with what can be done with its command, jumps between prompts, and the
//! command line kept in sight while its output scrolls.
//!
//! Owns which command is pointed at and which was jumped to. What a command is, the terminal knows by shell integration;
//! nothing here writes into it. Off on the alternate screen.

use unterm_mux::{Pane, PaneId, input};
use unterm_renderer::{Highlight, LabelAlign, PixelRect, Quad, Scene};
use unterm_term::{Command, LineId, Rgb, ScreenKind, Snapshot, Term};

use super::{
    App,
    chrome::{Colors, framed, label, quad},
    clipboard::Buffer,
    geometry::{Geometry, contains, pixels},
    selection::Selection,
    send,
    view::View,
};

/// Commands in sight that are shown as blocks.
const CAP: usize = 512;

/// How a command fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fare {
    Good,
    Bad,
    /// It runs, is being typed, or nobody told how it ended.
    Plain,
}

impl Fare {
    fn of(command: &Command) -> Self {
        match command.exit_code {
            Some(0) => Self::Good,
            Some(_) => Self::Bad,
            None => Self::Plain,
        }
    }

    fn color(self, colors: &Colors) -> Rgb {
        match self {
            Self::Good => colors.success,
            Self::Bad => colors.danger,
            Self::Plain => colors.muted,
        }
    }
}

/// A command whose prompt is in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    id: u64,
    line: LineId,
    fare: Fare,
    /// It has begun to run, so that there is something to copy.
    has_run: bool,
}

/// The command whose output fills the top of what is in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    line: LineId,
    fare: Fare,
    text: String,
}

/// The commands in sight of a view.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    header: Option<Header>,
    /// What they were read of: the terminal's `seq`, and the first line.
    read: Option<(u64, LineId)>,
    /// The command that was jumped to.
    current: Option<u64>,
}

impl Blocks {
    /// Makes the next [`Blocks::read`] read.
    pub(super) fn forget(&mut self) {
        self.read = None;
    }

    /// Reads the commands in sight, where they may be others.
    pub(super) fn read(&mut self, term: &Term, snapshot: &Snapshot, is_scrolled: bool) {
        let (Some(first), Some(last)) = (snapshot.rows.first(), snapshot.rows.last()) else {
            return;
        };
        let (first, last) = (first.line, last.line);
        if self.read.replace((snapshot.seq, first)) == Some((snapshot.seq, first)) {
            return;
        }
        self.list.clear();
        self.header = None;
        if !is_scrolled {
            self.current = None;
        }
        if snapshot.screen != ScreenKind::Main {
            return;
        }
        let above = term.command_at(first);
        let at_first = above.filter(|c| c.prompt.is_some_and(|prompt| prompt.line == first));
        let mut next = at_first.and(Some(first)).or_else(|| term.prompt_after(first));
        while let Some(line) = next.filter(|line| *line <= last && self.list.len() < CAP) {
            if let Some(command) = term.command_at(line) {
                let has_run = command.output.is_some();
                self.list.push(Block { id: command.id, line, fare: Fare::of(command), has_run });
            }
            next = term.prompt_after(line);
        }
        self.header = above.filter(|_| is_scrolled && at_first.is_none()).and_then(|command| {
            let output = command.output?.line;
            let text = command.line.as_deref()?.lines().next()?.trim().to_owned();
            let header = Header { line: command.prompt?.line, fare: Fare::of(command), text };
            (output <= first && !header.text.is_empty()).then_some(header)
        });
    }
}

/// What is typed to run a line again. What a program only pretends was typed is not run without a look at it.
fn rerun_input(pane: &Pane, line: &str, authentic: bool) -> Vec<u8> {
    let modes = pane.term().modes();
    let mut bytes = input::encode_paste(line, modes);
    if authentic {
        bytes.push(b'\r');
    }
    bytes
}

/// What can be done with a command by the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    CopyOutput,
    CopyCommand,
    Rerun,
    Fold,
}

const PARTS: [(Part, &str); 4] = [
    (Part::CopyOutput, "Copy output"),
    (Part::CopyCommand, "Copy command"),
    (Part::Rerun, "Rerun"),
    (Part::Fold, "Unfold"),
];

/// Where a command's row, its mark and its buttons lie: all of it inside the pane.
struct Place {
    mark: PixelRect,
    row: PixelRect,
    bar: PixelRect,
    /// The first of [`PARTS`], as many as there is room for.
    parts: Vec<(Part, PixelRect)>,
}

impl Place {
    /// That of the command in row `index` of a pane.
    fn new(view: &View, index: usize, area: PixelRect, geometry: &Geometry) -> Self {
        let height = geometry.cell.height;
        let origin = geometry.inside(area);
        let y = origin.1 + (index as u32 * height) as i32 - view.shift as i32;
        let row = PixelRect { y, height, ..area }.intersection(&area);
        let inset = geometry.px(2.0);
        let mark =
            PixelRect { x: area.x + inset as i32, y: y + 1, width: inset, height: height - 1 };
        let mark = mark.intersection(&area);
        let padding = geometry.px(8.0);
        let tall = geometry.ui_line() + geometry.px(4.0);
        // Between the mark and the scrollbar, with a blank before that.
        let room = if tall <= area.height { area.width.saturating_sub(3 * padding) } else { 0 };
        let mut all = 0;
        let mut parts = Vec::new();
        for (part, text) in PARTS {
            let width = geometry.ui_width(text) + 2 * padding;
            if all + width > room {
                break;
            }
            parts.push((part, PixelRect { x: all as i32, width, ..PixelRect::default() }));
            all += width;
        }
        let lowest = area.y + area.height.saturating_sub(tall) as i32;
        let bar = PixelRect {
            x: area.x + area.width.saturating_sub(all + 2 * padding) as i32,
            y: (y + (height as i32 - tall as i32) / 2).clamp(area.y, lowest),
            width: all,
            height: tall,
        };
        for (_, rect) in &mut parts {
            *rect = PixelRect { x: bar.x + rect.x, width: rect.width, ..bar };
        }
        Self { mark, row, bar, parts }
    }

    /// Where the pointer means the mark: the padding beside the row.
    fn edge(&self, geometry: &Geometry) -> PixelRect {
        PixelRect { width: geometry.px(8.0), ..self.row }
    }
}

impl View {
    /// The commands in sight, each with its row.
    fn blocks_in_rows(&self) -> impl Iterator<Item = (usize, &Block)> {
        let rows = &self.snapshot.rows;
        self.blocks.list.iter().filter_map(|block| {
            let row = rows.iter().position(|row| row.line == block.line)?;
            Some((row, block))
        })
    }

    /// Where it is said that lines are left out, and how many, behind the text of the row above them.
    fn folded_marks(&self, area: PixelRect, geometry: &Geometry) -> Vec<(PixelRect, u64)> {
        let rows = &self.snapshot.rows;
        let hidden = self.folds.hidden().iter().filter(|_| !self.is_alternate());
        let marks = hidden.filter_map(|hidden| {
            let row = rows.partition_point(|row| row.line < hidden.first).checked_sub(1)?;
            if rows[row].line.0 + 1 != hidden.first.0 {
                return None;
            }
            let blank = unterm_term::Cell::default().content();
            let end = rows[row].cells.iter().rposition(|cell| cell.content() != blank);
            let col = end.map_or(0, |end| end as u32 + 1) + 2;
            let origin = geometry.inside(area);
            let (cell, text) = (geometry.cell, folded(hidden.count()));
            let width = geometry.ui_width(&text) + geometry.px(12.0);
            let most = area.width.saturating_sub(width + geometry.px(16.0));
            let rect = PixelRect {
                x: (origin.0 + (col * cell.width) as i32).min(area.x + most as i32),
                y: origin.1 + (row as u32 * cell.height) as i32 - self.shift as i32,
                width,
                height: cell.height,
            };
            // Where there is no room for it, it is not said.
            area.contains(&rect).then(|| (rect, hidden.count()))
        });
        marks.collect()
    }

    /// The command line that is kept in sight, and where. It makes way for what is looked at in the rows below it: the
    /// cursor, and where a selection or a match begins.
    fn kept_header(
        &self,
        area: PixelRect,
        geometry: &Geometry,
        matches: &[Highlight],
    ) -> Option<(&Header, PixelRect)> {
        let header = self.blocks.header.as_ref()?;
        let rect = header_rect(area, geometry);
        let foot = rect.y + rect.height as i32 + self.shift as i32 - geometry.inside(area).1;
        let rows = (foot.max(0) as u32).div_ceil(geometry.cell.height.max(1)) as usize;
        let rows = &self.snapshot.rows[..rows.min(self.snapshot.rows.len())];
        let holds = |line| rows.iter().any(|row| row.line == line);
        let cursor = self.snapshot.cursor;
        let selected = self.selection.and_then(|selection| selection.range);
        let starts = matches.iter().map(|one| one.range).chain(selected);
        let makes_way = cursor.visible && usize::from(cursor.row) < rows.len()
            || starts.into_iter().any(|range| holds(range.start.line));
        (!makes_way).then_some((header, rect))
    }

    /// Draws marks, buttons and header into the pane at `area`; the header where there are the places of matches.
    pub(super) fn draw_blocks(
        &self,
        area: PixelRect,
        hovered: Option<u64>,
        pointer: Option<(f64, f64)>,
        shows: (bool, Option<&[Highlight]>),
        look: (&Geometry, &Colors),
        scene: &mut Scene<'_>,
    ) {
        let (geometry, colors) = look;
        let (marks, highlights) = shows;
        let header = highlights.and_then(|matches| self.kept_header(area, geometry, matches));
        let label = |rect, text: &str, color, align| label(geometry, rect, text, color, align);
        for (row, block) in self.blocks_in_rows().filter(|_| marks) {
            let place = Place::new(self, row, area, geometry);
            let color = block.fare.color(colors);
            let is_current = self.blocks.current == Some(block.id) || hovered == Some(block.id);
            let width = if is_current { place.mark.width * 2 } else { place.mark.width };
            let rect = PixelRect { width, ..place.mark };
            scene.quads.push(Quad { rect, color, alpha: 1.0, radius: 0.0 });
            if hovered != Some(block.id) || place.parts.is_empty() {
                continue;
            }
            framed(place.bar, geometry.px(4.0) as f32, colors, scene);
            for ((part, rect), (_, text)) in place.parts.iter().zip(PARTS) {
                let folds = *part == Part::Fold && !self.folds.has(block.id);
                let text = if folds { "Fold" } else { text };
                let can = block.has_run;
                let lit = pointer.is_some_and(|(x, y)| contains(*rect, x, y));
                let color = match (can, lit) {
                    (false, _) => colors.disabled,
                    (true, true) => colors.text,
                    (true, false) => colors.muted,
                };
                scene.labels.push(label(*rect, text, color, LabelAlign::Center));
            }
        }
        for (rect, count) in self.folded_marks(area, geometry) {
            framed(rect, geometry.px(4.0) as f32, colors, scene);
            let lit = pointer.is_some_and(|(x, y)| contains(rect, x, y));
            let color = if lit { colors.text } else { colors.muted };
            scene.labels.push(label(rect, &folded(count), color, LabelAlign::Center));
        }
        if let Some((kept, rect)) = header {
            scene.quads.push(quad(rect, colors.raised));
            let line = PixelRect { y: rect.y + rect.height as i32 - 1, height: 1, ..rect };
            scene.quads.push(quad(line, colors.hairline));
            let inset = geometry.px(2.0);
            let mark = PixelRect { x: rect.x + inset as i32, width: inset, ..rect };
            scene.quads.push(quad(mark, kept.fare.color(colors)));
            let padding = geometry.px(8.0);
            let inside = PixelRect {
                x: rect.x + padding as i32,
                width: rect.width.saturating_sub(3 * padding),
                ..rect
            };
            scene.labels.push(label(inside, &kept.text, colors.text, LabelAlign::Left));
        }
    }
}

/// What is said of lines that are left out.
fn folded(count: u64) -> String {
    format!("⋯ {count} {}", if count == 1 { "line" } else { "lines" })
}

/// Where the kept command line lies in a pane: over whole rows, so that no half of one shows below it.
fn header_rect(area: PixelRect, geometry: &Geometry) -> PixelRect {
    let wanted = geometry.ui_line() + geometry.px(8.0);
    let above = (geometry.inside(area).1 - area.y).max(0) as u32;
    let cell = geometry.cell.height.max(1);
    let rows = wanted.saturating_sub(above).div_ceil(cell).max(1);
    PixelRect { height: (above + rows * cell).min(area.height), ..area }
}

impl App {
    /// Scrolls to the prompt, or the line that a program marked, before or behind what is in sight; false where there is
    /// none.
    pub(super) fn jump_to_prompt(&mut self, forward: bool) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.views.get_mut(&pane.id()) else { return false };
        if view.is_alternate() {
            return false;
        }
        self.pacing.ask();
        let (first, _) = view.rows_in_sight();
        let term = pane.term();
        let line = if forward { term.mark_after(first) } else { term.mark_before(first) };
        let Some(line) = line else {
            if forward {
                view.scroll_to_live();
            }
            return true;
        };
        let id = term.command_at(line).map(|command| command.id);
        drop(term);
        view.show_at_top(line);
        view.blocks.current = id;
        true
    }

    /// The command that actions mean: the one jumped to, else the last that has run.
    fn command_meant(&self, pane: &Pane) -> Option<u64> {
        let view = self.views.get(&pane.id())?;
        let term = pane.term();
        let current = view.blocks.current.filter(|id| term.command(*id).is_some());
        current.or_else(|| {
            let ran = term.commands().rev().find(|command| command.output.is_some());
            ran.map(|command| command.id)
        })
    }

    /// Does something with a command of the focused pane: the one jumped to, else the last.
    pub(super) fn with_command(&mut self, part: Part) {
        let Some(pane) = self.focused_pane() else { return };
        match self.command_meant(&pane) {
            Some(id) => self.do_with(&pane, id, part),
            None => self.no_commands(),
        }
    }

    fn no_commands(&mut self) {
        self.notify(
            "commands",
            "No command is known here.\nThe shell has not told of one (OSC 133).".to_owned(),
        );
    }

    /// Selects a command's output.
    pub(super) fn select_output(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(id) = self.command_meant(&pane) else { return self.no_commands() };
        let (range, seq) = {
            let term = pane.term();
            (term.output_range(id), term.seq())
        };
        let Some(view) = self.views.get_mut(&pane.id()) else { return };
        match range {
            Some(range) => {
                view.selection = Some(Selection::of(range, seq));
                view.reveal(range.start.line);
                self.pacing.ask();
            }
            None => self.notify("commands", "The command has put out nothing.".to_owned()),
        }
    }

    /// Folds every finished command's output in the focused pane, or unfolds all.
    pub(super) fn fold_all(&mut self, fold: bool) {
        let Some(pane) = self.focused_pane() else { return };
        if let Some(view) = self.views.get_mut(&pane.id()) {
            view.change_folds(|folds| {
                match fold {
                    true => folds.fold_all(&pane.term()),
                    false => folds.clear(),
                }
                true
            });
            self.pacing.ask();
        }
    }

    /// What is typed to run again the command that is meant in a pane; `None` where none can be.
    pub(super) fn rerun_input(&self, pane: &Pane) -> Option<Vec<u8>> {
        let id = self.command_meant(pane)?;
        let (line, authentic) = {
            let term = pane.term();
            if !term.commands().next_back().is_some_and(Command::is_prompting) {
                return None;
            }
            let command = term.command(id)?;
            (command.line.clone().filter(|line| !line.is_empty())?, command.is_authentic)
        };
        Some(rerun_input(pane, &line, authentic))
    }

    fn do_with(&mut self, pane: &Pane, id: u64, part: Part) {
        if part == Part::Fold {
            let Some(view) = self.views.get_mut(&pane.id()) else { return };
            if !view.change_folds(|folds| folds.toggle(&pane.term(), id)) {
                let why = "Nothing can be folded: the command runs, or has put out nothing.";
                self.notify("commands", why.to_owned());
            }
            return self.pacing.ask();
        }
        let (text, authentic, prompts) = {
            let term = pane.term();
            let command = term.command(id);
            let authentic = command.is_some_and(|command| command.is_authentic);
            let prompts = term.commands().next_back().is_some_and(Command::is_prompting);
            let text = match part {
                Part::CopyOutput => term.output_range(id).map(|range| term.text(range)),
                Part::CopyCommand | Part::Rerun | Part::Fold => {
                    command.and_then(|c| c.line.clone())
                }
            };
            (text.filter(|text| !text.is_empty()), authentic, prompts)
        };
        let Some(text) = text else {
            let what = match part {
                Part::CopyOutput => "The command has put out nothing.",
                Part::CopyCommand | Part::Rerun | Part::Fold => "The command's line is not known.",
            };
            return self.notify("commands", what.to_owned());
        };
        match part {
            Part::Fold => {}
            Part::CopyOutput | Part::CopyCommand => {
                let lines = text.lines().count();
                self.clipboard.store(Buffer::Clipboard, text);
                let lines = if lines == 1 { "a line".to_owned() } else { format!("{lines} lines") };
                self.notify("commands", format!("Copied {lines}."));
            }
            Part::Rerun if !prompts => {
                self.notify(
                    "commands",
                    "A program runs; at its end the command can be run again.".to_owned(),
                );
            }
            Part::Rerun => {
                self.before_input(pane.id());
                send(pane, &rerun_input(pane, &text, authentic));
                if !authentic {
                    self.notify(
                        "commands",
                        "Enter runs it; the shell itself has not told of it.".to_owned(),
                    );
                }
            }
        }
    }

    /// The pointer moved to a point of the window: a command's buttons come and go.
    pub(super) fn hover_blocks(&mut self, x: f64, y: f64) {
        let before = self.block_hover;
        self.block_hover = None;
        let geometry = self.screen.as_ref().map(|screen| screen.geometry);
        if let Some(geometry) = geometry.filter(|_| self.config.commands.marks) {
            for (pane, area) in self.placed(&self.mux.layout()) {
                let Some(view) = self.views.get(&pane) else { continue };
                let area = pixels(area);
                self.block_hover = self.block_hover.or_else(|| {
                    view.blocks_in_rows().find_map(|(row, block)| {
                        let place = Place::new(view, row, area, &geometry);
                        let known = before == Some((pane, block.id));
                        let over = contains(place.edge(&geometry), x, y)
                            || known && (contains(place.row, x, y) || contains(place.bar, x, y));
                        over.then_some((pane, block.id))
                    })
                });
            }
        }
        if before.is_some() || self.block_hover.is_some() {
            self.pacing.ask();
        }
    }

    /// A press of the left button at a point of the window; true where it hit a command's buttons or header.
    pub(super) fn press_block(&mut self, x: f64, y: f64) -> bool {
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else {
            return false;
        };
        let (searched, matches) = self.highlights();
        for (id, area) in self.placed(&self.mux.layout()) {
            let area = pixels(area);
            let Some(view) = self.views.get_mut(&id) else { continue };
            let matches = if searched == Some(id) { &matches[..] } else { &[] };
            if self.config.commands.sticky_header
                && let Some((header, rect)) = view.kept_header(area, &geometry, matches)
                && contains(rect, x, y)
            {
                let line = header.line;
                view.show_at_top(line);
                self.pacing.ask();
                return true;
            }
            let marks = view.folded_marks(area, &geometry);
            if let Some(at) = marks.iter().position(|(rect, _)| contains(*rect, x, y)) {
                let (rect, _) = marks[at];
                let row = (rect.y - geometry.inside(area).1 + view.shift as i32)
                    / geometry.cell.height.max(1) as i32;
                let above = view.snapshot.rows.get(row as usize).map(|row| row.line.0);
                let line = LineId(above.unwrap_or_default() + 1);
                view.change_folds(|folds| folds.reveal(line));
                self.pacing.ask();
                return true;
            }
            let Some((pane, block)) = self.block_hover.filter(|(pane, _)| *pane == id) else {
                continue;
            };
            let row = view.blocks_in_rows().find(|(_, one)| one.id == block).map(|(row, _)| row);
            let Some(place) = row.map(|row| Place::new(view, row, area, &geometry)) else {
                continue;
            };
            if let Some((part, _)) = place.parts.iter().find(|(_, rect)| contains(*rect, x, y)) {
                if let Some(pane) = self.mux.pane(pane) {
                    self.do_with(&pane, block, *part);
                }
                return true;
            }
            if contains(place.edge(&geometry), x, y) {
                view.blocks.current = Some(block);
                self.select_output_of(id, block);
                return true;
            }
        }
        false
    }

    fn select_output_of(&mut self, pane: PaneId, block: u64) {
        let Some(own) = self.mux.pane(pane) else { return };
        let (range, seq) = {
            let term = own.term();
            (term.output_range(block), term.seq())
        };
        if let (Some(range), Some(view)) = (range, self.views.get_mut(&pane)) {
            view.selection = Some(Selection::of(range, seq));
        }
        self.pacing.ask();
    }

    /// A click that selected nothing: at a prompt it moves the shell's cursor.
    pub(super) fn click_at_prompt(&mut self, pane: &Pane, x: f64, y: f64) {
        let cell = self.cell();
        if !self.config.commands.click_to_move || !self.modifiers.is_empty() {
            return;
        }
        let Some(view) = self.views.get(&pane.id()) else { return };
        if x < 0.0 || y < 0.0 || view.is_scrolled() {
            return;
        }
        let Some(spot) = view.spot(x, y, cell) else { return };
        let bytes = pane.term().prompt_click(spot.cell);
        if let Some(bytes) = bytes {
            self.type_bytes(pane, &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{Options, Parser, Size};

    #[test]
    fn what_a_command_shows_stays_in_its_pane() {
        let geometry = Geometry::TEST;
        let mut view = View::default();
        for width in (0..500).chain([2000]) {
            let area = PixelRect { x: 300, y: 50, width, height: 8 + 3 * 19 };
            for shift in 0..19 {
                view.shift = shift;
                for row in 0..4 {
                    let place = Place::new(&view, row, area, &geometry);
                    let shown = [place.mark, place.row, place.bar];
                    let parts = place.parts.iter().map(|(_, rect)| *rect);
                    for rect in shown.into_iter().chain(parts).filter(|rect| !rect.is_empty()) {
                        assert!(area.contains(&rect), "{rect:?} in {area:?}");
                    }
                }
            }
        }
        let shown = |width, height| {
            let area = PixelRect { x: 0, y: 0, width, height };
            Place::new(&View::default(), 0, area, &geometry).parts.len()
        };
        assert_eq!(shown(800, 400), PARTS.len());
        assert_eq!(shown(200, 400), 1, "the first, where there is room for no more");
        assert_eq!(shown(60, 400), 0);
        assert_eq!(shown(800, 10), 0);
    }

    #[test]
    fn blocks_are_the_prompts_in_sight_and_the_header_the_command_above() {
        let mut term = Term::new(Size::cells(20, 4), Options::default());
        let run = |line: &str, output: &str, code: u8| {
            format!(
                "\x1b]133;A\x07$ \x1b]133;B\x07{line}\r\n\x1b]133;C\x07{output}\x1b]133;D;{code}\x07"
            )
        };
        let bytes = run("one", "1\r\n2\r\n3\r\n4\r\n5\r\n", 0)
            + &run("two", "x\r\n", 1)
            + "\x1b]133;A\x07$ ";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut snapshot = Snapshot::default();
        let mut blocks = Blocks::default();
        let mut at = |top: Option<u64>| {
            term.snapshot(&mut snapshot, top.map(LineId));
            blocks.read(&term, &snapshot, top.is_some());
            let lines: Vec<_> =
                blocks.list.iter().map(|block| (block.line.0, block.fare)).collect();
            (lines, blocks.header.clone().map(|header| header.text))
        };
        let (two, last) = ((6, Fare::Bad), (8, Fare::Plain));
        assert_eq!(at(None), (vec![two, last], None));
        assert_eq!(at(Some(3)), (vec![two], Some("one".to_owned())));
        assert_eq!(at(Some(0)), (vec![(0, Fare::Good)], None));
        assert_eq!(at(Some(1)).1, Some("one".to_owned()));
    }
}
