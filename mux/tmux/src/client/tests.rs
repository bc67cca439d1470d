//! A client against a scripted server: the lines are those of tmux 3.3a.

use super::*;
use crate::{NewProgram, Side};

const ONE: &str = "a87d,100x30,0,0,0";
const TWO: &str = "af65,90x20,0,0{45x20,0,0,0,44x20,46,0,1}";
const STATE: &str = "100|30|2|0|0|0|4294967295|4294967295|0|29|1|0|1|0|0|0|0|0|0|0|0||8|host";

/// A client, and the number of the next command that the server answers.
struct Played {
    client: Client,
    command: u64,
}

impl Played {
    /// A client before the first line.
    fn new() -> Self {
        Self { client: Client::new(100, 30, true), command: 0 }
    }

    /// A client that is attached to a session with one window, whose pane was restored.
    fn attached() -> Self {
        let mut played = Self::new();
        played.sends("%begin 1 1 0\n%end 1 1 0\n%session-changed $0 work\n");
        (0..3).for_each(|_| drop(played.answers("")));
        played.answers(&format!("@0|1|{ONE}|{ONE}|*|%0|off|bash\n"));
        played.restores(STATE, "$ ");
        played.client.take_commands();
        played
    }

    /// The server sends bytes. Returns all actions.
    fn sends(&mut self, text: &str) -> Vec<Action> {
        self.sends_bytes(text.as_bytes())
    }

    fn sends_bytes(&mut self, mut rest: &[u8]) -> Vec<Action> {
        let mut actions = Vec::new();
        loop {
            let taken = self.client.advance(rest);
            rest = &rest[taken..];
            actions.extend(std::iter::from_fn(|| self.client.next_action()));
            if rest.is_empty() || self.client.has_ended() {
                return actions;
            }
        }
    }

    /// The server answers the next command with these lines.
    fn answers(&mut self, lines: &str) -> Vec<Action> {
        self.command += 1;
        let n = self.command;
        self.sends(&format!("%begin 9 {n} 1\n{lines}%end 9 {n} 1\n"))
    }

    fn refuses(&mut self, error: &str) -> Vec<Action> {
        self.command += 1;
        let n = self.command;
        self.sends(&format!("%begin 9 {n} 1\n{error}\n%error 9 {n} 1\n"))
    }

    /// The server answers the commands that restore a pane with its history.
    fn restores(&mut self, state: &str, screen: &str) -> Vec<Action> {
        let mut actions = self.answers(&format!("{state}\n"));
        actions.extend(self.answers(""));
        actions.extend(self.answers(&format!("{screen}\n")));
        actions.extend(self.answers("\n"));
        actions
    }

    fn commands(&mut self) -> String {
        String::from_utf8(self.client.take_commands()).unwrap()
    }
}

