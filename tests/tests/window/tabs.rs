//! Tabs and panes used by hand: drags, clicks and menus in the window, with the results read over the control port.

use anyhow::{Result, ensure};
use serde_json::Value;
use unterm_tests::{Display, Instance, Pane, Start, Window, wait_for, wait_until};

/// Center of the tab bar, which is 28 pixels high and at the top. A tab is 217 pixels wide if there is room.
const BAR: i16 = 13;
/// Padding around a pane's cells.
const PADDING: i16 = 8;

/// Each pane's id and number of columns.
fn columns(unterm: &mut Instance) -> Result<Vec<(u64, i16)>> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let all = unterm.sessions()?;
    Ok(all.iter().map(|one| (number(&one["id"]), number(&one["cols"]) as i16)).collect())
}

/// Waits until `wanted` accepts the panes.
fn wait_for_columns(
    unterm: &mut Instance,
    what: &str,
    wanted: impl Fn(&[(u64, i16)]) -> bool,
) -> Result<Vec<(u64, i16)>> {
    wait_until(what, || columns(unterm), |now| wanted(now))
}

/// A window with `count` tabs, in each of which a program has set the title `tab-N`.
fn with_tabs<'a>(display: &'a Display, count: u64) -> Result<(Instance, Window<'a>)> {
    let mut unterm = Start::windowed(display).now()?;
    let window = display.window_of(&unterm)?;
    for number in 0..count {
        if number > 0 {
            unterm.act(&["new_tab"])?;
        }
        let pane = Pane { id: number };
        pane.wait_for_prompt(&mut unterm)?;
        pane.type_text(&mut unterm, &format!("printf '\\033]2;tab-{number}\\007'\r"))?;
        window.wait_for_title(|title| title.contains(&format!("tab-{number}")))?;
        // The title came after the echo of the line, so this is the next prompt, and the shell is idle.
        pane.wait_for_prompt(&mut unterm)?;
    }
    Ok((unterm, window))
}

/// Waits until the tab at a place, counted from 1, has this title.
fn wait_for_tab(unterm: &Instance, window: &Window<'_>, place: u64, title: &str) -> Result<()> {
    wait_for(
        &format!("{title} at place {place}"),
        || {
            unterm.act(&["activate_tab", &place.to_string()])?;
            Ok(window.title()?.contains(title).then_some(()))
        },
        || window.title().unwrap_or_default(),
    )
}

#[test]
fn a_tab_is_dragged_to_another_place() -> Result<()> {
    let display = Display::start()?;
    let (unterm, window) = with_tabs(&display, 3)?;
    window.drag((60, BAR), (560, BAR))?;
    wait_for_tab(&unterm, &window, 3, "tab-0")?;
    wait_for_tab(&unterm, &window, 1, "tab-1")?;
    // Escape returns the tab to its place.
    window.point(60, BAR)?;
    window.button(1, true)?;
    for x in [80, 200, 400, 560] {
        window.point(x, BAR)?;
    }
    wait_for_tab(&unterm, &window, 3, "tab-1")?;
    display.press(&["Escape"])?;
    window.button(1, false)?;
    wait_for_tab(&unterm, &window, 1, "tab-1")
}

#[test]
fn the_wheel_switches_tabs_and_the_middle_button_closes_one() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window) = with_tabs(&display, 3)?;
    // If a notch of the wheel is sent as a button, winit reports it twice: at the press and at the release.
    window.click(4, (60, BAR))?;
    window.wait_for_title(|title| !title.contains("tab-2"))?;
    window.click(2, (217 + 60, BAR))?;
    wait_for_columns(&mut unterm, "two tabs, without the middle one", |panes| {
        panes.iter().map(|pane| pane.0).eq([0, 2])
    })?;
    Ok(())
}

#[test]
fn a_tabs_menu_is_used_by_keys_and_by_mouse() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window) = with_tabs(&display, 2)?;
    let whole = columns(&mut unterm)?[0].1;
    window.click(3, (60, BAR))?;
    // The third item, after New tab and Duplicate tab, is Split right, which applies to the clicked tab.
    for _ in 0..3 {
        display.press(&["Down"])?;
    }
    display.press(&["Return"])?;
    wait_for_columns(&mut unterm, "the first tab split", |panes| {
        panes.len() == 3 && panes[0].1 <= whole / 2 && panes[1].1 == whole
    })?;
    // Escape closes the menu, and keys go to the program again.
    window.click(3, (60, BAR))?;
    display.press(&["Down"])?;
    display.press(&["Escape"])?;
    display.type_text("echo back\n")?;
    Pane { id: 2 }.wait_for_text(&mut unterm, "back")?;
    // The first row, below the bar.
    window.click(3, (60, BAR))?;
    window.click(1, (100, 28 + 14))?;
    wait_for_columns(&mut unterm, "one more tab", |panes| panes.len() == 4)?;
    Ok(())
}

#[test]
fn the_plus_opens_a_tab_and_its_right_click_lists_shells() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window) = with_tabs(&display, 1)?;
    let plus = (217 + 14, BAR);
    window.click(1, plus)?;
    wait_for_columns(&mut unterm, "a second tab", |panes| panes.len() == 2)?;
    // The list of shells takes the keys.
    window.click(3, (2 * 217 + 14, BAR))?;
    display.type_text("bash")?;
    display.press(&["Return"])?;
    wait_for_columns(&mut unterm, "a third tab", |panes| panes.len() == 3)?;
    Ok(())
}

