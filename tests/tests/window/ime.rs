//! Text composed with an input method (XIM). It is visible at its destination before it is committed.

use anyhow::{Result, ensure};
use unterm_tests::{Area, Display, InputMethod, Picture, Start, Window, wait_for};

/// The theme's red and blue. Red is the background of a cell here, blue the caret of text typed into the window's own
/// fields.
const RED: [u8; 3] = [0xf3, 0x8b, 0xa8];
const BLUE: [u8; 3] = [0x89, 0xb4, 0xfa];

fn at(picture: &Picture, x: usize, y: usize) -> [u8; 3] {
    picture.pixels[y * picture.width + x]
}

/// Whether anything is drawn in the area.
fn is_drawn(picture: &Picture, area: Area) -> bool {
    let (left, top) = (area.left as usize, area.top as usize);
    let (right, bottom) = (area.right as usize, area.bottom as usize);
    let ground = at(picture, left, top);
    (top..bottom).any(|y| (left..right).any(|x| at(picture, x, y) != ground))
}

/// Waits for two red cells in the window, and returns the area of the two cells after them.
fn wait_for_place(window: &Window<'_>) -> Result<Area> {
    let red = wait_for_picture(window, "the red cells", |picture| {
        picture.area_of(RED).filter(|red| red.right - red.left >= 8)
    })?;
    let (width, height) = (red.right - red.left, red.bottom - red.top);
    ensure!(height >= 8 && width <= 2 * height, "two cells in one row: {red:?}");
    Ok(Area { left: red.right, right: red.right + width, ..red })
}

/// The caret of a text field of the window: a bar in the accent color, as high as a line and very narrow.
fn caret(picture: &Picture) -> Option<Area> {
    let height = picture.pixels.len() / picture.width;
    (0..picture.width).find_map(|x| {
        let rows: Vec<_> = (0..height).filter(|y| at(picture, x, *y) == BLUE).collect();
        let (top, bottom) = (*rows.first()? as i16, *rows.last()? as i16 + 1);
        let left = x as i16;
        // A letter of the hint may cover part of the caret. The bar of a list's selected row has the same color but is
        // wider.
        let is_blue = |x: usize| rows.iter().any(|y| at(picture, x, *y) == BLUE);
        let is_narrow = (x == 0 || !is_blue(x - 1)) && x + 2 < picture.width && !is_blue(x + 2);
        let is_bar = rows.len() >= 10 && bottom - top < 30 && is_narrow;
        is_bar.then_some(Area { left, top, right: left + 1, bottom })
    })
}

/// Whether the text between two positions of the caret is underlined: one row of pixels is filled from end to end.
fn is_underlined(picture: &Picture, from: Area, to: Area) -> bool {
    let columns = from.left as usize..to.left as usize;
    (to.top as usize..to.bottom as usize).any(|y| {
        let first = at(picture, columns.start, y);
        first != at(picture, to.left as usize + 6, y)
            && columns.clone().all(|x| at(picture, x, y) == first)
    })
}

/// Waits for a picture, or for input to the program, while the mouse moves a little. An input method may return several
/// keys at once, and some can stay in the X client's queue until the next event. The moving mouse causes such events,
/// like a user who continues to type.
fn wait_moving<T>(
    window: &Window<'_>,
    what: &str,
    probe: impl Fn() -> Result<Option<T>>,
) -> Result<T> {
    let (width, height) = window.size()?;
    let (x, y) = (width as i16 / 2, height as i16 - 60);
    let mut step = 0;
    wait_for(
        what,
        || {
            step = 1 - step;
            window.point(x + step, y)?;
            probe()
        },
        String::new,
    )
}

fn wait_for_picture<T>(
    window: &Window<'_>,
    what: &str,
    found: impl Fn(&Picture) -> Option<T>,
) -> Result<T> {
    wait_moving(window, what, || Ok(found(&window.picture()?)))
}

#[test]
fn composed_text_is_shown_and_committed_text_is_typed() -> Result<()> {
    let display = Display::start()?;
    let _method = InputMethod::start(&display)?;
    let (name, value) = InputMethod::ENV;
    let (mut unterm, window, pane) = Start::windowed(&display).env(name, value).at_prompt()?;
    // Print two red cells, and then hide the cursor. Anything drawn after the cells is composed text.
    let ask = "printf '\\033[?25l\\033[41m  \\033[m'; read -r word; echo \"got <$word>\"";
    pane.type_text(&mut unterm, &format!("{ask}; printf '\\033[?25h'\r"))?;
    let behind = wait_for_place(&window)?;
    ensure!(
        !is_drawn(&window.picture()?, behind),
        "something is there before anything is composed"
    );

    display.press(&["Shift_L", " "])?;
    display.type_text("gks")?;
    wait_for_picture(&window, "what is composed", |picture| {
        is_drawn(picture, behind).then_some(())
    })?;
    let lines = pane.lines(&mut unterm)?;
    ensure!(
        !lines.iter().any(|line| line.contains('한')),
        "it is not the program's yet: {lines:?}"
    );
    // Switch back to Latin letters, which commits the text.
    display.press(&["Shift_L", " "])?;
    let unterm = std::cell::RefCell::new(unterm);
    let shows = |text: &str| {
        let lines = pane.lines(&mut unterm.borrow_mut())?;
        Ok(lines.iter().any(|line| line.contains(text)).then_some(()))
    };
    wait_moving(&window, "what is committed", || shows("한"))?;
    display.press(&["Return"])?;
    wait_moving(&window, "the shell's answer", || shows("got <한>"))
}

#[test]
fn composed_text_is_shown_in_the_panel_and_the_search() -> Result<()> {
    let display = Display::start()?;
    let _method = InputMethod::start(&display)?;
    let (name, value) = InputMethod::ENV;
    let (mut unterm, window, pane) = Start::windowed(&display).env(name, value).at_prompt()?;
    let ask = "printf '\\033[?25l\\033[41m  \\033[m'; read -r word; echo \"got <$word>\"";
    // Type the command like a user: if a caller typed it, the mark of the active caller would have the caret's color.
    std::fs::write(unterm.home().join("ask"), ask)?;
    display.type_text("sh ask\n")?;
    let behind = wait_for_place(&window)?;

    for open in ["p", "f"] {
        display.press(&["Control_L", "Shift_L", open])?;
        let empty = wait_for_picture(&window, "the caret of what is typed", caret)?;
        // The area between the caret's first and current position, and whether the text in it is only composed.
        let typed = |picture: &Picture| {
            let now = caret(picture).filter(|now| now.left > empty.left + 4)?;
            Some(is_underlined(picture, empty, now))
        };
        display.press(&["Shift_L", " "])?;
        display.type_text("gks")?;
        let composed = wait_for_picture(&window, "what is composed, underlined", |picture| {
            typed(picture).filter(|composed| *composed).map(|_| picture.clone())
        })?;
        ensure!(!is_drawn(&composed, behind), "it is not seen in the pane");
        // Switch back to Latin letters, which commits the text.
        display.press(&["Shift_L", " "])?;
        wait_for_picture(&window, "what is committed, not underlined", |picture| {
            typed(picture).filter(|composed| !composed)
        })?;
        display.press(&["Escape"])?;
        wait_for_picture(&window, "its end", |picture| caret(picture).is_none().then_some(()))?;
    }
    display.type_text("plain\n")?;
    let lines = pane.wait_for_text(&mut unterm, "got <plain>")?;
    ensure!(!lines.iter().any(|line| line.contains('한')), "{lines:?}");
    Ok(())
}
