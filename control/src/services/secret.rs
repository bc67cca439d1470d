//! Whether the program in a pane asks for a secret: a password is the person's to type, and nobody else's to know.
//!
//! The terminal's settings say it where a program reads a line without echo (ICANON without ECHO), as `getpass`, `ssh` and
//! `read -s` do. One that takes every key by itself (neither of the two), as those do that show an asterisk for each, sets
//! them as every shell's editor does, and so does a program that shows another terminal, as `ssh` and `tmux` do; there the line
//! that the cursor stands in decides, where it is all of a question for a password and nothing else, and where it does not
//! show what was typed. Where the cursor's row holds no more than the field, it is the line above. On the alternate screen an
//! editor's text may be such a line; there it counts between the sides of a box that is closed all around, as
//! `pinentry-curses` draws one, with nothing but the field behind the cursor, and in a multiplexer's part of the screen that
//! has nothing behind the cursor and below it. With something below it counts where one of the multiplexer's own terminals has
//! a line read without echo.
//!
//! What stays unseen: a question in other words or another language than these, another one on the alternate screen, also
//! within the `tmux` of another machine with something below it, one whose cursor stands elsewhere, and what a program reads
//! without asking. What is wrongly seen: a question for a password whose answer is shown, until its first character is.

mod field;

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use unterm_mux::{Pane, carries_secret, is_carrier};
use unterm_term::{Modes, Term};

use self::field::Label;

/// The longest question, in bytes.
const LONGEST: usize = 500;

/// Words for a secret.
const WORDS: &[&str] = &[
    "pass ?(?:word|phrase|code)",
    "pin(?:[ -]code)?",
    "code pin",
    "(?:pass|kenn)wort",
    "mots? de passe",
    "phrase (?:secrète|de passe)",
    "(?:frase de )?contrase(?:ñ|n)a",
    "frase de paso",
    "senha",
    "palavra-passe",
    "parola(?: d'ordine)?",
    "wachtwoord",
    "l(?:ö|o)senord",
    "adgangskode",
    "passord",
    "salasana",
    "has(?:ł|l)o",
    "heslo",
    "jelsz(?:ó|o)",
    "parolă",
    "(?:ş|s)ifre(?:si)?",
    "пароль",
    "κωδικός",
];
/// Those of languages that don't part words, or add to them.
const UNPARTED: &[&str] =
    &["密码", "密碼", "口令", "パスワード", "パスフレーズ", "비밀번호", "암호", "पासवर्ड"];
/// What may come right behind such a word: adjectives, and verbs that a language puts last.
const BEHIND: &[&str] = &[
    ", try again",
    "\\s+(?:actuel|actual|attuale|atual)",
    "\\s+(?:erneut|noch einmal)?\\s*(?:ein(?:geben)?)?",
    "\\s*(?:を|를|을|短语|短語)?\\s*(?:再|다시)?\\s*(?:入力|입력)(?:してください|하세요|하십시오)?",
    "短语|短語",
];

/// A line that is all of a question for a secret: what comes before the word for it, the word, for what or whom, a colon or
/// what stands for one, a hint, and a sign for each character that was typed. No sign of a shell's prompt is before it, and
/// no colon, which would be another prompt's; the colon in what sudo-rs begins with is its own.
static QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = format!(r"\b(?:{})\b|{}", WORDS.join("|"), UNPARTED.join("|"));
    let behind = BEHIND.join("|");
    // What a question is made of, quoted names with anything in them among it.
    const PART: &str = r#"(?:'[^'\n]*'|"[^"\n]*"|«[^»\n]*»|[^$#%>=❯➜λ»›:：\n])"#;
    const WHOSE: &str =
        r"for|of|to|on|again|für|von|auf|pour|de|per|di|para|do|da|voor|för|для|dla|pro";
    const HINT: &str = r"[\[(（][^\])）/\n]*[\])）]";
    let line = format!(
        "(?i)^\\s*(?:\\[sudo:[^\\]\\n]*\\]\\s*)?(?:[^\\w\\s$#%>=❯➜λ»›:]{{1,4}}\\s+)?\
         {PART}*?(?:{words})(?:{behind})?\
         (?:\\s*{HINT})?(?:\\s+(?:{WHOSE})\\b{PART}*?)?(?:\\s*{HINT})?\
         (?:\\s*(?:[:：›»]|\\?\\s*[:›»])\\s*(?:{HINT})?|\\s*\\[(?:input is )?hidden\\])\\s*[*•●∗·▪■]*\\s*$"
    );
    Regex::new(&line)
        .map_err(|error| tracing::error!(%error, "questions for secrets are not seen"))
        .ok()
});

