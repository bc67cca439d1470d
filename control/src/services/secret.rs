//! Whether the program in a pane asks for a secret: a password is the person's to type, and nobody else's to know.
//!
//! The terminal's settings say it where a program reads a line without echo (ICANON without ECHO), as `getpass`, `ssh` and
//! `read -s` do. One that takes every key by itself (neither of the two), as those do that show an asterisk for each, sets
//! them as every shell's editor does; there the line that the cursor stands in decides, where it is all of a question for a
//! password and nothing else, and where it does not show what was typed. On the alternate screen an editor's text may be such
//! a line; there it counts between the sides of a box that is closed all around, as `pinentry-curses` draws one, with nothing
//! but the field behind the cursor.
//!
//! What stays unseen: a question in other words or another language than these, another one on the alternate screen (as of a
//! form whose field is under its name, and of all within `tmux`), one whose cursor stands elsewhere, and what a program reads
//! without asking. What is wrongly seen: a question for a password whose answer is shown, until its first character is.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use unterm_mux::Pane;
use unterm_term::{LineId, Modes, Point, Term, TextRange};

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

/// The sides of a box, also where a line goes off to the inside.
const SIDES: &str = "│┃║├┤┠┨┣┫╟╢╠╣";
/// What fills a field that nothing was typed into.
const FILL: &str = "_·.";

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
    let Some(line) = asking(&pane.term()) else { return false };
    !shows(&line, &pane.typed())
}

/// Whether a line shows what was typed, as an editor of lines does.
fn shows(line: &str, typed: &str) -> bool {
    let typed = typed.trim();
    typed.contains(char::is_alphanumeric) && line.trim_end().ends_with(typed)
}

/// The line up to the cursor, where it is a question.
fn asking(term: &Term) -> Option<String> {
    let cursor = term.cursor();
    if cursor.col == 0 {
        return None;
    }
    let line = LineId(term.live_top().0 + u64::from(cursor.row));
    let is_full = term.modes().contains(Modes::ALT_SCREEN);
    let start = if is_full { Point { line, col: 0 } } else { term.line_at(line).start };
    let end = Point { line, col: cursor.col - 1 };
    let mut text = term.text(TextRange { start, end, block: false });
    if is_full {
        let inside = text.rfind(is_side)?;
        text = text[inside..].chars().skip(1).collect();
    }
    let is_one = text.len() <= LONGEST && is_question(&text) && (!is_full || is_boxed(term));
    is_one.then_some(text)
}

fn is_side(char: char) -> bool {
    SIDES.contains(char)
}

/// What a cell of the live screen shows; `None`: nothing.
fn shown(term: &Term, row: u16, col: u16) -> Option<char> {
    let at = Point { line: LineId(term.live_top().0 + u64::from(row)), col };
    term.text(TextRange { start: at, end: at, block: false }).chars().next()
}

/// What comes first in these rows of a column that is no side.
fn corner(term: &Term, col: u16, mut rows: impl Iterator<Item = u16>) -> Option<char> {
    rows.find_map(|row| match shown(term, row, col) {
        Some(char) if is_side(char) => None,
        other => Some(other),
    })?
}

/// Whether the cursor stands within a box of its own, in a field that is empty from there on.
fn is_boxed(term: &Term) -> bool {
    let (cursor, size) = (term.cursor(), term.size());
    let here = |col: u16| shown(term, cursor.row, col);
    let left = (0..cursor.col).rev().find(|col| here(*col).is_some_and(is_side));
    let is_more = |col: &u16| here(*col).is_some_and(|char| !FILL.contains(char));
    let right = (cursor.col..size.cols).find(is_more);
    let (Some(left), Some(right)) = (left, right) else { return false };
    let (above, below) = (|| (0..cursor.row).rev(), || cursor.row + 1..size.rows);
    here(right).is_some_and(is_side)
        && [
            (corner(term, left, above()), "┌╭╔┏"),
            (corner(term, right, above()), "┐╮╗┓"),
            (corner(term, left, below()), "└╰╚┗"),
            (corner(term, right, below()), "┘╯╝┛"),
        ]
        .into_iter()
        .all(|(corner, of)| corner.is_some_and(|corner| of.contains(corner)))
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
            let asked = asking(&term);
            assert_eq!(asked.as_deref().map(str::trim), question, "{drawn}{cursor:?}");
        }
        // On the main screen no box is needed.
        let mut term = Term::new(Size::cells(40, 10), Options::default());
        Parser::new().advance(&mut term, b"Password: ");
        assert_eq!(asking(&term).as_deref(), Some("Password:"));
    }
}
