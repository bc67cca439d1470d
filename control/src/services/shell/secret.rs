//! Detects whether the program in a pane asks for a secret, such as a password. Only the user may type or see a secret.
//!
//! A program asks for a secret in two cases:
//! - It waits for a line that the terminal does not echo (ICANON without ECHO), as `sudo`, `ssh` and `read -s` do.
//! - It reads single keys, and the label of the field at the cursor contains a word for a secret, as with `dialog
//!   --passwordbox` and `pinentry-curses`.
//!
//! In three cases, the program may be asking for a secret, so agents must look at the screen before they type: echo is
//! off, but the program does not wait yet; the label and its field may be text in an editor; or the cursor is hidden,
//! and a label is anywhere on the screen.

mod field;

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use unterm_mux::{Pane, PaneState, ShownLine};
use unterm_term::{Modes, Term};

use self::field::{Field, MASKS};
use super::{
    kind::Shell,
    question_line::{ends_prompt, line_to_cursor},
};

/// The maximum length of a label, in bytes.
const LONGEST: usize = 500;

/// Words for a secret.
const WORDS: &[&str] = &[
    "pass ?(?:word|phrase|code)",
    "pin(?:[ -]code)?",
    "secret",
    "token",
    "api[ -]key",
    "(?:verification|one-time|2fa) code",
    "(?:pass|kenn)wort",
    "mots? de passe",
    "phrase (?:secrète|de passe)",
    "contrase(?:ñ|n)a",
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
/// Words for a secret in languages that do not separate words, or that append endings to words.
const UNPARTED: &[&str] =
    &["密码", "密碼", "口令", "パスワード", "パスフレーズ", "비밀번호", "암호", "पासवर्ड"];

/// Matches a label that ends in a colon and contains a word for a secret. No prompt sign may precede that word. After
/// the colon, there may be a hint in brackets and a mask for each typed character.
static QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = format!(r"\b(?:{})\b|{}", WORDS.join("|"), UNPARTED.join("|"));
    const HINT: &str = r"[\[(（][^\])）/\n]*[\])）]";
    let line = format!(
        r"(?i)^[^$#%>=❯➜λ»›]*?(?:{words})[^\n]*?(?:[:：›»]\s*(?:{HINT})?|\[(?:input is )?hidden\])\s*[{MASKS}]*\s*$"
    );
    Regex::new(&line)
        .map_err(|error| tracing::error!(%error, "labels of secrets are not seen"))
        .ok()
});

/// The result of the detection for a pane's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretDetection {
    /// The program does not ask for a secret.
    No,
    /// The program may be asking. Contains the reason for users, including text from the screen.
    Maybe(String),
    /// The program asks for a secret.
    Yes,
}

/// Whether a pane's program is asking for a secret now.
pub fn is_asked(pane: &Pane) -> bool {
    asked(pane) == SecretDetection::Yes
}

/// Whether a pane's program asks for a secret, or may be asking.
pub fn asked(pane: &Pane) -> SecretDetection {
    let process = pane.process();
    // The echo setting of a terminal inside another terminal, as in tmux, is unknown. There, the label on the screen
    // decides.
    let may_echo = process.echo() != Some(false) && !process.has_inner_terminal();
    if pane.state() != PaneState::Running || may_echo {
        return SecretDetection::No;
    }
    if process.reads_secret() {
        return asked_in_a_line(pane);
    }
    let (asked, label) = asked_on_screen(&pane.term());
    if asked != SecretDetection::No && shows(&label, &pane.typed()) {
        SecretDetection::No
    } else {
        asked
    }
}

/// The result for a terminal that reads lines without echo. A shell at its prompt does not ask for a secret, even after
/// `stty -echo`.
fn asked_in_a_line(pane: &Pane) -> SecretDetection {
    let is_at_prompt = {
        let term = pane.term();
        match term.commands().next_back() {
            // A shell's line editor turns echo off and on by itself, so at a prompt the echo has no meaning.
            Some(last) => !last.is_running(),
            None => ends_prompt(&line_to_cursor(&term)),
        }
    };
    let is_shell = || pane.foreground().is_some_and(|it| Shell::of_process(&it.name).is_some());
    if is_at_prompt && is_shell() {
        return SecretDetection::No;
    }
    match pane.process().awaits_input() {
        Some(false) => SecretDetection::Maybe("its terminal does not echo".to_owned()),
        Some(true) | None => SecretDetection::Yes,
    }
}