/// Whether a pane's program asks for a secret now.
pub fn is_asked(pane: &Pane) -> bool {
    let process = pane.process();
    if process.reads_secret() {
        return true;
    }
    if process.echo() != Some(false) {
        return false;
    }
    // A multiplexer's, or that of one at the other end.
    let is_full = pane.term().modes().contains(Modes::ALT_SCREEN);
    let foreground = if is_full { pane.foreground() } else { None };
    let carrier = foreground.filter(|process| is_carrier(&process.name));
    let line = asking(&pane.term(), carrier.is_some());
    let line = line.or_else(|| asking_above_text(pane, &carrier?.name));
    line.is_some_and(|line| !shows(&line, &pane.typed()))
}

/// The question that the cursor stands behind in a multiplexer, with something below it, where one of its terminals has a
/// secret read.
fn asking_above_text(pane: &Pane, carrier: &str) -> Option<String> {
    let line = question(field::labels_above_text(&pane.term()))?;
    carries_secret(carrier).then_some(line)
}

/// Whether a line shows what was typed, as an editor of lines does.
fn shows(line: &str, typed: &str) -> bool {
    let typed = typed.trim();
    typed.contains(char::is_alphanumeric) && line.trim_end().ends_with(typed)
}

/// The question that the cursor stands behind, or below.
fn asking(term: &Term, is_shared: bool) -> Option<String> {
    question(field::labels(term, is_shared))
}

/// The first of these that is a question.
fn question(labels: Vec<Label>) -> Option<String> {
    let is_asked = |Label { text, has_field }: &Label| {
        text.len() <= LONGEST
            && (is_question(text) || *has_field && is_question(&format!("{text}:")))
    };
    labels.into_iter().find(is_asked).map(|label| label.text)
}

