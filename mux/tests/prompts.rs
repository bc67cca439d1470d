//! Prompts of real shells, with shell integration and without it: after a redraw, and after any resizes, both show the
//! text that they would show without a resize. The prompt's command is known throughout.

use std::sync::Arc;

use tempfile::TempDir;

use crate::common::{LIMIT, screen, wait, wait_until_settled};
use crate::shell_integration::{commands, mux_of};
use crate::shell_settings::{is_asking, last_ended, shell_in};
use unterm_mux::{Mux, Pane};
use unterm_term::{LineId, Point, Size, TextRange};

const SIZE: (u16, u16) = (80, 24);
/// The number of resizes of each kind.
const RESIZES: usize = 100;
/// A command in the history, with an output that is longer than most widths.
const COMMAND: &str = "printf 'out%s-' 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; echo";
/// The text that is typed at the prompt while the pane is resized. It is longer than most widths.
const TYPED: &str = "echo 0123456789-0123456789-0123456789-0123456789-0123";

/// A shell with a prompt.
struct Case {
    program: &'static str,
    /// The shell's startup file.
    settings: &'static str,
    /// A line that is entered at the first prompt and changes it.
    late: &'static str,
    /// The settings of readline.
    inputrc: &'static str,
    /// How each row of the prompt begins, while text is typed.
    shown: &'static [&'static str],
    has_vi_keys: bool,
}

const CASE: Case =
    Case { program: "", settings: "", late: "", inputrc: "", shown: &[], has_vi_keys: false };

/// Sets a prompt of two lines, as starship does: it begins with an empty line.
const BASH_LIKE_STARSHIP: &str = "starship_precmd() { STATUS=$?; PS1=$(printf '\\ndir on main\\n❯ '); }\n\
    PROMPT_COMMAND=starship_precmd\n";
/// Sets the prompt last in each hook, and a prompt on the right in its first line, as powerlevel10k does.
const ZSH_LIKE_POWERLEVEL10K: &str = "autoload -Uz add-zsh-hook\nsetopt prompt_subst\n\
    p10k_precmd() { PS1=$'%F{blue}dir%f main\\n%F{green}❯%f '; RPS1='right'; \
    precmd_functions=(${precmd_functions:#p10k_precmd} p10k_precmd) }\nadd-zsh-hook precmd p10k_precmd\n";
/// Draws what powerlevel10k draws with frames around its lines and its own marks: before each prompt, it goes to the next
/// line and back. It draws a right prompt in both lines.
const ZSH_WITH_OWN_MARKS: &str = "autoload -Uz add-zsh-hook\nsetopt prompt_subst\n\
    up() { print -rn -- $'%{\\e]133;A\\a%}%{\\n\\e[A%}' }\n\
    fill() { print -rn -- ${(l:COLUMNS-14:: :)} }\n\
    p10k_precmd() { PS1=$'$(up)╭─ ~ $(fill)ctx ─╮\\n╰─❯ %{\\e]133;B\\a%}'; RPS1='─╯' }\n\
    add-zsh-hook precmd p10k_precmd\n";
/// Shows the mode of vi's keys, and draws the prompt again when the mode changes.
const ZSH_MODE: &str = "bindkey -v\nKEYTIMEOUT=1\nPS1='(ins)own> '\n\
    zle-keymap-select() { PS1=\"(${${KEYMAP/vicmd/cmd}/(viins|main)/ins})own> \"; zle reset-prompt }\n\
    zle -N zle-keymap-select\n";

