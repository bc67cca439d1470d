use proptest::prelude::*;

use super::*;

struct NoSurroundings;

impl Surroundings for NoSurroundings {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/user".to_owned()),
            "A" => Some("a b".to_owned()),
            "LONG" => Some("x".repeat(MOST_EXPANDED / 2)),
            _ => None,
        }
    }

    fn condition(&self, format: &str) -> bool {
        format == "1" || format == "#{true}"
    }
}

fn words(text: &str) -> Vec<Words> {
    parse(text, &NoSurroundings).unwrap().into_iter().map(|line| line.words).collect()
}

fn fails(text: &str) -> (usize, &'static str) {
    let error = parse(text, &NoSurroundings).unwrap_err();
    (error.line, error.message)
}

#[test]
fn quotes_escapes_and_variables_are_read_as_in_tmux() {
    for (text, expected) in [
        ("a b", vec![vec!["a", "b"]]),
        ("a 'b c' \"d e\"", vec![vec!["a", "b c", "d e"]]),
        ("a b'c'\"d\"", vec![vec!["a", "bcd"]]),
        ("a '' \"\"", vec![vec!["a", "", ""]]),
        (r#"a \; "\"" '\n' "\n" \e"#, vec![vec!["a", ";", "\"", "\\n", "\n", "\u{1b}"]]),
        (r"a \101\u00e9\U0001F600", vec![vec!["a", "Aé😀"]]),
        (
            "a $A ${A}b '$A' \"$A\" \\$A $ $1 $NONE",
            vec![vec!["a", "a b", "a bb", "$A", "a b", "$A", "$", "$1", ""]],
        ),
        (
            "a ~ ~/x b~ '~' ~other",
            vec![vec!["a", "/home/user", "/home/user/x", "b~", "~", "~other"]],
        ),
        ("a;b ; c\nd", vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"]]),
        ("a b \\\n c", vec![vec!["a", "b", "c"]]),
        ("# comment\na b#c #d\n", vec![vec!["a", "b#c"]]),
        ("if-shell x { a 'b }' ; c } { d }", vec![vec!["if-shell", "x", "a 'b }' ; c", "d"]]),
        ("bind x { if y { z } }", vec![vec!["bind", "x", "if y { z }"]]),
        ("X=1 a b", vec![vec!["set-environment", "-g", "X", "1"], vec!["a", "b"]]),
        ("%if 1\na\n%else\nb\n%endif\nc", vec![vec!["a"], vec!["c"]]),
        ("%if 0\na\n%elif #{true}\nb\n%else\nc\n%endif", vec![vec!["b"]]),
        ("%if 0\n%if 1\na\n%endif\n%endif\n", vec![]),
        ("a ; %if 1 b c %endif ; d", vec![vec!["a"], vec!["b", "c"], vec!["d"]]),
        ("%if 0 a %else b %endif", vec![vec!["b"]]),
        ("a %0 ; %1", vec![vec!["a", "%0"], vec!["%1"]]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn an_open_quote_or_brace_is_an_error_with_its_line() {
    assert_eq!(fails("a\nb 'c"), (2, "syntax error"));
    assert_eq!(fails("a { b"), (1, "syntax error"));
    assert_eq!(fails("a\n\nb }"), (3, "syntax error"));
    assert_eq!(fails("%if 1\na"), (2, "syntax error"));
    assert_eq!(fails("%endif"), (1, "syntax error"));
    assert_eq!(fails("a %if 1 b %endif"), (1, "syntax error"));
    assert_eq!(fails(r"a \777x\u12"), (1, "invalid \\u argument"));
    assert_eq!(fails(r"a \9\12"), (1, "invalid octal escape"));
    assert_eq!(fails("a ${"), (1, "invalid environment variable"));
    assert_eq!(fails(&"{".repeat(100_000)), (1, "syntax error"));
}

#[test]
fn lines_are_counted() {
    let lines = parse("a\n\n# b\nc 'd\ne' f\n g", &NoSurroundings).unwrap();
    let numbers: Vec<_> = lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 4, 6]);
}

#[test]
fn a_semicolon_at_the_end_of_an_argument_ends_a_command() {
    let split = |arguments: &[&str]| {
        of_arguments(&arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(split(&["a", ";", "b"]), [["a"], ["b"]]);
    assert_eq!(split(&["a;", "b", ";"]), [["a"], ["b"]]);
    assert_eq!(split(&["a", "b\\;", "c;d"]), [["a", "b;", "c;d"]]);
    assert!(split(&[";", ";"]).is_empty());
}

#[test]
fn words_are_quoted_as_tmux_quotes_them() {
    for (word, expected) in [
        ("", "''"),
        ("a", "a"),
        ("a b", "\"a b\""),
        ("x 'y' \"z\" $A", r#""x 'y' \"z\" \$A""#),
        ("a\"b", "'a\"b'"),
        ("#", "\\#"),
        ("~", "\\~"),
        ("~/a", "\\~/a"),
        ("a\tb\n", "a\\tb\\n"),
        ("$", "\\$"),
    ] {
        assert_eq!(quoted(word), expected, "{word:?}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,8}",
        "[a-z#;{}$'\"\\\\~% \\n\\t\\r]{0,10}",
        any::<String>().prop_map(|text| text.chars().take(6).collect()),
    ]
}

#[test]
fn the_values_of_variables_are_bounded() {
    assert_eq!(words("a $LONG \"${LONG}\"")[0][2].len(), MOST_EXPANDED / 2);
    assert_eq!(fails("a $LONG\nb $LONG$A"), (2, "variables too long"));
}

proptest! {
    #[test]
    fn written_commands_parse_to_the_same_commands(
        commands in prop::collection::vec(
            ("[a-z-]{1,12}", prop::collection::vec(word(), 0..5)), 0..5
        ),
    ) {
        let commands: Vec<Words> = commands
            .into_iter()
            .map(|(name, words)| std::iter::once(name).chain(words).collect())
            .collect();
        let text = print(&commands);
        prop_assert_eq!(words(&text), commands, "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ -~\\n\\t]{0,60}", other in any::<String>()) {
        let _ = parse(&text, &NoSurroundings);
        let _ = parse(&other, &NoSurroundings);
    }
}