fn is_question(line: &str) -> bool {
    QUESTION.as_ref().is_some_and(|question| question.is_match(line))
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    #[test]
    fn questions_for_a_password_are_seen() {
        for line in [
            "Password:",
            "Password: ",
            "password: ***",
            "[sudo] password for me: ",
            "[sudo] password for me: ••••",
            "me@host's password:",
            "Enter passphrase for key '/home/me/.ssh/id_ed25519': ",
            "Enter passphrase (empty for no passphrase): ",
            "Password for 'https://me@example.org': ",
            "(current) UNIX password: ",
            "Retype new password:",
            "Enter PIN for 'my key': ",
            "🔐 Enter passphrase for disk: (press TAB for no echo) ",
            "? Password: [hidden]",
            "? Enter a password [input is hidden] ",
            "? What is your password? › ***",
            "npm password:",
            "[sudo] Passwort für me: ",
            "[sudo] Mot de passe de me : ",
            "[sudo] contraseña para me: ",
            "[sudo] пароль для me: ",
            "[sudo] me 的密码：",
            "[sudo] me のパスワード: ",
            "[sudo] me 암호: ",
            "[sudo: authenticate] Password: ***",
            "BECOME password[defaults to SSH password]: ",
            "Vault password (default): ",
            "Enter PEM pass phrase:",
            "Bad passphrase, try again for /home/me/.ssh/id: ",
            "Enter PIN: ",
            "Enter PIN for ECDSA-SK key /home/me/.ssh/id_ecdsa_sk: ",
            "Code PIN : ",
            "Geben Sie das neue Passwort erneut ein: ",
            "Neues Passwort erneut eingeben:",
            "Mot de passe actuel : ",
            "Retapez le nouveau mot de passe : ",
            "Saisissez la phrase secrète pour la clé « /home/me/.ssh/id » : ",
            "Contraseña actual: ",
            "Vuelva a escribir la nueva contraseña: ",
            "Frase de contraseña: ",
            "新しいパスワードを再入力してください:",
            "パスフレーズを入力: ",
            "重新输入新的密码：",
            "密码短语：",
            "새 암호 다시 입력:",
        ] {
            assert!(is_question(line), "{line}");
        }
    }

    #[test]
    fn an_editor_of_lines_shows_what_is_typed() {
        assert!(shows("(gdb) print password:", "print password:"));
        assert!(!shows("Password: ***", "abc"));
        assert!(!shows("Password:", ":") && !shows("Password:", ""));
    }

    #[test]
    fn what_is_typed_or_told_is_no_question() {
        for line in [
            "",
            "$ echo password:",
            "me@host:~$ echo Password:",
            "host% password:",
            "root@host:/# passphrase:",
            "~ ❯ password:",
            "➜  unterm git:(main) ✗ echo password:",
            ">>> password:",
            "In [3]: password:",
            "mysql> set password:",
            "db=# password:",
            "PASSWORD=",
            "Password length: ",
            "? Reset password? (Y/n) ",
            "Save password: (y/N) ",
            "Password changed",
            "Spinner: ",
            "  password: hunter2",
            "error: wrong password: ",
            "Passwort eintragen in: ",
            "[me@host: ~] password:",
            "mot de passe actuellement: ",
            "パスワードを入力しました: ",
            "密码错误：3",
        ] {
            assert!(!is_question(line), "{line}");
        }
    }

    #[test]
    fn a_full_screen_program_asks_in_a_box_of_its_own() {
        const FULL: &str = "\x1b[?1049h\x1b[H";
        // As pinentry-curses draws it, its cursor behind what was typed.
        const PIN: &str = "┌───────────────────┐\r\n│ Unlock the key:   │\r\n│                   │\r\n\
                           │ PIN: ____________ │\r\n│   <OK>  <Cancel>  │\r\n└───────────────────┘";
        let typed = "\x1b[4;8H\x1b[m**";
        let open = PIN.replace(['└', '┘'], " ");
        let answered = PIN.replace("____________", "1234        ");
        let japanese = PIN.replace("PIN: ____________ ", "パスワード: _____ ");
        let sides = [("│", "┃"), ("┌", "┏"), ("┐", "┓"), ("└", "┗"), ("┘", "┛")];
        let heavy =
            sides.into_iter().fold(PIN.to_owned(), |drawn, (one, other)| drawn.replace(one, other));
        for (drawn, cursor, question) in [
            (PIN, "\x1b[4;8H", Some("PIN:")),
            (PIN, typed, Some("PIN: **")),
            (heavy.as_str(), typed, Some("PIN: **")),
            (japanese.as_str(), "\x1b[4;15H", Some("パスワード:")),
            // Elsewhere in it, and where the answer is shown.
            (PIN, "\x1b[2;19H", None),
            (PIN, "\x1b[5;6H", None),
            (PIN, "\x1b[4;3H", None),
            (PIN, "\x1b[7;1H", None),
            (answered.as_str(), "\x1b[4;8H", None),
            (answered.as_str(), "\x1b[4;12H", None),
            // Windows of an editor side by side, and its text.
            (open.as_str(), typed, None),
            ("password: ", "", None),
            ("│password: ", "", None),
            ("a │password:   │ b\r\n~ │            │ ~", "\x1b[1;13H", None),
        ] {
            let mut term = Term::new(Size::cells(40, 10), Options::default());
            Parser::new().advance(&mut term, format!("{FULL}{drawn}{cursor}").as_bytes());
            let asked = asking(&term, false);
            assert_eq!(asked.as_deref().map(str::trim), question, "{drawn}{cursor:?}");
        }
    }

    /// What is asked on a screen of 40 columns and 10 rows.
    fn asked(output: &str, is_shared: bool) -> Option<String> {
        let mut term = Term::new(Size::cells(40, 10), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        asking(&term, is_shared).map(|text| text.trim().to_owned())
    }

    #[test]
    fn a_question_may_stand_above_its_field() {
        let password = || Some("Password:".to_owned());
        for output in [
            "Password: ",
            "Password: [",
            "Password:\r\n",
            "Password:\r\n  ",
            "Password:\r\n  ****",
            "Password:\r\n[________]\x1b[9D",
            "Password:\r\n┃ ",
        ] {
            assert_eq!(asked(output, false), password(), "{output:?}");
        }
        // A field of its own says as much as a colon.
        assert_eq!(asked("Your password\r\n│ ", false).as_deref(), Some("Your password"));
        const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
        for output in [
            "Your password\r\n",
            "Password:\r\n\r\n",
            "Password:\r\n> ",
            "Password:\r\n$ ",
            "Password:\r\n... ",
            "Password:\r\nhunter2",
            "Password:\r\n  right\r",
            "password: hunter2\r\n",
            "Wrong password\r\n",
            ">>> \"\"\"password:\r\n",
            &format!("{PROMPT}echo '\r\npassword:\r\n"),
        ] {
            assert_eq!(asked(output, false), None, "{output:?}");
        }
        // In a box, also above the field's own, or a blank row.
        const FULL: &str = "\x1b[?1049h\x1b[H";
        let own = "┌──────────────┐\r\n│ Password     │\r\n│ ┌──────────┐ │\r\n│ │**        │ │\r\n\
                   │ └──────────┘ │\r\n└──────────────┘\x1b[4;6H";
        let apart = "┌──────────────┐\r\n│ New password │\r\n│              │\r\n│ ____________ │\r\n\
                     └──────────────┘\x1b[4;3H";
        for (drawn, text) in [(own, "Password"), (apart, "New password")] {
            assert_eq!(asked(&format!("{FULL}{drawn}"), false).as_deref(), Some(text), "{drawn}");
            let other = drawn.replace("assword", "roject ");
            assert_eq!(asked(&format!("{FULL}{other}"), false), None, "{other}");
        }
    }

    #[test]
    fn a_part_of_a_multiplexers_screen_is_a_terminal() {
        // Two parts side by side, and below the second a third.
        let screen = |right: &str, below: &str| {
            let mut drawn = String::from("\x1b[?1049h\x1b[H");
            for row in 1..=9 {
                drawn += &format!("\x1b[{row};1Hother text to read │");
            }
            drawn += "\x1b[7;20H├────────────────────\x1b[8;21H$ make\x1b[10;1H[0] 0:sh*   \"host\" 12:00";
            for (at, text) in below.lines().enumerate() {
                drawn += &format!("\x1b[{};21H{text}", at + 4);
            }
            for (at, text) in right.lines().enumerate() {
                drawn += &format!("\x1b[{};21H{text}", at + 1);
            }
            drawn
        };
        let long = "Enter passphrase for\n key '/home/me/id': ";
        for (right, text) in [
            ("$ sudo make\nPassword: ", "Password:"),
            ("$ sudo make\n[sudo] password: ", "[sudo] password:"),
            ("$ login\nPassword:\n  **", "Password:"),
            (long, "Enter passphrase for key '/home/me/id':"),
        ] {
            assert_eq!(asked(&screen(right, ""), true).as_deref(), Some(text), "{right}");
            // Of an editor that is split this is the text.
            assert_eq!(asked(&screen(right, ""), false), None, "{right}");
            // An editor within has something below, and so may a program that is known to read without echo.
            let crowded = screen(right, "~\n~");
            assert_eq!(asked(&crowded, true), None, "{right}");
            let mut term = Term::new(Size::cells(40, 10), Options::default());
            Parser::new().advance(&mut term, crowded.as_bytes());
            let line = question(field::labels_above_text(&term));
            assert_eq!(line.as_deref().map(str::trim), Some(text), "{right}");
        }
        for right in [
            "$ echo password:",
            "password:\n$ ",
            "password: hunter2",
            "Password:\nhunter2",
            "password: \x1b[3D",
        ] {
            assert_eq!(asked(&screen(right, ""), true), None, "{right}");
        }
        // All of the screen is one part.
        let one = "\x1b[?1049h\x1b[Hlast login\r\nPassword: \x1b7\x1b[10;1H[0] 0:sh*\x1b8";
        assert_eq!(asked(one, true).as_deref(), Some("Password:"));
        let vim = one.replace("\x1b[10;1H", "\x1b[9;1H-- INSERT --\x1b[10;1H");
        assert_eq!(asked(&vim, true), None);
    }
}
