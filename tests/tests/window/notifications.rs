//! Desktop notifications from programs and long commands, the effects of a user's click, and the bell.

use std::{fs::File, io::Write as _};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::{
    Bus, Display, Instance, Notice, NotificationRequest, Notifier, Pane, Start, Window, describe,
    wait_for,
};

/// A window at its shell's prompt, on a desktop with a notification service.
fn with_service<'a>(display: &'a Display, bus: &Bus) -> Result<(Instance, Window<'a>, Pane)> {
    Start::windowed(display).env("DBUS_SESSION_BUS_ADDRESS", bus.address()).at_prompt()
}

/// A program in its own tab. It prints text that the test sends, and shows the terminal's replies as readable text.
struct Program {
    pane: Pane,
    orders: File,
}

impl Program {
    fn start(unterm: &mut Instance, name: &str) -> Result<Self> {
        let fifo = unterm.home().join(name);
        let made = std::process::Command::new("mkfifo").arg(&fifo).status()?;
        ensure!(made.success(), "mkfifo: {}", describe(made));
        // Open both ends of the pipe, so that neither side waits for the other.
        let orders = File::options().read(true).write(true).open(&fifo)?;
        let script = format!(
            "stty raw -echo; while IFS= read -r line; do printf \"$line\"; done < {} & exec cat -v",
            fifo.display()
        );
        let pane = unterm.open(json!({"program": "sh", "args": ["-c", script]}))?;
        let mut program = Self { pane, orders };
        // When the terminal's reply to a query is visible, everything that the terminal sends later is visible too.
        program.say("\\033[5n")?;
        program.is_sent(unterm, "^[[0n")?;
        Ok(program)
    }

    /// Starts a program in the focused pane of the tab with this number. The terminal reports focus changes to it (mode
    /// 1004).
    fn in_front(unterm: &mut Instance, name: &str, tab: &str) -> Result<Self> {
        let mut program = Self::start(unterm, name)?;
        program.say("\\033[?1004h\\033[6n")?;
        program.is_sent(unterm, "R")?;
        unterm.act(&["activate_tab", tab])?;
        program.is_sent(unterm, "^[[I")?;
        Ok(program)
    }

    /// Removes the keyboard focus from the program's window, and waits until the program has received the report.
    fn loses_keyboard(&self, unterm: &mut Instance, display: &Display) -> Result<()> {
        let losses = |lines: &[String]| lines.concat().matches("^[[O").count();
        let before = losses(&self.pane.lines(unterm)?);
        display.take_keyboard()?;
        self.pane.wait(unterm, "the loss of the keyboard", |l| losses(l) > before)?;
        Ok(())
    }

    /// Makes the program print something, in the syntax of printf(1).
    fn say(&mut self, what: &str) -> Result<()> {
        writeln!(self.orders, "{what}").context("the program's orders")
    }

    /// Waits until the program has received a text, in the form in which `cat -v` prints it.
    fn is_sent(&self, unterm: &mut Instance, what: &str) -> Result<Vec<String>> {
        self.pane.wait(unterm, what, |lines| lines.concat().contains(what))
    }
}

