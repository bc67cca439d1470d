//! The first program starts with the size of the window, wherever the window opens.

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Compositor, Display, Instance, Pane, Start, WindowManager, wait_until};

/// The size of the grid that the first program reads directly after its start, and the first size for which `is_final`
/// is true. Both as rows and columns.
fn grids(
    start: Start<'_>,
    config: &str,
    is_final: impl Fn((u64, u64)) -> bool,
) -> Result<((u64, u64), (u64, u64))> {
    let home = tempfile::tempdir()?;
    std::fs::write(home.path().join("config.toml"), config)?;
    let start = start.registry(home.path());
    let mut unterm = start.arg("-e").arg("sh").arg("-c").arg("stty size; exec cat").now()?;
    let pane = unterm.first_pane()?;
    let lines = pane.wait(&mut unterm, "a size", |lines| lines[0].split(' ').count() == 2)?;
    let first: Vec<u64> = lines[0].split(' ').filter_map(|part| part.parse().ok()).collect();
    let last = wait_until("the final size", || grid(&mut unterm), |grid| is_final(*grid))?;
    Ok(((first[0], first[1]), last))
}

/// The number of rows and columns of the first pane.
fn grid(unterm: &mut Instance) -> Result<(u64, u64)> {
    let list = unterm.call("session.list", json!({}))?;
    let one = &list["sessions"][0];
    Ok((one["rows"].as_u64().unwrap_or_default(), one["cols"].as_u64().unwrap_or_default()))
}

#[test]
fn a_program_reads_the_configured_size_at_once() -> Result<()> {
    let display = Display::sized(1600, 1000)?;
    for (columns, rows) in [(120, 40), (100, 40), (137, 11), (10, 3)] {
        let config = format!("[window]\ncolumns = {columns}\nrows = {rows}\n");
        let (first, last) =
            grids(Start::windowed(&display), &config, |grid| grid == (rows, columns))?;
        assert_eq!(first, last, "{config}");
    }
    Ok(())
}

#[test]
fn server_health_reports_the_configured_size() -> Result<()> {
    let display = Display::start()?;
    let home = tempfile::tempdir()?;
    std::fs::write(home.path().join("config.toml"), "[window]\ncolumns = 61\nrows = 17\n")?;
    let mut unterm = Start::windowed(&display).registry(home.path()).now()?;
    let health = unterm.call("server.health", json!({}))?;
    let terminal = &health["terminal"];
    assert_eq!((&terminal["initial_cols"], &terminal["initial_rows"]), (&json!(61), &json!(17)));
    Ok(())
}

#[test]
fn the_programs_of_a_layout_read_their_sizes_at_once() -> Result<()> {
    const PANE: &str = "{ program = 'sh', args = ['-c', 'stty size; exec cat'] }";
    let display = Display::sized(1600, 1000)?;
    let split = format!(
        "{{ split = 'right', share = 0.3, first = {PANE}, second = {{ split = 'down', first = {PANE}, second = {PANE} }} }}"
    );
    // Two tabs need a tab bar, so that every pane is smaller than in a window with one tab.
    let split = split.as_str();
    for tabs in [vec![split], vec![split, PANE], vec![PANE, split]] {
        let home = tempfile::tempdir()?;
        std::fs::create_dir(home.path().join("layouts"))?;
        let tabs: String = tabs.iter().map(|tab| format!("[[tabs]]\npanes = {tab}\n")).collect();
        std::fs::write(home.path().join("layouts/work.toml"), &tabs)?;
        std::fs::write(home.path().join("config.toml"), "[tab_bar]\nshow = \"several\"\n")?;
        let start = Start::windowed(&display).registry(home.path());
        let mut unterm = start.arg("--layout").arg("work").now()?;
        let panes = unterm.sessions()?;
        assert_eq!(panes.len(), tabs.matches("stty").count());
        for pane in panes {
            let id = pane["id"].as_u64().unwrap_or_default();
            let read = Pane { id }
                .wait(&mut unterm, "a size", |lines| lines[0].split(' ').count() == 2)?;
            let size = format!("{} {}", pane["rows"], pane["cols"]);
            assert_eq!(read[0], size, "pane {id} of {tabs}");
        }
    }
    Ok(())
}

#[test]
fn a_program_reads_a_maximized_or_full_screen_size_at_once() -> Result<()> {
    let display = Display::start()?;
    let _manager = WindowManager::start(&display)?;
    for start in ["normal", "maximized", "fullscreen"] {
        let config = format!("[window]\nstart = \"{start}\"\ncolumns = 40\nrows = 10\n");
        let (first, last) = grids(Start::windowed(&display), &config, |(_, columns)| {
            (start == "normal") == (columns == 40)
        })?;
        assert_eq!(first, last, "{config}");
    }
    Ok(())
}

#[test]
fn on_wayland_a_program_reads_its_size_at_once_at_every_scale() -> Result<()> {
    for scale in [1.0, 1.5, 2.0] {
        let compositor = Compositor::start(scale)?;
        for start in ["normal", "fullscreen"] {
            let config = format!("[window]\nstart = \"{start}\"\ncolumns = 40\nrows = 10\n");
            let (first, last) = grids(Start::on_wayland(&compositor), &config, |(_, columns)| {
                (start == "normal") == (columns == 40)
            })?;
            assert_eq!(first, last, "{config} at scale {scale}");
        }
    }
    Ok(())
}
