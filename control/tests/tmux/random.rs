//! Random command lines, executed here and by the real tmux: replies and layouts must be equal.
//!
//! `UNTERM_TMUX_LINES=1000 UNTERM_TMUX_SEED=7` sets the number of lines and the seed. Differences that are known are listed
//! in [`KNOWN`] with their reasons. Every other difference fails the test.

use std::{
    fmt::Write as _,
    process::{Command, Output},
};

use super::{Called, Program};
use crate::support::{Fixture, has};

/// The number of lines if the environment sets none.
const SHARE: usize = 60;
/// The version of tmux that this dialect follows.
const VERSION: &str = "tmux 3.3a";
/// Lines whose results differ, by a part of the line, with the reason.
const KNOWN: [(&str, &str); 3] = [
    ("list-commands", "absent commands are not listed"),
    ("list-keys", "there are no default keys"),
    ("history_", "history is counted in other units"),
];
const WINDOWS: &str = "#{window_index} #{window_name} #{window_active} #{window_last_flag} #{window_zoomed_flag} #{window_panes} #{window_width}x#{window_height}";
const PANES: &str = "#{window_index}.#{pane_index} #{pane_width}x#{pane_height}+#{pane_left}+#{pane_top} #{pane_active}";

/// A generator of random numbers (xorshift), so that a seed repeats a run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    /// Flags, each of them with a chance of one third.
    fn flags(&mut self, of: &[&str]) -> String {
        let mut flags = String::new();
        for flag in of {
            if self.below(3) == 0 {
                let _ = write!(flags, "{flag} ");
            }
        }
        flags
    }

    fn window(&mut self) -> String {
        let index = self.below(5);
        match self.below(8) {
            0 => self.one(&["r:^", "r:$", "r:!", "r:+", "r:-", "r:{start}", "r:{end}"]).to_owned(),
            1 => {
                self.one(&["r:alpha", "r:beta", "r:al", "=r:gamma", "r:nothing", "s:0"]).to_owned()
            }
            _ => format!("r:{index}"),
        }
    }

    fn pane(&mut self) -> String {
        let window = self.window();
        let pane = match self.below(6) {
            0 => {
                self.one(&["{last}", "+", "-", "{top}", "{bottom-right}", "{left}", "9"]).to_owned()
            }
            _ => self.below(3).to_string(),
        };
        format!("{window}.{pane}")
    }

    fn size(&mut self) -> String {
        let number = self.below(30);
        match self.below(4) {
            0 => format!("{}%", number * 4),
            1 => self.one(&["0", "x", "-3", "500"]).to_owned(),
            _ => (number + 1).to_string(),
        }
    }

    /// A command line, in words between spaces.
    fn line(&mut self) -> String {
        match self.below(10) {
            0..3 => self.pane_line(),
            3..5 => self.window_line(),
            5 => self.option_line(),
            6 => self.text_line(),
            7 | 8 => self.format_line(),
            _ => self.wrong_line(),
        }
    }

    fn pane_line(&mut self) -> String {
        let (one, other, size) = (self.pane(), self.pane(), self.size());
        let layout = self.one(&[
            "even-horizontal",
            "even-vertical",
            "main-horizontal",
            "main-vertical",
            "tiled",
        ]);
        let side = self.one(&["-L", "-R", "-U", "-D"]);
        match self.below(14) {
            0..4 => {
                let flags = self.flags(&["-h", "-b", "-d", "-f"]);
                let length = if self.below(2) == 0 { format!("-l {size} ") } else { String::new() };
                format!("split-window {flags}{length}-t {one} cat")
            }
            4 => format!("select-pane -t {one}"),
            5 => format!("select-pane {side} -t {one}"),
            6 => format!("resize-pane {side} -t {one} {}", self.below(9)),
            7 => format!("resize-pane {} {size} -t {one}", self.one(&["-x", "-y"])),
            8 => format!("swap-pane {}-s {one} -t {other}", self.flags(&["-d"])),
            9 => format!(
                "break-pane {}-s {one} -n {}",
                self.flags(&["-d"]),
                self.one(&["delta", "eta"])
            ),
            10 => format!("join-pane {}-s {one} -t {other}", self.flags(&["-h", "-b", "-d"])),
            11 => format!("select-layout -t {one} {layout}"),
            12 => format!("kill-pane -t {one}"),
            _ => self
                .one(&[
                    "last-pane -t r:",
                    "resize-pane -Z -t r:",
                    "rotate-window -t r:",
                    "rotate-window -D -t r:",
                    "next-layout -t r:",
                    "previous-layout -t r:",
                ])
                .to_owned(),
        }
    }

    fn window_line(&mut self) -> String {
        let (one, other) = (self.window(), self.window());
        let name = self.one(&["alpha", "beta", "gamma", "al pha"]).replace(' ', "_");
        match self.below(14) {
            0..4 => {
                let flags = self.flags(&["-d", "-a", "-k"]);
                let target = if self.below(2) == 0 { one } else { "r:".to_owned() };
                format!("new-window {flags}-n {name} -t {target} cat")
            }
            4 => format!("select-window -t {one}"),
            5 => format!("rename-window -t {one} {name}"),
            6 => format!("move-window {}-s {one} -t {other}", self.flags(&["-d", "-a", "-k"])),
            7 => format!("swap-window {}-s {one} -t {other}", self.flags(&["-d"])),
            8 => format!("link-window {}-s {one} -t {other}", self.flags(&["-d", "-a"])),
            9 => format!("unlink-window -t {one}"),
            10 => format!("kill-window -t {one}"),
            _ => self
                .one(&[
                    "next-window -t r",
                    "previous-window -t r",
                    "last-window -t r",
                    "move-window -r -t r",
                    "has-session -t r",
                    "has-session -t nothing",
                    "list-windows -t r -F #{window_index}:#{window_name}",
                ])
                .to_owned(),
        }
    }

    fn option_line(&mut self) -> String {
        let (name, value) = match self.below(9) {
            0 => ("status", self.one(&["on", "off", "2", "maybe", "ON"])),
            1 => ("base-index", self.one(&["0", "1", "-1", "x", "2147483648"])),
            2 => ("status-style", self.one(&["fg=red", "bg=nope", "bold,fg=#00ff00", "default"])),
            3 => ("prefix", self.one(&["C-a", "^b", "nokey", "M-x"])),
            4 => ("remain-on-exit", self.one(&["on", "off", "failed", "x"])),
            5 => ("@own", self.one(&["a", "$x", "~", "#h"])),
            6 => ("status-bg", self.one(&["red", "nope", "colour3"])),
            7 => ("renumber-windows", self.one(&["on", "off"])),
            _ => (self.one(&["nothing", "status-l", "mouse"]), "on"),
        };
        let flags = self.flags(&["-g", "-q", "-u"]);
        match self.below(3) {
            0 => format!("show-options {}-t r: {name}", flags.replace("-u ", "-v ")),
            _ => format!("set-option {flags}-t r: {name} {value}"),
        }
    }

    fn text_line(&mut self) -> String {
        let buffer = self.one(&["one", "two", "three"]);
        let value = self.one(&["text", "a;b", "#{x}", "'q'", "ü"]);
        let name = self.one(&["FOO", "BAR", "1X"]);
        match self.below(11) {
            0 => format!("set-buffer -b {buffer} {value}"),
            1 => format!("set-buffer -a -b {buffer} {value}"),
            2 => format!("show-buffer -b {buffer}"),
            3 => format!("delete-buffer -b {buffer}"),
            4 => "list-buffers -F #{buffer_name}:#{buffer_size}:#{buffer_sample}".to_owned(),
            5 => format!("set-environment {}-t r {name} {value}", self.flags(&["-g", "-h"])),
            6 => format!("set-environment {} -t r {name}", self.one(&["-u", "-r", "-gu"])),
            7 => format!("show-environment {}-t r {name}", self.flags(&["-s", "-h"])),
            8 => format!(
                "bind-key -T own {} display-message {name}",
                self.one(&["x", "C-F5", "nokey"])
            ),
            9 => "list-keys -T own".to_owned(),
            _ => format!(
                "if-shell -F {} {{display-message -p yes}} {{display-message -p no}}",
                self.one(&["1", "0", "#{window_active}", "x"])
            ),
        }
    }

    /// A format of one word.
    fn format(&mut self, depth: usize) -> String {
        let atom = self.one(&[
            "#{window_index}",
            "#{pane_index}",
            "#{session_name}",
            "#{window_name}",
            "abc",
            "12",
            "#{pane_width}",
            "#{window_flags}",
            "#{@own}",
            "#{nothing}",
            "x/y",
            "#{pane_at_top}",
        ]);
        if depth == 0 {
            return atom.to_owned();
        }
        let (one, two) = (self.format(depth - 1), self.format(depth - 1));
        match self.below(16) {
            0 => format!("#{{?{one},{two},no}}"),
            1 => format!("#{{==:{one},{two}}}"),
            2 => format!("#{{!=:{one},{two}}}"),
            3 => format!("#{{&&:{one},{two}}}"),
            4 => format!("#{{||:{one},{two}}}"),
            5 => format!("#{{=3:window_name}}{one}"),
            6 => format!("#{{=-2:session_name}}{two}"),
            7 => format!("#{{p6:window_name}}|{one}"),
            8 => format!("#{{m:*a*,{one}}}"),
            9 => format!("#{{e|+:{one},3}}"),
            10 => format!("#{{e|*|f|2:1.5,{two}}}"),
            11 => format!("#{{s/a/{two}/:window_name}}"),
            12 => format!("#{{b:@own}}#{{d:@own}}{one}"),
            13 => format!("#{{n:window_name}}#{{w:session_name}}{two}"),
            14 => format!("#{{W:#{{window_index}},[#{{window_index}}]}}{one}"),
            _ => format!("{one}{two}"),
        }
    }

    fn format_line(&mut self) -> String {
        let (pane, depth) = (self.pane(), self.below(3));
        format!("display-message -p -t {pane} {}", self.format(depth))
    }

    fn wrong_line(&mut self) -> String {
        let command = self.one(&[
            "list-panes",
            "new-window",
            "kill-pane",
            "set-option",
            "rename-window",
            "split-window",
            "list-",
            "nope",
            "swap-pane",
            "resize-pane",
            "show-buffer",
            "display-message",
            "wait-for",
        ]);
        let rest =
            self.one(&["-z", "-t", "a b c d", "-t nothing:9.9", "-t @999", "-t %999", "-t =", ""]);
        // A command that would act on the current pane or wait is not wrong.
        if rest.is_empty() || matches!((command, rest), ("new-window" | "split-window", "a b c d"))
        {
            return format!("{command} --");
        }
        format!("{command} {rest}")
    }
}