/// The result for a program that reads single keys, and the label.
fn asked_on_screen(term: &Term) -> (SecretDetection, String) {
    // The input line of a shell is not a field.
    if ShownLine::of(term).is_some() {
        return (SecretDetection::No, String::new());
    }
    let maybe = |label: &str| SecretDetection::Maybe(format!("“{}” stands there", label.trim()));
    let field = field::at_cursor(term).filter(is_secret);
    if let Some(Field { label, has_frame, .. }) = field {
        let is_masked = label.trim_end().ends_with(|char: char| MASKS.contains(char));
        let may_be_text = term.modes().contains(Modes::ALT_SCREEN) && !has_frame && !is_masked;
        return (if may_be_text { maybe(&label) } else { SecretDetection::Yes }, label);
    }
    // A program that hides the cursor draws its own cursor, so its field could be anywhere.
    if !term.cursor().visible
        && let Some(label) = field::texts(term).into_iter().find(|text| is_question(text))
    {
        return (maybe(&label), label);
    }
    (SecretDetection::No, String::new())
}

/// Whether a field's label asks for a secret. If the field has a frame, the label needs no colon.
fn is_secret(field: &Field) -> bool {
    let Field { label, is_below, has_frame } = field;
    let has_colon = label.contains([':', '：']);
    is_question(label)
        || *has_frame && (*is_below || !has_colon) && is_question(&format!("{label}:"))
}

fn is_question(label: &str) -> bool {
    label.len() <= LONGEST && QUESTION.as_ref().is_some_and(|question| question.is_match(label))
}