#[test]
fn the_desktop_shows_programs_notifications() -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body", "body-markup"])?;
    let (mut unterm, ..) = with_service(&display, &bus)?;
    let mut program = Program::start(&mut unterm, "orders")?;

    program.say("\\033]9;Built <it>\\007")?;
    let notice = service.shown()?;
    let expected = Notice {
        id: notice.id,
        app: "Unterm".into(),
        icon: "utilities-terminal".into(),
        title: "Built <it>".into(),
        // The body contains only the tab, whose name is the program's name.
        body: notice.body.clone(),
        actions: vec![("default".into(), "Open".into())],
        urgency: Some(1),
        expires: -1,
        ..Notice::default()
    };
    assert_eq!(notice, expected);
    ensure!(notice.body.starts_with("Tab 2: "), "{notice:?}");

    program.say("\\033]777;notify;Tests;3 < 4 & <b>all</b>\\033\\\\")?;
    let notice = service.shown()?;
    assert_eq!((notice.title.as_str(), notice.replaces), ("Tests", 0));
    // The service interprets markup, so a program's text must be escaped.
    let (body, tab) = notice.body.split_once('\n').unwrap_or_default();
    assert_eq!(body, "3 &lt; 4 &amp; &lt;b&gt;all&lt;/b&gt;");
    ensure!(tab.starts_with("Tab 2: "), "{notice:?}");

    // A notification in several parts, with every option: `bWFr` is "mak" in base64, `c2lsZW50` is "silent",
    // `ZGlhbG9nLWVycm9y` is "dialog-error".
    program
        .say("\\033]99;i=all:d=0:u=2:w=1500:f=bWFr:s=c2lsZW50:n=ZGlhbG9nLWVycm9y;Two \\033\\\\")?;
    program.say("\\033]99;i=all:d=0;words\\033\\\\\\033]99;i=all:d=0:p=body;The rest.\\033\\\\")?;
    program.say("\\033]99;i=all:p=buttons;Yes\\342\\200\\250No\\033\\\\")?;
    let notice = service.shown()?;
    let pair = |name: &str, label: &str| (name.to_owned(), label.to_owned());
    let expected = Notice {
        id: notice.id,
        app: "mak".into(),
        icon: "dialog-error".into(),
        title: "Two words".into(),
        body: notice.body.clone(),
        actions: vec![pair("default", "Open"), pair("1", "Yes"), pair("2", "No")],
        urgency: Some(2),
        is_silent: true,
        expires: 1500,
        ..Notice::default()
    };
    assert_eq!(notice, expected);
    ensure!(notice.body.starts_with("The rest.\nTab 2: "), "{notice:?}");
    Ok(())
}

#[test]
fn clicks_updates_and_closes_are_reported_to_the_program() -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body"])?;
    let (mut unterm, ..) = with_service(&display, &bus)?;
    let mut program = Program::start(&mut unterm, "orders")?;

    program.say("\\033]99;i=job:a=report:c=1;Running\\033\\\\")?;
    let first = service.shown()?;
    program.say(
        "\\033]99;i=job:a=report:c=1:d=0;Done\\033\\\\\\033]99;i=job:p=buttons;Show\\033\\\\",
    )?;
    let second = service.shown()?;
    assert_eq!((second.replaces, second.title.as_str()), (first.id, "Done"));
    program.say("\\033]99;i=other;Other <>\\033\\\\")?;
    let other = service.shown()?;
    assert_eq!(other.replaces, 0);
    program.say("\\033]99;i=q:p=alive;\\033\\\\")?;
    program.is_sent(&mut unterm, "^[]99;i=q:p=alive;job,other^[\\")?;

    // Click a button, click the notification, and close it. A close is reported only if the program requested that.
    service.click(second.id, "1")?;
    program.is_sent(&mut unterm, "^[]99;i=job;1^[\\")?;
    service.click(second.id, "default")?;
    program.is_sent(&mut unterm, "^[]99;i=job;^[\\")?;
    service.dismiss(other.id)?;
    service.dismiss(second.id)?;
    program.is_sent(&mut unterm, "^[]99;i=job:p=close;^[\\")?;
    program.say("\\033]99;i=r:p=alive;\\033\\\\")?;
    let lines = program.is_sent(&mut unterm, "^[]99;i=r:p=alive;^[\\")?;
    ensure!(!lines.concat().contains("i=other"), "{lines:?}");

    // The program closes its own notification.
    program.say("\\033]99;i=brief:c=1;Brief\\033\\\\")?;
    let brief = service.shown()?;
    program.say("\\033]99;i=brief:p=close;\\033\\\\")?;
    assert_eq!(service.asked()?, NotificationRequest::Close(brief.id));
    let lines = program.is_sent(&mut unterm, "^[]99;i=brief:p=close;^[\\")?;
    // Signals for other programs' notifications are ignored.
    service.click(4711, "default")?;
    program.say("\\033[5n")?;
    let answered = lines.concat().len() + "^[[0n".len();
    let lines = program.pane.wait(&mut unterm, "an answer", |l| l.concat().len() >= answered)?;
    assert_eq!(lines.concat().matches("i=brief:p=close").count(), 1, "{lines:?}");
    Ok(())
}

