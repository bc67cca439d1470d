//! Changes to the configuration file while the program runs, with and without a window.

use std::{fs, os::unix::fs::PermissionsExt as _};

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{Bus, Display, Instance, Pane, Portal, Start, wait_for};

const NORD: [u8; 3] = [0x2e, 0x34, 0x40];
const DRACULA: [u8; 3] = [0x28, 0x2a, 0x36];
const DAYLIGHT: [u8; 3] = [0xfd, 0xf6, 0xe3];
/// The theme's red, which marks an error.
const DRACULA_RED: [u8; 3] = [0xff, 0x55, 0x55];

#[test]
fn valid_changes_apply_and_errors_are_only_shown() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    let columns =
        |unterm: &mut Instance| Ok::<_, anyhow::Error>(unterm.sessions()?[0]["cols"].clone());
    let before = columns(&mut unterm)?.as_u64().unwrap_or_default();

    unterm.write_config(
        "theme = 'nord'\n[font]\nsize = 24\n[keys]\n'ctrl+shift+y' = 'send_text:echo b\\x6fund\\r'\n",
    )?;
    window.wait_for_background(NORD)?;
    let after = columns(&mut unterm)?.as_u64().unwrap_or_default();
    ensure!(after * 3 < before * 2, "{before} columns became {after}");
    display.press(&["Control_L", "Shift_L", "y"])?;
    pane.wait_for_text(&mut unterm, "bound")?;

    unterm.write_config("theme = 'dracula'\n[font]\nsize = 12\n")?;
    window.wait_for_background(DRACULA)?;
    ensure!(columns(&mut unterm)? == before);

    let calm = window.picture()?.count(DRACULA_RED);
    unterm.write_config("theme = 'nord'\n[font]\nsise = 12\n")?;
    wait_for(
        "a message with the mark of an error",
        || Ok((window.picture()?.count(DRACULA_RED) > calm).then_some(())),
        || unterm.log(),
    )?;
    let log = unterm.log();
    ensure!(
        log.contains("config.toml:3:1: unknown key \"sise\" in [font]; did you mean \"size\"?"),
        "{log}"
    );
    window.wait_for_background(DRACULA)?;

    unterm.write_config("theme = 'dracula'\n")?;
    wait_for(
        "the message to go",
        || Ok((window.picture()?.count(DRACULA_RED) <= calm).then_some(())),
        || unterm.log(),
    )?;
    Ok(())
}

#[test]
fn a_start_uses_valid_settings_and_reports_errors() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let text = "theme = 'dracula'\n[font]\nsise = 12\n";
    fs::write(registry.path().join("config.toml"), text)?;
    let unterm = Start::windowed(&display).registry(registry.path()).now()?;
    let window = display.window_of(&unterm)?;
    window.wait_for_background(DRACULA)?;
    let mark = || Ok(window.picture()?.area_of(DRACULA_RED));
    wait_for("a message with the mark of an error", mark, || unterm.log())?;
    let log = unterm.log();
    ensure!(log.contains("config.toml:3:1: unknown key \"sise\""), "{log}");
    Ok(())
}

#[test]
fn the_command_line_checks_the_file_and_sets_the_theme() -> Result<()> {
    let display = Display::start()?;
    let (unterm, window, _) = Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    unterm.write_config("# mine\ntheme = 'nord'\n")?;
    window.wait_for_background(NORD)?;
    unterm.prints(&["theme", "set", "dracula"])?;
    window.wait_for_background(DRACULA)?;
    let text = fs::read_to_string(unterm.registry().join("config.toml"))?;
    ensure!(text == "# mine\ntheme = \"dracula\"\n", "{text}");
    unterm.prints(&["config", "check"])?;
    let said = unterm.complains(&["theme", "set", "nort"])?;
    ensure!(said.contains("did you mean \"nord\"?"), "{said}");
    Ok(())
}

#[test]
fn a_pair_of_themes_follows_the_desktop() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let config =
        "theme = { light = 'daylight', dark = 'dracula' }\n[window]\nreduced_motion = false\n";
    fs::write(registry.path().join("config.toml"), config)?;
    for (scheme, background) in [(1, DRACULA), (2, DAYLIGHT), (0, DRACULA)] {
        let bus = Bus::start()?;
        let portal = Portal::start(&bus, scheme)?;
        let start = Start::windowed(&display).registry(registry.path());
        let mut unterm = start.env("DBUS_SESSION_BUS_ADDRESS", bus.address()).now()?;
        let window = display.window_of(&unterm)?;
        window.wait_for_background(background)?;
        // The desktop's color scheme changes back and forth, and the window follows it.
        for (scheme, background, theme) in [(2, DAYLIGHT, "daylight"), (1, DRACULA, "dracula")] {
            portal.set("color-scheme", scheme)?;
            window.wait_for_background(background)?;
            let health = unterm.call("server.health", json!({}))?;
            assert_eq!(health["terminal"]["color_scheme"], theme);
        }
    }
    Ok(())
}