/// The real tmux with a server of its own.
struct Real {
    folder: tempfile::TempDir,
}

impl Real {
    fn output(&self, args: &[&str]) -> Output {
        Command::new("tmux")
            .args(["-f", "/dev/null"])
            .args(args)
            .env("TMUX_TMPDIR", self.folder.path())
            .env("SHELL", "/bin/sh")
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .output()
            .expect("tmux")
    }

    fn call(&self, args: &[&str]) -> Called {
        let output = self.output(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let status = output.status.code().and_then(|code| u8::try_from(code).ok());
        Called {
            out: text(&output.stdout),
            err: text(&output.stderr),
            status: status.unwrap_or(255),
        }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        self.output(&["kill-server"]);
    }
}

/// Ids of panes, windows and sessions differ, so they have no numbers.
fn without_ids(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        plain.push(char);
        if matches!(char, '%' | '@' | '$') {
            while chars.next_if(char::is_ascii_digit).is_some() {}
        }
    }
    plain
}

struct Both<'a> {
    ours: Program<'a>,
    real: Real,
}

impl Both<'_> {
    fn call(&self, args: &[&str]) -> (Called, Called) {
        let ours = self.ours.tmux(&[&["-L", "r"], args].concat());
        let plain = |called: Called| Called {
            out: without_ids(&called.out),
            err: without_ids(&called.err),
            status: called.status,
        };
        (plain(ours), plain(self.real.call(args)))
    }

    /// Begins with one session of one window.
    fn restart(&self) {
        self.ours.tmux(&["-L", "r", "kill-server"]);
        self.real.output(&["kill-server"]);
        for args in [
            &["new-session", "-d", "-s", "r", "-n", "alpha", "-x", "100", "-y", "40", "cat"][..],
            &["new-session", "-d", "-s", "s", "-n", "other", "-x", "100", "-y", "40", "cat"],
            &["set-option", "-g", "default-command", "cat"],
            &["set-option", "-gw", "automatic-rename", "off"],
        ] {
            let (ours, real) = self.call(args);
            assert_eq!((ours.status, real.status), (0, 0), "{args:?}: {ours:?} {real:?}");
        }
    }

    /// The windows and panes here, if they differ from those of the real tmux.
    fn difference(&self) -> Option<(String, String)> {
        let lists = [["list-windows", "-a", "-F", WINDOWS], ["list-panes", "-a", "-F", PANES]];
        lists.into_iter().find_map(|list| {
            let (ours, real) = self.call(&list);
            (ours != real).then_some((ours.out + &ours.err, real.out + &real.err))
        })
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
#[ignore = "the known differences are not all listed yet"]
fn random_lines_have_the_results_of_tmux() {
    if !has("tmux", &["-V"]) {
        return;
    }
    let real = Real { folder: tempfile::tempdir().unwrap() };
    if real.call(&["-V"]).out.trim() != VERSION {
        return;
    }
    let fixture = Fixture::new();
    let both = Both { ours: Program { fixture: &fixture, pane: None }, real };
    let seed = number("UNTERM_TMUX_SEED").unwrap_or(1);
    let lines = number("UNTERM_TMUX_LINES").map_or(SHARE, |lines| lines as usize);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut report, mut different, mut known) = (String::new(), 0, 0);
    both.restart();
    for index in 0..lines {
        let line = random.line();
        let args: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let (ours, real) = both.call(&args);
        let layout = both.difference();
        if ours == real && layout.is_none() {
            if index % 25 == 24 {
                both.restart();
            }
            continue;
        }
        match KNOWN.iter().any(|(part, _)| line.contains(part)) {
            true => known += 1,
            false => {
                different += 1;
                let _ = writeln!(report, "{line}\n  ours {ours:?}\n  tmux {real:?}");
                if let Some((ours, real)) = layout {
                    let _ = writeln!(report, "ours:\n{ours}tmux:\n{real}");
                }
            }
        }
        both.restart();
    }
    println!("{lines} lines, seed {seed}: {different} differ, {known} for a known reason");
    assert_eq!(different, 0, "seed {seed}:\n{report}");
}