#[test]
fn a_click_brings_the_pane_to_the_front() -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body"])?;
    let (mut unterm, window, shell) = with_service(&display, &bus)?;
    let activations = display.activations()?;
    let mut program = Program::start(&mut unterm, "orders")?;
    program.say("\\033]2;the-program\\007")?;
    let titled = |name: &str| window.wait_for_title(|title| title.contains(name));
    program.say("\\033]99;i=stay:a=-focus,report;Stay\\033\\\\\\033]9;Come\\007")?;
    let (stay, come) = (service.shown()?, service.shown()?);
    shell.type_text(&mut unterm, "printf '\\033]2;the-shell\\007'\r")?;
    titled("the-shell")?;

    service.click(stay.id, "default")?;
    program.is_sent(&mut unterm, "^[]99;i=stay;^[\\")?;
    titled("the-shell")?;
    service.click(come.id, "default")?;
    titled("the-program")?;
    activations.wait_for(&window)?;
    Ok(())
}

#[test]
fn the_occasion_of_a_notification_is_respected() -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body"])?;
    let (mut unterm, window, _) = with_service(&display, &bus)?;
    let mut program = Program::in_front(&mut unterm, "orders", "2")?;
    let ask = "\\033]99;i=u:o=unfocused:c=1;Unfocused\\033\\\\\\033]99;i=v:o=invisible:c=1;Unseen\\033\\\\\\033]9;end\\007";
    let titles = |service: &Notifier| -> Result<Vec<String>> {
        let mut titles = Vec::new();
        while titles.last().is_none_or(|last| last != "end") {
            titles.push(service.shown()?.title);
        }
        Ok(titles)
    };
    program.say(ask)?;
    assert_eq!(titles(&service)?, ["end"], "it is in front and has the keyboard");
    program.is_sent(&mut unterm, "i=u:p=close")?;
    program.is_sent(&mut unterm, "i=v:p=close")?;

    // The program is in a split beside the focused pane: visible, but without keyboard focus.
    unterm.act(&["split_right"])?;
    program.is_sent(&mut unterm, "^[[O")?;
    program.say(ask)?;
    assert_eq!(titles(&service)?, ["Unfocused", "end"]);

    // The program is in a background tab.
    unterm.act(&["activate_tab", "1"])?;
    program.say(ask)?;
    assert_eq!(titles(&service)?, ["Unfocused", "Unseen", "end"]);

    // The program is in front, in a window without keyboard focus. (It is a new program, because a program may not show
    // more notifications at a time.)
    let mut program = Program::in_front(&mut unterm, "more", "3")?;
    program.loses_keyboard(&mut unterm, &display)?;
    program.say(ask)?;
    assert_eq!(titles(&service)?, ["Unfocused", "Unseen", "end"]);
    ensure!(window.is_shown()?);
    Ok(())
}

#[test]
fn a_flood_of_notifications_is_limited_and_the_last_is_shown() -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body"])?;
    let (mut unterm, ..) = with_service(&display, &bus)?;
    let pane = unterm.run(
        "sh",
        &["-c", "for n in $(seq 2000); do printf '\\033]9;number %d\\007' $n; done; cat"],
    )?;
    let mut shown = 0;
    while service.shown()?.title != "number 2000" {
        shown += 1;
    }
    ensure!(shown < 200, "{shown} were shown");
    pane.close(&mut unterm)?;
    Ok(())
}