fn text_of(action: &Action) -> String {
    match action {
        Action::Output { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_attach_lists_windows_and_restores_panes() {
    let mut played = Played::new();
    let actions = played.sends("%begin 1 1 0\r\n%end 1 1 0\r\n%window-add @0\r\n");
    assert_eq!((actions, played.commands().as_str()), (vec![], ""), "not attached yet");
    let actions = played.sends("%sessions-changed\r\n%session-changed $0 my work\r\n");
    assert_eq!(actions, [Action::Session("my work".into())]);
    let commands = played.commands();
    assert!(commands.starts_with(
        "refresh-client -f pause-after=5\nrefresh-client -C 100x30\n\
         refresh-client -B 'unterm-program:%*:#{pane_current_command}'\nlist-windows -F "
    ));
    (0..3).for_each(|_| assert_eq!(played.answers(""), []));
    let actions = played.answers(&format!("@0|1|{ONE}|{ONE}|*|%0|off|a|b\n"));
    let view = View {
        name: "a|b".into(),
        layout: Layout::parse(ONE).unwrap(),
        sizes: vec![(PaneId(0), 100, 30)],
        active: Some(PaneId(0)),
        is_zoomed: false,
    };
    let window = WindowId(0);
    assert_eq!(actions, [Action::Window { window, view }, Action::Current(window)]);
    assert!(played.commands().starts_with("display-message -p -t %0 "));
    assert_eq!(played.sends("%output %0 dropped\n"), [], "the state contains it");
    let actions = played.restores(STATE, r"$ \033[1mls");
    assert!(text_of(&actions[0]).contains("$ \x1b[1mls"));
    let output = Action::Output { pane: PaneId(0), bytes: b"\r\nfile".to_vec() };
    assert_eq!(played.sends("%extended-output %0 3 : \\015\\012file\n"), [output]);
}

#[test]
fn nothing_is_sent_to_a_program_that_the_user_has_not_allowed() {
    let mut played = Played { client: Client::new(100, 30, false), command: 0 };
    let actions = played.sends("%begin 1 1 0\n%end 1 1 0\n%session-changed $0 a\n%window-add @0\n");
    assert_eq!(actions, [Action::Session("a".into())]);
    played.sends(&format!("%begin 1 1 1\n@0|1|{ONE}|{ONE}|*|%0|off|b\n%end 1 1 1\n%pause %0\n"));
    played.client.kill(PaneId(0));
    assert_eq!(played.commands(), "");
    played.client.allow();
    assert!(played.commands().starts_with("refresh-client "));
}

#[test]
fn the_lines_may_arrive_in_any_pieces() {
    let lines = format!(
        "%begin 1 1 0\r\n%end 1 1 0\r\n%session-changed $0 w\r\n%begin 1 2 1\n%end 1 2 1\n\
         %begin 1 3 1\n%end 1 3 1\n%begin 1 4 1\n%end 1 4 1\n\
         %begin 1 5 1\n@0|1|{ONE}|{ONE}|*|%0|off|bash\n%end 1 5 1\n"
    );
    let mut whole = Played::new();
    let expected = whole.sends(&lines);
    assert_eq!(expected.len(), 3);
    for at in 0..lines.len() {
        let mut played = Played::new();
        let mut actions = played.sends(&lines[..at]);
        actions.extend(played.sends(&lines[at..]));
        assert_eq!(actions, expected, "{at}");
    }
}

#[test]
fn panes_come_and_go_with_the_layout() {
    let mut played = Played::attached();
    let actions = played.sends(&format!("%layout-change @0 {TWO} {TWO} *\n"));
    let [Action::Window { view, .. }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(view.sizes, [(PaneId(0), 45, 20), (PaneId(1), 44, 20)]);
    let commands = played.commands();
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(lines.len(), 2, "{commands}");
    assert!(!lines[0].contains("-S"), "only the screen of a resized pane: {commands}");
    assert!(lines[1].contains("-S -100000 -E -1 -t %1"), "{commands}");
    played.sends(&format!("%layout-change @0 {ONE} {ONE} *\n"));
    assert_eq!(played.sends("%output %1 x\n"), [], "the pane has ended");
    assert_eq!(played.sends("%window-close @0\n"), [Action::Closed(WindowId(0))]);
    assert_eq!(played.sends("%window-close @0\n"), []);
}

#[test]
fn a_pane_from_another_window_is_restored_with_its_history() {
    let mut played = Played::attached();
    let other = layout_of("80x24,0,0,7");
    played.sends("%window-add @1\n");
    played.answers(&format!("@1|0|{other}|{other}|*|%7|off|x\n"));
    played.restores(STATE, "$ ");
    played.client.take_commands();
    let joined = layout_of("90x20,0,0{45x20,0,0,0,44x20,46,0,7}");
    played.sends(&format!("%layout-change @0 {joined} {joined} *\n"));
    assert!(played.commands().contains("-S -100000 -E -1 -t %7"));
}

#[test]
fn a_zoomed_pane_is_as_large_as_the_window() {
    let mut played = Played::attached();
    let zoomed = "a29e,90x20,0,0,1";
    let actions = played.sends(&format!("%layout-change @0 {TWO} {zoomed} *Z\n"));
    let [Action::Window { view, .. }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(view.sizes, [(PaneId(0), 45, 20), (PaneId(1), 90, 20)]);
    assert_eq!((view.active, view.is_zoomed), (Some(PaneId(1)), true));
}

#[test]
fn a_pane_that_the_user_opens_shows_its_output_at_once() {
    let mut played = Played::attached();
    let ticket = played.client.split(PaneId(0), Side::Right, &NewProgram::default());
    assert_eq!(played.commands(), "split-window -h -P -F '#{pane_id}' -t %0\n");
    let outcome = Ok(Opened { pane: PaneId(1), window: None });
    assert_eq!(played.answers("%1\n"), [Action::Opened { ticket, outcome }]);
    played.sends(&format!("%layout-change @0 {TWO} {TWO} *\n"));
    assert!(!played.commands().contains("%1"), "its history is not requested");
    let output = Action::Output { pane: PaneId(1), bytes: b"$".to_vec() };
    assert_eq!(played.sends("%output %1 $\n"), [output]);
}

#[test]
fn tmux_may_refuse_a_pane() {
    let mut played = Played::attached();
    let ticket = played.client.split(PaneId(0), Side::Below, &NewProgram::default());
    let outcome = Err("no space for new pane".to_owned());
    assert_eq!(played.refuses("no space for new pane"), [Action::Opened { ticket, outcome }]);
    played.client.kill(PaneId(9));
    let notice = Action::Notice("can't find pane: %9".into());
    assert_eq!(played.refuses("can't find pane: %9"), [notice]);
}

#[test]
fn a_paused_pane_is_resumed_and_restored() {
    let mut played = Played::attached();
    assert_eq!(played.sends("%pause %0\n%output %0 dropped\n"), []);
    let commands = played.commands();
    assert!(
        commands.starts_with("refresh-client -A '%0:continue'\ndisplay-message "),
        "{commands}"
    );
    played.answers("");
    played.answers(&format!("{STATE}\n"));
    played.answers("y\n");
    let actions = played.refuses("no alternate screen");
    assert!(text_of(&actions[0]).contains("\x1b[H\x1b[Jy"), "{actions:?}");
    assert_eq!(played.sends("%output %0 y\n").len(), 1);
}

#[test]
fn output_during_a_pause_is_added_to_the_history() {
    let mut played = Played::attached();
    played.sends("%output %0 one\\015\\012two\\015\\012thr\n%pause %0\n%output %0 dropped\n");
    let commands = played.commands();
    assert!(commands.contains("capture-pane -peqJC -S -100000 -E -1 -t %0 ;"), "{commands}");
    played.answers("");
    played.answers(&format!("{}\n", STATE.replace("|2|0|0|0|", "|2|0|3|0|")));
    played.answers("one\ntwo\nthree\n");
    played.answers("four\nfive\n");
    let actions = played.refuses("no alternate screen");
    let text = text_of(&actions[0]);
    assert_eq!((text.matches("two").count(), text.matches("three").count()), (0, 1), "{text:?}");
    assert!(text.contains("\x1b[H\x1b[Jfour"), "{text:?}");
    // The lines before the pause are not compared again.
    played.sends("%pause %0\n");
    assert!(!played.commands().contains("-S"));
}

#[test]
fn the_program_in_the_foreground_is_reported() {
    let mut played = Played::attached();
    let line = |pane| format!("%subscription-changed unterm-program $0 @0 0 %{pane} : vim\n");
    let action = Action::Program { pane: PaneId(0), name: "vim".to_owned() };
    assert_eq!(played.sends(&line(0)), [action]);
    assert_eq!(played.sends(&line(7)), [], "an unknown pane");
}

#[test]
fn an_error_skips_the_replies_to_the_rest_of_its_line() {
    let mut played = Played::attached();
    played.sends("%pause %0\n");
    played.answers("");
    assert_eq!(played.refuses("can't find pane: %0"), [], "no further reply to this line");
    let ticket = played.client.split(PaneId(0), Side::Right, &NewProgram::default());
    let outcome = Ok(Opened { pane: PaneId(4), window: None });
    assert_eq!(played.answers("%4\n"), [Action::Opened { ticket, outcome }]);
}

#[test]
fn requests_change_the_model_at_once() {
    let mut played = Played::attached();
    played.sends(&format!("%layout-change @0 {TWO} {TWO} *\n"));
    played.client.take_commands();
    played.client.select_pane(WindowId(0), PaneId(1));
    played.client.select_pane(WindowId(0), PaneId(1));
    assert_eq!(played.commands(), "select-pane -t %1\n");
    assert_eq!(played.sends("%window-pane-changed @0 %1\n"), []);
    played.client.rename(WindowId(0), "it's");
    assert_eq!(played.commands(), "rename-window -t @0 -- 'it'\\''s'\n");
    assert_eq!(played.sends("%window-renamed @0 it's\n"), []);
    played.client.select_window(WindowId(0));
    assert_eq!(played.commands(), "", "it is the current one");
}

#[test]
fn a_detached_client_ends() {
    let mut played = Played::attached();
    played.client.detach();
    assert_eq!(played.commands(), "detach-client\n");
    played.answers("");
    assert_eq!(played.sends("%exit\nrest"), [Action::End(End::Exit(String::new()))]);
    assert!(played.client.has_ended());
    assert_eq!(played.client.advance(b"more"), 0);
}

#[test]
fn text_that_is_not_of_tmux_ends_the_mode() {
    let mut played = Played::attached();
    let text = b"%output %0 a\nConnection to host closed.\r\n$ ";
    let mut at = played.client.advance(text);
    assert_eq!(played.client.next_action().map(|action| text_of(&action)), Some("a".into()));
    at += played.client.advance(&text[at..]);
    assert_eq!(&text[at..], b"Connection to host closed.\r\n$ ", "the terminal shows the rest");
    assert_eq!(played.client.next_action(), Some(Action::End(End::NotTmux)));
}

#[test]
fn input_waits_until_tmux_answers() {
    let mut played = Played::attached();
    for _ in 0..INPUTS {
        assert_eq!(played.client.input(PaneId(0), b"x"), 1);
    }
    assert_eq!(played.client.input(PaneId(0), b"x"), 0);
    played.answers("");
    assert_eq!(played.client.input(PaneId(0), &[b'x'; 2000]), 512);
}

#[test]
fn a_server_that_never_answers_is_left() {
    let mut played = Played::attached();
    for _ in 0..2 * PENDING {
        played.client.kill(PaneId(0));
    }
    assert_eq!(played.sends(""), [Action::End(End::Limit("tmux does not answer"))]);
}

#[test]
fn a_hostile_server_opens_only_so_many_windows() {
    let mut played = Played::attached();
    let mut opened = 0;
    for at in 0..1000u32 {
        played.sends(&format!("%window-add @{at}\n"));
        let asked = played.commands().lines().count();
        for _ in 0..asked {
            let tree = format!("80x24,0,0,{}", at + 1000);
            let layout = layout_of(&tree);
            let actions = played.answers(&format!("@{at}|0|{layout}|{layout}|*|%9|off|x\n"));
            opened += actions.iter().filter(|it| matches!(it, Action::Window { .. })).count();
            played.commands();
            // The commands that restore the pane.
            (0..4).for_each(|_| drop(played.answers("")));
        }
    }
    assert_eq!(opened, WINDOWS - 1, "one was there before");
}

#[test]
fn a_long_list_shows_its_first_windows_and_a_notice() {
    let mut played = Played::new();
    played.sends("%session-changed $0 a\n");
    (0..3).for_each(|_| drop(played.answers("")));
    let line = |at: usize| {
        let layout = layout_of(&format!("80x24,0,0,{at}"));
        format!("@{at}|0|{layout}|{layout}|*|%{at}|off|x\n")
    };
    let actions = played.answers(&(0..500).map(line).collect::<String>());
    assert_eq!(actions.len(), WINDOWS + 1);
    assert!(matches!(actions.last(), Some(Action::Notice(_))));
}

fn layout_of(tree: &str) -> String {
    let sum = tree.bytes().fold(0u16, |sum, byte| sum.rotate_right(1).wrapping_add(byte.into()));
    format!("{sum:04x},{tree}")
}

#[test]
fn random_lines_never_fail() {
    let words = [
        "%begin 1 1 1",
        "%end 1 1 1",
        "%error 1 1 1",
        "%output %0 ",
        "\\033",
        "%session-changed $0 a",
        "%layout-change @0 ",
        ONE,
        TWO,
        " ",
        "*Z",
        "%window-add @",
        "1",
        "%pause %0",
        "|",
        STATE,
        "\n",
        "\n",
        "\n",
        "\r\n",
        "%exitx",
        "@0|1|",
        "%window-close @0",
        "%window-pane-changed @0 %1",
        "\u{fffd}",
        "%unlinked",
        "%session-window-changed $0 @0",
    ];
    let mut random = 1u64;
    for round in 0..500 {
        let mut played = if round % 2 == 0 { Played::attached() } else { Played::new() };
        for _ in 0..200 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round + 1);
            let word = words[(random >> 33) as usize % words.len()];
            played.sends(word);
        }
        assert!(played.client.commands.len() < 1 << 20);
    }
}