const CASES: &[Case] = &[
    Case { program: "bash", settings: "PS1='own$ '\n", shown: &["own$"], ..CASE },
    Case { program: "bash", settings: "PS1='dir\\nown$ '\n", shown: &["dir", "own$"], ..CASE },
    Case {
        program: "bash",
        settings: "PS1='$(printf \"dir\\nmain\\nown\")$ '\n",
        shown: &["dir", "main", "own$"],
        ..CASE
    },
    Case {
        program: "bash",
        settings: "PS1='dir\\n\\[\\e7\\e[999C\\e[4Dright\\e8\\]own$ '\n",
        shown: &["dir", "own$"],
        ..CASE
    },
    Case {
        program: "bash",
        settings: "PS1='own$ '\nset -o vi\n",
        inputrc: "set show-mode-in-prompt on\n",
        shown: &["(ins)own$"],
        has_vi_keys: true,
        ..CASE
    },
    Case {
        program: "bash",
        settings: "PS1='dir\\nown$ '\nset -o vi\n",
        inputrc: "set show-mode-in-prompt on\n",
        shown: &["dir", "(ins)own$"],
        has_vi_keys: true,
        ..CASE
    },
    Case {
        program: "bash",
        settings: "PS1='own$ '\n",
        inputrc: "set show-mode-in-prompt on\n",
        shown: &["@own$"],
        ..CASE
    },
    Case {
        program: "bash",
        settings: BASH_LIKE_STARSHIP,
        shown: &["", "dir on main", "❯"],
        ..CASE
    },
    Case {
        program: "bash",
        settings: "PS1='own$ '\nset -o vi\n",
        late: "hook() { PS1='dir\\nlate$ '; }; PROMPT_COMMAND=hook",
        shown: &["dir", "late$"],
        has_vi_keys: true,
        ..CASE
    },
    Case { program: "zsh", settings: "PS1='own> '\n", shown: &["own>"], ..CASE },
    Case { program: "zsh", settings: "PS1=$'dir\\nown> '\n", shown: &["dir", "own>"], ..CASE },
    Case {
        program: "zsh",
        settings: "PS1=$'dir\\nown> '\nRPS1='right'\nbindkey -v\n",
        shown: &["dir", "own>"],
        has_vi_keys: true,
        ..CASE
    },
    Case { program: "zsh", settings: ZSH_MODE, shown: &["(ins)own>"], has_vi_keys: true, ..CASE },
    Case { program: "zsh", settings: ZSH_LIKE_POWERLEVEL10K, shown: &["dir main", "❯"], ..CASE },
    Case {
        program: "zsh", settings: ZSH_WITH_OWN_MARKS, shown: &["╭─ ~", "╰─❯"], ..CASE
    },
    Case {
        program: "zsh",
        settings: "PS1='own> '\n",
        late: "precmd() { PS1=$'dir\\nlate> ' }",
        shown: &["dir", "late>"],
        ..CASE
    },
    Case {
        program: "zsh",
        settings: "PS1='own> '\nTRAPWINCH() { PS1=$'dir\\nown> '; zle && zle reset-prompt }\n",
        late: "TRAPWINCH",
        shown: &["dir", "own>"],
        ..CASE
    },
    Case {
        program: "zsh",
        settings: "set_prompt() { PS1=\"${(l:COLUMNS-1::-:)}\"$'\\nown> ' }\nprecmd_functions=(set_prompt)\n\
            TRAPWINCH() { set_prompt; zle && zle reset-prompt }\n",
        shown: &["-----", "own>"],
        ..CASE
    },
    Case {
        program: "fish",
        settings: "set -g fish_greeting\nfunction fish_prompt; echo -n 'own> '; end\n",
        shown: &["own>"],
        ..CASE
    },
    Case {
        program: "fish",
        settings: "set -g fish_greeting\nfunction fish_prompt; echo dir; echo 'own> '; end\n",
        shown: &["dir", "own>"],
        ..CASE
    },
    Case {
        program: "fish",
        settings: "set -g fish_greeting\nfunction fish_prompt; echo -n 'own> '; end\nfunction fish_right_prompt; echo right; end\n",
        shown: &["own>"],
        ..CASE
    },
    Case {
        program: "fish",
        settings: "set -g fish_greeting\nfunction fish_prompt; echo -n 'own> '; end\nfish_vi_key_bindings\n",
        shown: &["[I] own>"],
        has_vi_keys: true,
        ..CASE
    },
    Case {
        program: "fish",
        settings: "set -g fish_greeting\nfunction fish_prompt; echo -n 'own> '; end\n",
        late: "function late --on-event fish_prompt; function fish_prompt; echo dir; echo -n 'late> '; end; end",
        shown: &["dir", "late>"],
        ..CASE
    },
];