/// Whether a line ends with the typed text, as it does in a line editor.
fn shows(line: &str, typed: &str) -> bool {
    let typed = typed.trim();
    typed.contains(char::is_alphanumeric) && line.trim_end().ends_with(typed)
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
    fn typed_or_reported_text_is_no_question() {
        for line in [
            "",
            "$ echo password:",
            "me@host:~$ echo Password:",
            "host% password:",
            "root@host:/# passphrase:",
            "~ ❯ password:",
            "➜  unterm git:(main) ✗ echo password:",
            ">>> password:",
            "mysql> set password:",
            "db=# password:",
            "PASSWORD=",
            "? Reset password? (Y/n) ",
            "Save password: (y/N) ",
            "Password changed",
            "Spinner: ",
            "  password: hunter2",
            "密码错误：3",
        ] {
            assert!(!is_question(line), "{line}");
        }
    }

    /// The result for a program that wrote this output on a screen of 40 columns and 10 rows, and the label.
    fn asked(output: &str) -> (SecretDetection, String) {
        let mut term = Term::new(Size::cells(40, 10), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        let (asked, label) = asked_on_screen(&term);
        (asked, label.trim().to_owned())
    }

    fn yes(label: &str) -> (SecretDetection, String) {
        (SecretDetection::Yes, label.to_owned())
    }

    #[test]
    fn a_field_is_asked_for_by_the_label_in_front_of_it_or_above() {
        const FULL: &str = "\x1b[?1049h\x1b[H";
        // A box as pinentry-curses draws it.
        const PIN: &str = "┌───────────────────┐\r\n│ Unlock the key:   │\r\n│                   │\r\n\
                           │ PIN: ____________ │\r\n│   <OK>  <Cancel>  │\r\n└───────────────────┘";
        // A box as dialog draws it: its field has a frame.
        const DIALOG: &str = "┌──────────────────┐\r\n│ Your password    │\r\n│ for the disk     │\r\n\
                              │ ┌──────────────┐ │\r\n│ │**            │ │\r\n│ └──────────────┘ │\r\n\
                              ├──────────────────┤\r\n│  <OK>  <Cancel>  │\x1b[5;6H";
        // A box as whiptail draws it: its field has its own row.
        const WHIPTAIL: &str = "┌──────┤ T ├───────┐\r\n│ Enter password   │\r\n│                  │\r\n\
                                │ ________________ │\r\n│   <Ok>  <Cancel> │\r\n└──────────────────┘\x1b[4;3H";
        let japanese = PIN.replace("PIN: ____________ ", "パスワード: _____ ");
        for (drawn, cursor, label) in [
            (PIN, "\x1b[4;8H", "PIN:"),
            (PIN, "\x1b[4;8H\x1b[m**", "PIN: **"),
            (japanese.as_str(), "\x1b[4;15H", "パスワード:"),
            (DIALOG, "", "Your password      for the disk"),
            (WHIPTAIL, "", "Enter password"),
            ("Password: [", "", "Password:"),
        ] {
            for screen in ["\x1b[H", FULL] {
                let (is, found) = asked(&format!("{screen}{drawn}{cursor}"));
                let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
                let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!((is, found), (SecretDetection::Yes, label), "{drawn}{cursor:?}");
            }
        }
        let answered = PIN.replace("____________", "1234        ");
        for (drawn, cursor) in [
            (PIN, "\x1b[2;19H"),
            (PIN, "\x1b[5;6H"),
            (PIN, "\x1b[4;3H"),
            (PIN, "\x1b[7;1H"),
            (answered.as_str(), "\x1b[4;8H"),
            (answered.as_str(), "\x1b[4;12H"),
            (DIALOG, "\x1b[8;5H"),
            (WHIPTAIL.replace("password", "project ").as_str(), ""),
            (DIALOG.replace("password", "project ").as_str(), ""),
        ] {
            for screen in ["\x1b[H", FULL] {
                let is = asked(&format!("{screen}{drawn}{cursor}")).0;
                assert_eq!(is, SecretDetection::No, "{drawn}{cursor:?}");
            }
        }
    }

    #[test]
    fn labels_in_editors_and_hidden_cursors_leave_doubt() {
        let is_doubt = |output: &str| matches!(asked(output).0, SecretDetection::Maybe(why) if why.contains("assword"));
        const FULL: &str = "\x1b[?1049h\x1b[H";
        assert!(is_doubt(&format!("{FULL}db_password: 1\r\npassword: ")));
        assert_eq!(asked(&format!("{FULL}password: ***")), yes("password: ***"));
        assert!(is_doubt("Password: •••\r\n\r\nenter submit\x1b[?25l"));
        assert_eq!(asked("Password: •••\r\n\r\nenter submit").0, SecretDetection::No);
        assert_eq!(asked(&format!("{FULL}password:\r\n  ")).0, SecretDetection::No);
    }

    #[test]
    fn a_line_in_which_every_key_is_read_may_be_a_question() {
        for output in ["Password: ", "Password:\r\n", "Password:\r\n  ****"] {
            assert_eq!(asked(output), yes("Password:"), "{output:?}");
        }
        // A border next to the field replaces the colon.
        assert_eq!(asked("Your password\r\n┃ ****"), yes("Your password"));
        const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
        for output in [
            "Your password\r\n",
            "Password:\r\n> ",
            "Password:\r\n$ ",
            "Password:\r\n... ",
            "Password:\r\nhunter2",
            "Password:\r\n  right\r",
            "password: hunter2\r\n",
            "Wrong password\r\n",
            &format!("{PROMPT}echo '\r\npassword:\r\n"),
        ] {
            assert_eq!(asked(output).0, SecretDetection::No, "{output:?}");
        }
    }

    #[test]
    fn a_part_of_a_multiplexers_screen_is_a_terminal() {
        let screen = |right: &str| {
            let mut drawn = String::from("\x1b[?1049h\x1b[H");
            for row in 1..=9 {
                drawn += &format!("\x1b[{row};1Hother text to read │");
            }
            drawn += "\x1b[10;1H[0] 0:sh*   \"host\" 12:00";
            for (at, text) in right.lines().enumerate() {
                drawn += &format!("\x1b[{};21H{text}", at + 1);
            }
            drawn
        };
        let is_asked = |right: &str| asked(&screen(right)).0 != SecretDetection::No;
        for right in [
            "$ sudo make\nPassword: ",
            "$ sudo make\n[sudo] password: **",
            "Enter passphrase for\n key '/home/me/id': ",
        ] {
            assert!(is_asked(right), "{right}");
        }
        for right in
            ["$ echo password:", "password:\n$ ", "password: hunter2", "Password:\nhunter2"]
        {
            assert!(!is_asked(right), "{right}");
        }
    }
}