#[test]
fn a_divider_is_dragged_by_whole_cells_and_escape_puts_it_back() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, _) = Start::windowed(&display).at_prompt()?;
    let whole = columns(&mut unterm)?[0].1;
    let cell = (window.size()?.0 as i16 - 2 * PADDING) / whole;
    unterm.act(&["split_right"])?;
    let before = wait_for_columns(&mut unterm, "two panes", |panes| {
        panes.len() == 2 && panes.iter().all(|pane| pane.1 < whole / 2 + 1)
    })?;
    let divider = |columns: i16| columns * cell + 2 * PADDING;
    let (from, to) = (divider(before[0].1), divider(before[0].1 - 20));
    window.drag((from, 300), (to + 3, 300))?;
    let after = [(before[0].0, before[0].1 - 20), (before[1].0, before[1].1 + 20)];
    wait_for_columns(&mut unterm, "the divider 20 columns further left", |panes| panes == after)?;
    window.point(to, 300)?;
    window.button(1, true)?;
    window.point(to - 20 * cell, 300)?;
    wait_for_columns(&mut unterm, "the divider to follow", |panes| panes[0].1 < after[0].1)?;
    display.press(&["Escape"])?;
    wait_for_columns(&mut unterm, "the divider back", |panes| panes == after)?;
    window.button(1, false)?;
    Ok(())
}

#[test]
fn panes_move_and_are_typed_into_together() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = Start::windowed(&display).now()?;
    display.window_of(&unterm)?;
    let [first, second] = [Pane { id: 0 }, Pane { id: 1 }];
    first.wait_for_prompt(&mut unterm)?;
    let whole = columns(&mut unterm)?[0].1;
    unterm.act(&["split_right"])?;
    second.wait_for_prompt(&mut unterm)?;
    unterm.act(&["broadcast_tab"])?;
    display.type_text("echo $((40 + 2))\n")?;
    first.wait_for_text(&mut unterm, "42")?;
    second.wait_for_text(&mut unterm, "42")?;
    unterm.act(&["broadcast_tab"])?;
    // The second pane keeps the keyboard focus, even when it is swapped or moved to its own tab.
    unterm.act(&["swap_pane_left"])?;
    display.type_text("echo $((50 + 1))\n")?;
    second.wait_for_text(&mut unterm, "51")?;
    ensure!(!first.lines(&mut unterm)?.iter().any(|line| line == "51"), "it is typed into one");
    // Wrap around at the end, and go back.
    for (action, word, pane) in [("next_pane", "61", first), ("previous_pane", "71", second)] {
        unterm.act(&[action])?;
        display.type_text(&format!("echo $(({word} + 0))\n"))?;
        pane.wait(&mut unterm, word, |lines| lines.iter().any(|line| line == word))?;
    }
    unterm.act(&["pane_to_new_tab"])?;
    wait_for_columns(&mut unterm, "both of the window's width", |panes| {
        panes.len() == 2 && panes.iter().all(|pane| pane.1 == whole)
    })?;
    unterm.act(&["pane_to_tab", "1"])?;
    wait_for_columns(&mut unterm, "side by side again", |panes| {
        panes.iter().all(|pane| pane.1 < whole)
    })?;
    Ok(())
}

#[test]
fn closing_asks_only_where_a_program_runs() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _) = with_tabs(&display, 2)?;
    // An idle shell closes at once.
    display.press(&["Control_L", "Shift_L", "w"])?;
    wait_for_columns(&mut unterm, "one tab", |panes| panes.len() == 1)?;
    display.type_text("cat\n")?;
    wait_for(
        "cat to run",
        || {
            let first = &unterm.sessions()?[0]["shell"]["process_name"];
            Ok(first.as_str().is_some_and(|path| path.ends_with("/cat")).then_some(()))
        },
        String::new,
    )?;
    display.press(&["Control_L", "Shift_L", "w"])?;
    // The question takes the keys. This key is not an answer, and `cat` does not receive it.
    display.press(&["z"])?;
    display.press(&["Escape"])?;
    display.type_text("still here\n")?;
    let pane = Pane { id: 0 };
    let lines = pane.wait(&mut unterm, "what cat says", |lines| {
        lines.iter().filter(|line| line.contains("still here")).count() == 2
    })?;
    ensure!(!lines.iter().any(|line| line.contains('z')), "{lines:?}");
    display.press(&["Control_L", "Shift_L", "w"])?;
    display.press(&["c"])?;
    let status = unterm.wait_for_exit()?;
    assert_eq!(status.code(), Some(0), "{}", unterm.log());
    Ok(())
}

#[test]
fn the_scrollbar_is_dragged_through_the_history() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    pane.type_text(&mut unterm, "seq 1000\r")?;
    pane.wait(&mut unterm, "the last number", |lines| lines.iter().any(|line| line == "1000"))?;
    let (width, height) = window.size()?;
    let x = width as i16 - 5;
    // The scrollbar's thumb is at the bottom, above the status bar.
    let foot = height as i16 - 28 - 12;
    wait_for(
        "the first line in sight",
        || {
            window.drag((x, foot), (x, 30))?;
            for _ in 0..2 {
                window.click(1, (PADDING + 12, 28 + PADDING + 8))?;
            }
            Ok(display.selection("primary")?.contains("ready").then_some(()))
        },
        || display.selection("primary").unwrap_or_default(),
    )
}

#[test]
fn a_shell_at_its_prompt_is_called_by_its_place_and_a_program_by_its_name() -> Result<()> {
    let display = Display::start()?;
    let (_unterm, window, _) = Start::windowed(&display).at_prompt()?;
    window.wait_until_called("~")?;
    display.type_text("cd /usr\n")?;
    window.wait_until_called("usr")?;
    display.type_text("cat\n")?;
    window.wait_until_called("cat")?;
    display.press(&["Control_L", "d"])?;
    window.wait_until_called("usr")
}