/// A shell at a prompt.
struct Shell {
    pane: Arc<Pane>,
    /// Whether the text above the screen differs, because a marked prompt leaves what Ctrl+L clears in the history.
    is_cleared: bool,
    _home: TempDir,
    _mux: Arc<Mux>,
}

impl Shell {
    /// Starts a shell, changes its prompt, and runs a command.
    fn start(case: &Case, is_integrated: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        // By default, Ctrl+L inserts itself in vi's insert mode.
        let clear = "set keymap vi-insert\n\"\\C-l\": clear-screen\nset keymap emacs\n";
        std::fs::write(home.join(".inputrc"), format!("{clear}{}", case.inputrc)).unwrap();
        let mux = mux_of(home, is_integrated);
        let pane = shell_in(&mux, case.program, home, case.settings);
        let shell = Self { pane, is_cleared: false, _home: directory, _mux: mux };
        if !case.late.is_empty() {
            shell.wait_for("the first prompt", |shell| shell.is_at(&["own"], ""));
            shell.write(&format!("{}\r", case.late));
        }
        shell.wait_for("the prompt", |shell| {
            let is_later = case.late.is_empty() || shell.pane.term().cursor().row > 0;
            is_later && shell.is_at(case.shown, "")
        });
        shell.write(&format!("{COMMAND}\r"));
        shell.wait_for("the output", |shell| {
            shell.text().contains("out19-out20-\n") && shell.is_at(case.shown, "")
        });
        shell
    }

    fn write(&self, keys: &str) {
        self.pane.write(keys.as_bytes()).unwrap();
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        wait(&self.pane, what, |_| is_so(self));
    }

    /// All text, or that of the screen, with the cursor's position.
    fn text(&self) -> String {
        let term = self.pane.term();
        let first = if self.is_cleared { term.live_top() } else { term.oldest() };
        let text = |end: Point| {
            let start = Point { line: first, col: 0 };
            term.text(TextRange { start, end, block: false })
        };
        let all = text(Point { line: LineId(u64::MAX), col: u16::MAX });
        let cursor = term.cursor();
        let line = LineId(term.live_top().0 + u64::from(cursor.row));
        let column = cursor.col;
        let above = text(Point { line, col: 0 }).lines().count();
        format!("{}\n(row {above}, column {column})", all.trim_end())
    }

    /// Whether the character before the cursor has a style. fish first shows typed text without colors, and adds the
    /// colors later, for which it moves back to the beginning of the text. If the pane gets another width before that
    /// move, fish overwrites its prompt, in any terminal.
    fn is_highlighted(&self) -> bool {
        let term = self.pane.term();
        let cursor = term.cursor();
        let line = LineId(term.live_top().0 + u64::from(cursor.row));
        let mut style = 0;
        term.lines().row_cells(line, |col, cell, _| {
            if col + 1 == cursor.col {
                style = cell.style_id();
            }
        });
        style != 0
    }

    /// Whether the last rows are those of the prompt with this text, and the cursor is after the text.
    fn is_at(&self, prompt: &[&str], typed: &str) -> bool {
        let rows = screen(&self.pane);
        let row = usize::from(self.pane.term().cursor().row);
        let Some((last, above)) = prompt.split_last() else { return false };
        let Some(first) = row.checked_sub(above.len()) else { return false };
        let is_prompt =
            rows[first..row].iter().zip(above).all(|(row, shown)| row.starts_with(shown));
        let is_last = rows[row].strip_prefix(last).is_some_and(|rest| rest.contains(typed));
        is_prompt && is_last && rows[row + 1..].iter().all(String::is_empty)
    }
}