#[test]
fn the_end_of_an_unseen_long_command_is_reported() -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body"])?;
    let registry = tempfile::tempdir()?;
    std::fs::write(registry.path().join("config.toml"), "[notifications]\nlong_commands = 2\n")?;
    let start = Start::windowed(&display).registry(registry.path());
    let start = start.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let (mut unterm, window, shell) = start.at_prompt()?;
    // While the user watches the pane, there is no notification.
    shell.type_text(&mut unterm, "sleep 2.2; echo seen\r")?;
    shell.wait(&mut unterm, "its end", |lines| lines.iter().any(|line| line == "seen"))?;
    shell.wait_for_prompt(&mut unterm)?;
    // The end of a command is certainly processed when later output is visible.
    shell.type_text(&mut unterm, "echo next\r")?;
    shell.wait(&mut unterm, "more", |lines| lines.iter().any(|line| line == "next"))?;
    unterm.act(&["new_tab"])?;
    shell.type_text(&mut unterm, "echo short\r")?;
    shell.wait(&mut unterm, "its end", |lines| lines.iter().any(|line| line == "short"))?;
    shell.wait_for_prompt(&mut unterm)?;
    shell.type_text(&mut unterm, "sleep   4; (exit 7)\r")?;
    let notice = service.shown()?;
    assert_eq!(notice.title, "sleep 4; (exit 7)");
    let said = notice.body.strip_prefix("Failed with exit code 7 after ");
    let said = said.and_then(|said| said.split_once(" s.\n"));
    ensure!(said.is_some_and(|(_, tab)| tab.starts_with("Tab 1: ")), "{notice:?}");
    // A click shows the pane, which then receives typed text.
    service.click(notice.id, "default")?;
    wait_for(
        "the first tab",
        || {
            display.press(&["x"])?;
            let lines = shell.lines(&mut unterm)?;
            Ok(lines.iter().any(|line| line.starts_with("ready$ x")).then_some(()))
        },
        || window.title().unwrap_or_default(),
    )?;
    Ok(())
}

#[test]
fn without_a_service_notifications_appear_in_the_window() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::start()?;
    // Test without a bus, and with a bus that lacks the service.
    for address in ["unix:path=/nonexistent/bus", bus.address()] {
        let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", address);
        let (mut unterm, window, _) = start.at_prompt()?;
        let mut program = Program::start(&mut unterm, "orders")?;
        program.say("\\033[2J\\033]99;i=x:c=1:a=report;Here I am\\033\\\\")?;
        // The message's bar has the theme's blue. It is on the right, above the status bar.
        let is_blue = |&[r, g, b]: &[u8; 3]| (r, g, b) == (0x89, 0xb4, 0xfa);
        let count = || -> Result<usize> {
            let picture = window.picture()?;
            let rows = picture.pixels.chunks(picture.width).rev().take(120);
            Ok(rows
                .flat_map(|row| &row[picture.width / 2..])
                .filter(|pixel| is_blue(pixel))
                .count())
        };
        wait_for("the message", || Ok((count()? >= 20).then_some(())), || unterm.log())?;
        // The terminal itself reports the close, so that the program does not wait forever.
        program.is_sent(&mut unterm, "^[]99;i=x:p=close;^[\\")?;
        let log = unterm.log();
        let is_fault = |line: &str| line.contains(" ERROR ") || line.contains(" WARN unterm");
        ensure!(!log.lines().any(is_fault), "{log}");
    }
    Ok(())
}

#[test]
fn a_bell_runs_its_program_and_requests_attention() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let rung = registry.path().join("rung");
    let command = format!("[bell]\ncommand = ['touch', '{}']\n", rung.display());
    std::fs::write(registry.path().join("config.toml"), command)?;
    let (mut unterm, window, _) =
        Start::windowed(&display).registry(registry.path()).at_prompt()?;
    let mut program = Program::in_front(&mut unterm, "orders", "2")?;
    program.say("\\007")?;
    wait_for("the bell's program", || Ok(rung.exists().then_some(())), || unterm.log())?;
    ensure!(!window.is_urgent()?, "someone is there");
    program.loses_keyboard(&mut unterm, &display)?;
    program.say("\\007")?;
    wait_for("the call for attention", || Ok(window.is_urgent()?.then_some(())), || unterm.log())?;
    display.window_of(&unterm)?;
    let is_calm = || Ok((!window.is_urgent()?).then_some(()));
    wait_for("its end", is_calm, || unterm.log())?;
    Ok(())
}
