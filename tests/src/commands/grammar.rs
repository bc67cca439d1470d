//! The grammar of shell commands. It consists of rows, in which `@` and a letter are replaced by a random choice.
//!
//! Owns the rows. Every row has the same result in an interactive shell as in `SHELL -c`, except for the differences
//! that `compare.rs` explains.

/// The rows that may replace `@` and this letter. One of them is chosen, and its own `@` are replaced too.
pub fn part(letter: char) -> Option<&'static [&'static str]> {
    Some(match letter {
        'w' => WORDS,
        'u' => WIDE,
        'q' => QUOTED,
        'p' => PRODUCERS,
        'f' => FILTERS,
        'c' => SIMPLE,
        't' => CONDITIONS,
        _ => return None,
    })
}

const WORDS: &[&str] =
    &["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "if", "done", "x"];
const WIDE: &[&str] = &["é", "∀", "漢字", "🦀", "ß", "e\u{301}", "한글", "👩‍🔬"];
const QUOTED: &[&str] = &[
    "@w",
    "'@w @w'",
    "\"@w @w\"",
    "'$HOME `@w` \\n'",
    "'!@w !! #@n'",
    "'*?[a] {@w} ~'",
    "'&& || ; | > <'",
    "'say \"@w\"'",
    "\"it's @w\"",
    "'@u@w@u'",
    "''",
    "'  @w  '",
    "\"(@w) @n%\"",
    "'a\\b\\\\c'",
];
const PRODUCERS: &[&str] = &[
    "seq @k",
    "printf '%s\\n' @w @w @q @w",
    "echo @q",
    "seq @k | sed 's/$/ @w/'",
    "printf '@w @n\\n@w @n\\n'",
    "printf 'b\\na\\nb\\nc\\n'",
    "awk 'BEGIN { for (i = 0; i < @k; i++) print i * i, \"@w\" }'",
];
const FILTERS: &[&str] = &[
    "sort",
    "sort -r",
    "sort -n",
    "uniq -c",
    "head -n @n",
    "tail -n @n",
    "tr a-z A-Z",
    "tr -d aeiou",
    "cut -c 1-@n",
    "rev",
    "nl",
    "wc -l",
    "wc -c",
    "sed -n '1~2p'",
    "sed 's/[aeiou]/<&>/g'",
    "grep -c @w",
    "grep -v @n",
    "awk '{ print NR \": \" $0 }'",
    "paste -sd, -",
    "fold -w @n",
    "cat -A",
    "cat",
    "od -c",
];
/// Rows for every shell.
const SIMPLE: &[&str] =
    &["echo @q", "echo @w @n", "printf '%s\\n' @q @w", "true", "false", "seq @n"];
const CONDITIONS: &[&str] = &["[ @n -gt @n ]", "test @w = @w", "true", "false", "[ -d / ]"];

/// Rows for bash and zsh.
pub const POSIX: &[&[&str]] = &[
    // Quoting and expansion.
    &[
        "echo @q @q @q",
        "printf '%s|' @q @q; echo",
        "printf '<%s>\\n' @q @u @q",
        "x=@q; echo \"$x\" \"${x}\" \"${#x}\" \"${x:-@w}\"",
        "printf '%s\\n' $'@w\\t@w\\n@w'",
        "echo \"$(echo @q)\" `echo @w`",
        "A=@w B=@n sh -c 'echo $A $B'",
        "echo \"$((@k * @n + @k))\"",
        "echo {@w,@w}-{1..@n}",
        "echo @u@w@u @u",
        "set -- @q @w @q; printf '%s\\n' $# \"$2\"; shift; echo \"$*\"",
        "echo @w # @q",
        "echo one \\\n  @w",
        "a=(@w @q @w); echo \"${#a[@@]}\" \"${a[@@]}\"",
        "x=@w; echo \"${x#?}\" \"${x%?}\" \"${x/@w/@w}\"",
        "echo \"@w\n@w\"",
        "eval 'echo @w; echo \"@w @n\"'",
        "echo ~+ >/dev/null; echo @q >&2",
    ],
    // Pipelines.
    &[
        "@p | @f",
        "@p | @f | @f",
        "@p | @f | @f | @f",
        "@p | while read -r l; do echo \"<$l>\"; done",
        "(set -o pipefail; @p | @f | false; echo $?)",
        "@p | tee /dev/null | @f",
        "@p | @f && echo @w || echo @w",
        "diff <(@p) <(@p)",
        "! @p | grep -q @w",
        "@p | { read -r first; echo \"first: $first\"; @f; }",
        "x=$(@p | @f); echo \"$x\"",
    ],
    // Here-documents.
    &[
        "cat <<EOF\n@w @q\n$((@n + @n)) $HOME\nEOF",
        "cat <<'EOF'\n$HOME `x` @w\\t !!\n\n  @u\nEOF",
        "cat <<-EOF\n\t@w\n\t\t@w\n\tEOF",
        "@f <<EOF\n@w\n@k\n@w\nEOF",
        "cat <<A; cat <<B\n@w\nA\n@w\nB",
        "@f <<< @q",
        "while read -r a b; do echo \"$b $a\"; done <<EOF\n@w @w\n@w @w @w\nEOF",
        "{ cat; echo @w; } <<EOF | @f\n@w\n@w\nEOF",
    ],
    // Loops and choices.
    &[
        "for i in @w @q @w; do echo \"$i @n\"; done",
        "for ((k = 0; k < @n; k++)); do @c; done",
        "i=0; while [ $i -lt @n ]; do i=$((i + 1)); [ $i = 2 ] && continue; echo $i; done",
        "i=@n; until [ $i -le 0 ]; do echo $i; i=$((i - 1)); done",
        "for i in 1 2; do for j in a b; do echo $i$j; @c; done; done",
        "case @w in a*) echo A;; *o) echo O; false;; *) echo other;; esac",
        "if @t; then @c; elif @t; then @c; else @c; fi",
        "for i in 1 2 @n\ndo\n  echo $i\n  @c\ndone",
        "while true; do @c; break; done",
        "if @t\nthen\n\techo @w\nelse\n\techo @w\nfi",
        "for i in $(seq @n); do @t && break; echo $i; done; echo $i",
    ],
    // Functions.
    &[
        "f@N() { echo \"f $1\"; return @n; }; f@N @q",
        "function g@N { local x=@w; echo \"$x\"; @c; }; g@N; g@N | @f",
        "h@N() { [ \"$1\" -le 0 ] && return 0; echo \"$1\"; h@N $(($1 - 1)); }; h@N @n",
        "f@N() {\n  @c\n  @c\n}\nf@N",
        "f@N() ( cd /; pwd; exit @n ); f@N",
        "f@N() { @p; }; f@N | @f; f@N | @f",
        "f@N() { cat <<EOF\n@w $1\nEOF\n}; f@N @w",
    ],
    // Exit codes.
    &[
        "(exit @x)",
        "sh -c 'exit @x'",
        "@c; (exit @n)",
        "true && false || (exit @n)",
        "! true",
        "@t",
        "[[ @w == @w ]]",
        "no-such-command-@N",
        "cat /nonexistent-@N",
        "cd /nonexistent-@N",
        "/etc/passwd",
        "sh -c 'kill -TERM $$'",
        "sh -c 'echo @w; kill -KILL $$'",
        "(exit @n) | cat",
        "timeout 0.05 sleep 5",
        "(trap 'echo bye' EXIT; echo @w; exit @n)",
        "(set -e; false; echo not reached)",
        "sh -c 'echo @w; echo @w >&2; exit @n'",
    ],
    // Syntax errors.
    &[
        "done",
        "fi",
        "then",
        "echo @w )",
        "if true; then",
        "for x in a b",
        "echo \"@w",
        "echo '@w",
        "{ echo @w",
        "(",
        "&& echo @w",
        "| cat",
        "echo $(",
        "echo @w; }",
        "case @w in",
        "esac",
    ],
    OUTPUT,
    CONTROLS,
];

/// Rows for every shell: long and wide output.
const OUTPUT: &[&str] = &[
    "seq @K",
    "seq @K | sed 's/$/ @w @w @w/'",
    "printf '%0@Kd\\n' @n",
    "head -c @K /dev/zero | tr '\\0' x",
    "yes @w | head -n @K",
    "printf '%s' @q",
    "printf '@w\\n@w'",
    "printf '\\n\\n'",
    "printf ' @w \\n  '",
    "echo -n @w",
    "echo",
    "printf '%@ks\\n' @w",
    "seq -s ' ' @K",
    "yes @u@w | head -n @k | tr -d '\\n'",
    "awk 'BEGIN { for (i = 0; i < @K; i++) printf \"%d,\", i }'",
    "printf '@w\\t@w\\t@w\\n'",
    "printf '@u\\t@u@u\\n'",
    "printf '%-200s|\\n' @w",
    "printf '@w\\n\\n\\n'",
];

/// Rows for every shell: control characters that don't change the text.
const CONTROLS: &[&str] = &[
    "printf '\\033[31m@w\\033[0m @w\\n'",
    "printf '\\033]0;@w\\007@w\\n'",
    "printf '@w\\007\\n'",
    "printf 'a\\000b\\n'",
    "printf '@w\\r\\n@w\\r\\n'",
    "printf '\\033[1;38;5;@nm@w\\033[K\\033[m\\n'",
    "command ls -1 --color=always -d / /usr /etc",
    "printf '\\033]8;;http://a.invalid\\033\\134@w\\033]8;;\\033\\134\\n'",
    "printf '\\033[?25l@w\\033[?25h'",
    "printf '\\033]133;D;5\\007\\033]133;A\\007@w\\n'",
    "printf '\\033]133;C\\007@w\\033]133;D;7\\007\\n'",
];

/// Rows for every shell: output that moves the cursor. The final screen is compared.
pub const DRAWN: &[&str] = &[
    "printf '1%%\\r2%%\\r@w\\n'",
    "printf '@w@w\\b\\bX\\n'",
    "printf '@w\\r@n\\n'",
    "printf '@w\\n\\033[2J\\033[H@w\\n@w\\n'",
    "printf 'one\\ntwo\\n\\033[1A\\033[2K@w\\n'",
    "printf '@w@w\\033[3D@w\\n'",
    "printf '@w\\033[10G@w\\n'",
    "printf 'a\\tb\\b-\\n'",
    "printf '@w\\n@w\\n@w\\n\\033[2A\\033[J@w\\n'",
    "printf '10%%\\r\\033[K20%%\\r\\033[K@k%%'",
    "printf '@w\\rX\\n\\033[32m@w\\033[m\\n'",
];

/// Rows for bash and zsh: jobs that write at any time.
pub const BACKGROUND: &[&str] = &[
    "(sleep .0@n; echo late-@N.) &",
    "(sleep .@n; echo late-@N.) &",
    "(sleep .0@n; echo late-@N.) & @c",
    "{ sleep .0@n; printf late-@N.; } &",
    "(sleep .0@n; echo late-@N. >&2) & wait; echo @w",
    "sleep .0@n && echo late-@N. &",
    "sh -c 'for i in 1 2 3; do sleep .0@n; echo late-@N.; done' &",
    "( (sleep .0@n; echo late-@N.) & )",
    "(sleep .0@n; printf '\\033[31mlate-@N.\\033[0m\\n') &",
    "sleep .0@n &",
    "(exit @n) & wait $!",
    "(sleep .0@n; printf 'late-@N.\\n\\nlate-@N.\\n') & @p | @f",
    "(sleep .0@n; yes late-@N. | head -n 30) & sleep .0@n; echo @w",
];

/// A command that reads typed input.
#[derive(Clone, Copy)]
pub struct Reader {
    /// The command.
    pub command: &'static str,
    /// The prompt that the command shows.
    pub question: &'static str,
    /// The input typed at the prompt.
    pub typed: &'static str,
    /// The command that a subprocess runs instead, with the same input on stdin. If empty, the subprocess runs the same
    /// command.
    pub reference: &'static str,
}

const fn reader(command: &'static str, question: &'static str, typed: &'static str) -> Reader {
    Reader { command, question, typed, reference: "" }
}

const LESS: Reader = Reader {
    command: "seq 300 | less; echo left-@N",
    question: ":",
    typed: "q",
    reference: "echo left-@N",
};

/// Commands that read input, for bash.
pub const BASH_READERS: &[Reader] = &[
    reader("read -rsn1 -p 'key-@N? ' K; echo; echo \"got=$K\"", "key-@N?", "x"),
    reader("read -rn3 -p 'three-@N? ' K; echo; echo \"got=$K\"", "three-@N?", "abc"),
    reader("read -e -p 'edited-@N? ' L; echo \"got=$L\"", "edited-@N?", "@w @w\n"),
    reader("read -e -p 'edited-@N? ' L; echo \"got=$L\"; (exit @n)", "edited-@N?", "a@w\u{7f}b\n"),
    reader("read -r -p 'line-@N? ' L; echo \"got=$L\"; (exit @n)", "line-@N?", "@w\n"),
    reader("f@N() { read -r -p 'in-@N? ' L; echo \"got=$L\"; }; f@N; f@N", "in-@N?", "@w\n"),
    reader("select x in red green; do echo \"got=$x\"; break; done", "#? ", "2\n"),
    reader("printf 'head-@N> '; head -n 1 | tr a-z A-Z", "head-@N>", "@w\n"),
    reader("python3 -c 'print(\"got=\" + input(\"py-@N? \"))'", "py-@N?", "@w\n"),
    reader("bash -c 'read -rsn1 -p \"sub-@N? \" K; echo; echo \"got=$K\"'", "sub-@N?", "y"),
    LESS,
    Reader {
        command: "set +m; seq 300 >lines; less lines; set -m; echo left-@N",
        question: "lines",
        typed: "q",
        reference: "echo left-@N",
    },
];

/// Commands that read input, for zsh.
pub const ZSH_READERS: &[Reader] = &[
    Reader {
        command: "read -k1 'K?key-@N? '; echo; echo \"got=$K\"",
        question: "key-@N?",
        typed: "x",
        reference: "read -u0 -k1 K; echo \"got=$K\"",
    },
    Reader {
        command: "V=; vared -p 'edit-@N> ' V; echo \"got=$V\"",
        question: "edit-@N>",
        typed: "@w @w\n",
        reference: "read -r V; echo \"got=$V\"",
    },
    reader("read -r 'L?line-@N? '; echo \"got=$L\"; (exit @n)", "line-@N?", "@w\n"),
    reader("printf 'head-@N> '; head -n 1 | tr a-z A-Z", "head-@N>", "@w\n"),
    reader("select x in red green; do echo \"got=$x\"; break; done", "?# ", "2\n"),
    reader("bash -c 'read -rsn1 -p \"sub-@N? \" K; echo; echo \"got=$K\"'", "sub-@N?", "y"),
    LESS,
];

/// Commands that read input, for fish.
pub const FISH_READERS: &[Reader] = &[
    reader("read -P 'ask-@N> ' X; echo \"got=$X\"", "ask-@N>", "@w @w\n"),
    reader("read -n1 -P 'one-@N> ' X; echo \"got=$X\"", "one-@N>", "y"),
    reader("read -P 'code-@N> ' X; echo \"got=$X\"; sh -c 'exit @n'", "code-@N>", "@w\n"),
    reader("printf 'head-@N> '; head -n 1 | tr a-z A-Z", "head-@N>", "@w\n"),
    reader("bash -c 'read -rsn1 -p \"sub-@N? \" K; echo; echo \"got=$K\"'", "sub-@N?", "y"),
    LESS,
];

/// Rows for fish.
pub const FISH: &[&[&str]] = &[
    &[
        "echo @q @q @q",
        "printf '%s|' @q @q; echo",
        "printf '<%s>\\n' @q @u @q",
        "set x @q; echo \"$x\" (string length -- \"$x\")",
        "echo (echo @q) (echo @w)",
        "A=@w B=@n sh -c 'echo $A $B'",
        "math '@k * @n + @k'",
        "echo {@w,@w}-{1,@n}",
        "echo @u@w@u @u",
        "set a @w @q @w; echo (count $a) $a[2]",
        "echo one \\\n  @w",
        "echo \"@w\n@w\"",
        "echo @w # @q",
        "string upper @q",
        "string split o @w@w",
    ],
    &[
        "@p | @f",
        "@p | @f | @f",
        "@p | @f | @f | @f",
        "@p | while read -l l; echo \"<$l>\"; end",
        "@p | tee /dev/null | @f",
        "@p | @f; and echo @w; or echo @w",
        "not @p | grep -q @w",
        "printf '%s\\n' @w @q '$HOME' @u | @f",
        "begin; @p; @p; end | @f",
    ],
    &[
        "for i in @w @q @w; echo \"$i @n\"; end",
        "for i in (seq @n); @c; end",
        "set i 0; while test $i -lt @n; set i (math $i + 1); test $i = 2; and continue; echo $i; end",
        "for i in 1 2; for j in a b; echo $i$j; @c; end; end",
        "switch @w; case 'a*'; echo A; case '*o'; echo O; false; case '*'; echo other; end",
        "if @t; @c; else if @t; @c; else; @c; end",
        "for i in 1 2 @n\n  echo $i\n  @c\nend",
        "while true; @c; break; end",
        "begin; @c; @c; end",
    ],
    &[
        "function f@N; echo \"f $argv\"; return @n; end; f@N @q",
        "function g@N; set -l x @w; echo \"$x\"; @c; end; g@N; g@N | @f",
        "function h@N; test $argv[1] -le 0; and return 0; echo $argv[1]; h@N (math $argv[1] - 1); end; h@N @n",
        "function f@N\n  @c\n  @c\nend\nf@N",
    ],
    &[
        "sh -c 'exit @x'",
        "@c; sh -c 'exit @n'",
        "true; and false; or sh -c 'exit @n'",
        "not true",
        "@t",
        "no-such-command-@N",
        "cat /nonexistent-@N",
        "sh -c 'echo @w; echo @w >&2; exit @n'",
        "timeout 0.05 sleep 5",
        "false | true",
        "sh -c 'echo @w; kill -KILL $$'",
    ],
    &[
        "end",
        "echo @w )",
        "if true",
        "for x in a b",
        "echo \"@w",
        "echo '@w",
        "begin; echo @w",
        "(",
        "| cat",
        "else",
    ],
    OUTPUT,
    CONTROLS,
];

/// Rows for fish: jobs that write at any time.
pub const FISH_BACKGROUND: &[&str] = &[
    "sh -c 'sleep .0@n; echo late-@N.' &",
    "sh -c 'sleep .@n; echo late-@N.' &",
    "sh -c 'sleep .0@n; echo late-@N.' & @c",
    "sh -c 'sleep .0@n; printf late-@N.' &",
    "sh -c '(sleep .0@n; echo late-@N.) &'",
    "sh -c 'for i in 1 2 3; do sleep .0@n; echo late-@N.; done' &",
    "sleep .0@n &",
    "sh -c 'sleep .0@n; yes late-@N. | head -n 30' & sleep .0@n; echo @w",
];