/// A shell with integration, and one without it that is not resized.
struct Pair<'a> {
    case: &'a Case,
    shell: Shell,
    plain: Shell,
    /// The text after the prompt.
    typed: String,
    /// Numbers that look random, but are the same in each run.
    random: u32,
    /// The last widths.
    widths: [u16; 8],
}

impl<'a> Pair<'a> {
    fn start(case: &'a Case) -> Self {
        let [shell, plain] = [true, false].map(|is_integrated| Shell::start(case, is_integrated));
        let mut pair = Self { case, shell, plain, typed: String::new(), random: 1, widths: [0; 8] };
        pair.type_text(TYPED);
        pair
    }

    fn random(&mut self, below: u32) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.random >> 16) % below
    }

    /// Types the same keys into both shells.
    fn write(&self, keys: &str) {
        self.shell.write(keys);
        self.plain.write(keys);
    }

    /// Types text at the end of the line, and waits until it is shown.
    fn type_text(&mut self, text: &str) {
        self.typed.push_str(text);
        self.write(text);
        self.check("typed text", |pair, shell| {
            let is_complete = pair.case.program != "fish" || shell.is_highlighted();
            shell.is_at(pair.case.shown, &pair.typed) && is_complete && pair.fault().is_none()
        });
    }

    /// How the command that the terminal has recorded at the prompt differs from the expected one. `None`: it does not.
    fn fault(&self) -> Option<String> {
        let last = commands(&self.shell.pane).pop()?;
        let term = self.shell.pane.term();
        let text = |start: Option<Point>| {
            let end = Point { line: LineId(u64::MAX), col: u16::MAX };
            start.map(|start| term.text(TextRange { start, end, block: false })).unwrap_or_default()
        };
        let is_right = last.is_prompting()
            && last.is_announced
            && text(last.prompt).starts_with(self.case.shown[0])
            && text(last.input).starts_with(&self.typed);
        let fault = || format!("{:?}, {:?}: {last:?}", text(last.prompt), text(last.input));
        (!is_right).then(fault)
    }

    /// Waits until `is_so` is true for both shells and both show the same text.
    fn check(&self, what: &str, is_so: impl Fn(&Self, &Shell) -> bool) {
        let is_same = || {
            [&self.shell, &self.plain].into_iter().all(|shell| is_so(self, shell))
                && self.shell.text() == self.plain.text()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let outcome = runtime.block_on(async {
            let (mut one, mut other) = (self.shell.pane.watch(), self.plain.pane.watch());
            tokio::time::timeout(LIMIT, async {
                while !is_same() {
                    tokio::select! {
                        changed = one.changed() => changed.unwrap(),
                        changed = other.changed() => changed.unwrap(),
                    }
                }
            })
            .await
        });
        let (shell, plain) = (self.shell.text(), self.plain.text());
        assert!(
            outcome.is_ok(),
            "{}, {what}: {shell}\n--- without integration:\n{plain}\n--- {:?}",
            self.named(),
            self.fault()
        );
    }

    fn named(&self) -> String {
        format!("{} {:?} {:?}", self.case.program, self.case.settings, self.case.late)
    }

    /// Resizes the shell with integration many times, and then to its first size. `waits`: waits after about half of the
    /// resizes until the shell prints something, so that the next resize may come while the shell draws.
    fn resize(&mut self, count: usize, waits: bool) {
        let pane = Arc::clone(&self.shell.pane);
        for _ in 0..count {
            // If the shell missed some resizes, the width must still differ from the width that the shell last read.
            let width = loop {
                let width = 12 + self.random(100) as u16;
                if !self.widths.contains(&width) && width != SIZE.0 {
                    break width;
                }
            };
            self.widths.rotate_left(1);
            self.widths[7] = width;
            let size = Size::cells(width, 20 + self.random(30) as u16);
            let resized = pane.resize_following(size, &mut []);
            if waits && self.random(2) == 0 {
                wait(&pane, "a drawing", |pane| pane.term().seq() > resized);
            }
        }
        pane.resize(Size::cells(SIZE.0, SIZE.1));
    }

    /// Both shells draw the prompt on an empty screen.
    fn clear(&mut self) {
        self.write("\x0c");
        let first = self.case.shown[0];
        (self.shell.is_cleared, self.plain.is_cleared) = (true, true);
        self.check("Ctrl+L", |_, shell| screen(&shell.pane)[0].starts_with(first));
        self.type_text("l");
    }

    /// Searches the history, with resizes meanwhile, and returns to the line.
    fn search(&mut self) {
        self.write("\x12");
        self.check("Ctrl+R", |_, shell| {
            screen(&shell.pane).iter().any(|row| row.contains("search"))
        });
        // Without marks, only slow resizes leave no old drawings.
        resize_slowly(&self.shell.pane, &[40, 100, 60, 30, SIZE.0]);
        let (key, found) = match self.case.program {
            "fish" => ("\x1b", ""),
            _ => ("prin", "prin"),
        };
        self.write(key);
        if !found.is_empty() {
            self.check("a match", |_, shell| {
                screen(&shell.pane).iter().any(|row| row.contains("search") && row.contains(found))
            });
            self.write("\x07");
        }
        self.type_text("r");
    }

    /// Changes to vi's command mode, with resizes meanwhile, and back.
    fn command_mode(&mut self) {
        let column = |shell: &Shell| shell.pane.term().cursor().col;
        let before = column(&self.plain);
        self.write("\x1b");
        self.check("command mode", |_, shell| column(shell) + 1 == before);
        self.resize(10, false);
        self.resize(10, true);
        // The shell handles all resizes in this mode before it handles the next key.
        self.write("0");
        let first = before - self.typed.len() as u16;
        self.check("the beginning of the line", |_, shell| column(shell) == first);
        self.write("A");
        self.type_text("v");
    }

    /// Enters the line.
    fn enter(&mut self) {
        self.write("\r");
        let output = self.typed.strip_prefix("echo ").unwrap();
        self.check("the output", |pair, shell| {
            shell.text().contains(&format!("\n{output}\n")) && shell.is_at(pair.case.shown, "")
        });
        let expected = (self.typed.clone(), Some(0), output.to_owned());
        assert_eq!(last_ended(&self.shell.pane), expected, "{}", self.named());
        assert!(is_asking(&self.shell.pane), "{}", self.named());
    }
}

/// Resizes a pane, each time after its shell has drawn for the width before.
fn resize_slowly(pane: &Pane, widths: &[u16]) {
    for width in widths {
        let resized = pane.resize_following(Size::cells(*width, SIZE.1), &mut []);
        wait(pane, "a drawing", |pane| pane.term().seq() > resized);
        wait_until_settled(pane);
    }
}

fn check(program: &str) {
    for case in CASES.iter().filter(|case| case.program == program) {
        let mut pair = Pair::start(case);
        for waits in [false, true] {
            pair.resize(RESIZES, waits);
            // A shell handles all resizes before it inserts a character that is typed later.
            pair.type_text("x");
        }
        pair.clear();
        // With vi's keys, zsh and fish do not bind Ctrl+R to the search.
        if !case.has_vi_keys || program == "bash" {
            pair.search();
        }
        if case.has_vi_keys {
            pair.command_mode();
        }
        pair.enter();
    }
}

#[test]
fn prompts_of_bash_survive_redraws_and_resizes() {
    check("bash");
}

#[test]
fn prompts_of_zsh_survive_redraws_and_resizes() {
    check("zsh");
}

#[test]
fn prompts_of_fish_survive_redraws_and_resizes() {
    check("fish");
}