#[test]
fn the_last_color_scheme_stays_when_the_bus_ends() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let config = "theme = { light = 'daylight', dark = 'dracula' }\n";
    fs::write(registry.path().join("config.toml"), config)?;
    let bus = Bus::start()?;
    let portal = Portal::start(&bus, 2)?;
    let start = Start::windowed(&display).registry(registry.path());
    let start = start.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let unterm = start.now()?;
    let window = display.window_of(&unterm)?;
    window.wait_for_background(DAYLIGHT)?;
    let hears = |hears: bool| {
        let tasks = format!("/proc/{}/task", unterm.pid());
        let names = fs::read_dir(tasks)?.flatten().map(|task| task.path().join("comm"));
        // A thread that ends meanwhile has no name.
        let mut names = names.flat_map(fs::read_to_string);
        anyhow::Ok((names.any(|name| name == "portal\n") == hears).then_some(()))
    };
    wait_for("what hears the portal", || hears(true), || unterm.log())?;
    drop((portal, bus));
    wait_for("its end", || hears(false), || unterm.log())?;
    window.wait_for_background(DAYLIGHT)?;
    let log = unterm.log();
    ensure!(!log.contains("match rule"), "{log}");
    Ok(())
}

#[test]
fn an_invalid_file_is_opened_at_its_error() -> Result<()> {
    let display = Display::start()?;
    let bin = tempfile::tempdir()?;
    let editor = bin.path().join("vim");
    fs::write(&editor, "#!/bin/sh\necho \"opened <$1> $2\"\nexec cat\n")?;
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755))?;
    let editor = editor.display().to_string();
    let (mut unterm, ..) = Start::windowed(&display).env("EDITOR", &editor).at_prompt()?;
    unterm.write_config("[font]\nsize = 12\nsise = 12\n")?;
    unterm.act(&["open_config"])?;
    Pane { id: 1 }.wait_for_text(&mut unterm, "opened <+3> /")?;
    Ok(())
}

#[test]
fn the_configuration_is_opened_in_the_editor_that_it_names() -> Result<()> {
    let display = Display::start()?;
    let (bin, registry) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let editor = bin.path().join("my editor");
    fs::write(&editor, "#!/bin/sh\necho \"opened <$1> <$2>\"\nexec cat\n")?;
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755))?;
    let text = format!("[hints]\neditor = \"'{}' --wait\"\n", editor.display());
    fs::write(registry.path().join("config.toml"), text)?;
    let start = Start::windowed(&display).registry(registry.path()).env("EDITOR", "false");
    let (mut unterm, ..) = start.at_prompt()?;
    unterm.act(&["open_config"])?;
    Pane { id: 1 }.wait_for_text(&mut unterm, "opened <--wait> </")?;
    Ok(())
}

#[test]
fn concurrent_changes_are_all_kept() -> Result<()> {
    let unterm = Start::headless().now()?;
    for theme in ["nord", "dracula", "zenburn", "monokai", "ayu"] {
        unterm.write_config("")?;
        let set = [["theme", "set", theme], ["lang", "set", "de-DE"]];
        std::thread::scope(|scope| -> Result<()> {
            let set = set.map(|words| {
                let unterm = &unterm;
                scope.spawn(move || unterm.prints(&words))
            });
            for done in set {
                done.join().expect("it does not panic")?;
            }
            Ok(())
        })?;
        let text = fs::read_to_string(unterm.registry().join("config.toml"))?;
        ensure!(text.contains(theme) && text.contains("de-DE"), "{text}");
    }
    Ok(())
}

#[test]
fn a_headless_start_uses_the_configuration_file() -> Result<()> {
    let home = tempfile::tempdir()?;
    fs::write(
        home.path().join("config.toml"),
        "[shell]\nprogram = 'sh'\nargs = ['-c', 'seq 1 500; echo $GREETING; read x']\n[env]\nGREETING = 'from the file'\n\
         [scrollback]\nlines = 100\n",
    )?;
    let mut unterm = Start::headless().registry(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_text(&mut unterm, "from the file")?;
    let history = unterm.call("session.history", json!({"id": 0, "limit": 10_000}))?;
    let text = history.to_string();
    ensure!(text.contains("460") && !text.contains("\"300"), "{text}");
    Ok(())
}

#[test]
fn a_missing_shell_or_font_is_reported_in_the_window() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let text = "theme = 'dracula'\n[shell]\nprogram = '/nonexistent/shell'\n[font]\nfamily = ['No Such Font']\n";
    fs::write(registry.path().join("config.toml"), text)?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).registry(registry.path()).at_prompt()?;
    pane.type_text(&mut unterm, "echo in${IFS}stead\r")?;
    pane.wait_for_text(&mut unterm, "in stead")?;
    // Each message contains an error mark. An area of this height contains several messages.
    let probe = || {
        let area = window.picture()?.area_of(DRACULA_RED);
        Ok(area.filter(|area| area.bottom - area.top > 70).map(drop))
    };
    wait_for("messages one above the other", probe, || unterm.log())?;
    // In every new tab, the login shell replaces the missing shell.
    unterm.act(&["new_tab"])
}

#[test]
fn a_translucent_window_requests_and_withdraws_blur() -> Result<()> {
    const BLUR: &str = "_KDE_NET_WM_BLUR_BEHIND_REGION";
    let display = Display::start()?;
    display.claim_compositor()?;
    let registry = tempfile::tempdir()?;
    let write = |blur: bool| {
        let text = format!("[window]\nopacity = 0.8\nblur = {blur}\n");
        let new = registry.path().join("config.new");
        fs::write(&new, text)?;
        fs::rename(new, registry.path().join("config.toml"))
    };
    write(true)?;
    let unterm = Start::windowed(&display).registry(registry.path()).now()?;
    let window = display.window_of(&unterm)?;
    let becomes = |wanted: bool| {
        let probe = || Ok((window.has_property(BLUR)? == wanted).then_some(()));
        wait_for("the change of the blur", probe, || unterm.log())
    };
    becomes(true)?;
    write(false)?;
    becomes(false)
}
