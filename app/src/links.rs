//! Opens links and the settings page.
//!
//! Programs in panes choose the targets of links, so targets are untrusted. Openers disagree about `?`, `#` and
//! unusual escapes, but must open exactly what was checked. Therefore the desktop's opener receives only targets that
//! this module has parsed and rebuilt.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use unterm_mux::{percent_decode, percent_encode};

/// The extensions of files that are programs, or that start a program when they are opened.
const LAUNCHED: &[&str] = &[
    "action",
    "app",
    "appimage",
    "application",
    "bat",
    "cmd",
    "com",
    "command",
    "cpl",
    "desktop",
    "exe",
    "fileloc",
    "flatpakref",
    "hta",
    "inetloc",
    "jar",
    "jnlp",
    "jse",
    "kdelnk",
    "lnk",
    "msi",
    "msp",
    "pif",
    "ps1",
    "reg",
    "run",
    "scf",
    "scr",
    "service",
    "terminal",
    "tool",
    "url",
    "vbe",
    "vbs",
    "webloc",
    "workflow",
    "wsf",
    "wsh",
];
/// Extensions that also count if another extension follows, as in `x.desktop.download`, `x.exe.part` or `x.desktop~`.
const LAUNCHED_INSIDE: &[&str] = &[
    "appimage", "bat", "cmd", "desktop", "exe", "jar", "jnlp", "kdelnk", "lnk", "msi", "pif",
    "scr", "vbs",
];
/// The number of bytes of a file that are checked for the signature of a program. Desktops also check this many bytes.
const HEAD: u64 = 4096;
/// The message fields that a `mailto:` link may set (RFC 6068, section 4). All other fields are dropped, in particular
/// the attachments that some programs accept.
const MAIL_FIELDS: &[&str] = &["to", "cc", "bcc", "subject", "body", "in-reply-to"];

/// Opens a link with the desktop's default program, without a shell. Waits until that program has accepted the link,
/// so it must not be called on the window's thread. `schemes` lists the allowed schemes. A file is opened only if it
/// is on this machine, can be examined, and does not run when it is opened. A message gets no attachments.
///
/// # Errors
/// Returns a message with the reason: the scheme or the file is not allowed, or the opener failed.
pub fn open(uri: &str, schemes: &[String]) -> Result<(), String> {
    let (scheme, rest) = uri.split_once(':').unwrap_or(("", ""));
    let scheme = scheme.to_ascii_lowercase();
    if !schemes.iter().any(|one| one.eq_ignore_ascii_case(&scheme)) || scheme.is_empty() {
        return Err(format!(
            "Link not opened: {uri}\nlinks.schemes allows only {}.",
            schemes.join(", ")
        ));
    }
    let target = match scheme.as_str() {
        "file" => local_file(rest).map(|path| unterm_mux::file_uri(&path)),
        "mailto" => message(rest),
        _ => Ok(uri.to_owned()),
    };
    let target = target.map_err(|why| format!("Link not opened: {uri}\n{why}"))?;
    launch(&target).map_err(|why| format!("Can't open the link: {uri}\n{why}"))
}

/// The message if no browser opened the settings page in time.
pub const UNOPENED: &str = "The settings page was not opened within a minute, so its link has expired.\nIf your browser can't read files in ~/.unterm, run `unterm-cli settings open --print-only` and open the address that it prints.";

/// Opens the settings page through a file that redirects the browser, which the method `settings.open` has written.
/// The address contains a login code, so it is never passed as an argument: every user of the machine can read
/// arguments.
///
/// # Errors
/// Returns a message that explains why no program opened the file.
pub fn open_settings(redirect: &Path) -> Result<(), String> {
    launch(&unterm_mux::file_uri(redirect))
        .map_err(|why| format!("Can't open the settings page.\n{why}"))
}

/// If the default browser is a snap, a folder for the redirect file that the browser can read. Snaps can't read hidden
/// folders of the home directory, such as `~/.unterm`, and have their own `/tmp`. But they can read
/// `~/snap/NAME/common`. Flatpak browsers can read any file that the desktop opens for them. Jupyter solves this
/// problem differently: its option `use_redirect_file` can be turned off, but then the address with the code is an
/// argument. For a browser that can read neither folder, `unterm-cli settings open --print-only` prints the address.
pub fn browser_folder() -> Option<PathBuf> {
    // The redirect file is opened with the default program for HTML files.
    let asked = Command::new("xdg-mime")
        .args(["query", "default", "text/html"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let entry = String::from_utf8(asked.ok()?.stdout).ok()?;
    snap_folder(&std::env::home_dir()?, entry.trim())
}

/// The folder of the snap to which a desktop entry belongs, such as `firefox_firefox.desktop`.
fn snap_folder(home: &Path, entry: &str) -> Option<PathBuf> {
    let (snap, _) = entry.strip_suffix(".desktop")?.split_once('_')?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if snap.is_empty() || !snap.chars().all(is_name) {
        return None;
    }
    let common = home.join("snap").join(snap).join("common");
    common.is_dir().then(|| common.join("unterm"))
}

/// Runs the desktop's opener, and waits until it exits.
fn launch(target: &str) -> Result<(), String> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut child = Command::new(opener)
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{opener}: {error}"))?;
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{opener} found no program for it.")),
        Err(error) => Err(format!("{opener}: {error}")),
    }
}

/// The path in a `file:` URI, given without its scheme. It must be a file or folder on this machine that does not run
/// when it is opened. Symbolic links are resolved, so that the opener receives exactly the path that was checked.
fn local_file(rest: &str) -> Result<PathBuf, String> {
    if let Some(char) = rest.chars().find(|char| matches!(char, '?' | '#')) {
        return Err(format!(
            "A {char:?} in the name of a file must be written as %{:02X}, since programs read a plain one in different ways.",
            u32::from(char)
        ));
    }
    if !rest.starts_with("//") {
        return Err("It must begin with file:// and an absolute path.".to_owned());
    }
    let host = rest[2..].split('/').next().unwrap_or_default();
    let Some(named) = unterm_mux::local_path(&format!("file:{rest}")) else {
        return Err(match host {
            "" => "Its path is not valid.".to_owned(),
            _ => "It is a file of another machine.".to_owned(),
        });
    };
    let unknown = |error: std::io::Error| format!("{} can't be examined: {error}", named.display());
    let path = fs::canonicalize(&named).map_err(unknown)?;
    let found = fs::metadata(&path).map_err(unknown)?;
    if launches(&named) || launches(&path) {
        return Err("Opening it would run a program.".to_owned());
    }
    if found.is_dir() {
        return Ok(path);
    }
    if !found.is_file() {
        return Err("It is a device, a pipe or a socket.".to_owned());
    }
    let mut head = Vec::new();
    let file = unterm_mux::private::open_of_anyone(&path).map_err(unknown)?;
    file.take(HEAD).read_to_end(&mut head).map_err(unknown)?;
    if is_executable(&found) || is_program(&head) {
        return Err("Opening it would run a program.".to_owned());
    }
    Ok(path)
}

/// Whether a file of this name runs when it is opened.
fn launches(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.to_string_lossy();
    let is_one = |part: &str, of: &[&str]| of.iter().any(|one| one.eq_ignore_ascii_case(part));
    // Some systems ignore trailing blanks and dots, and names of backup files end in a tilde.
    let parts: Vec<_> = name
        .split('.')
        .skip(1)
        .map(|part| part.trim_matches(|c: char| c.is_whitespace() || c == '~'))
        .filter(|part| !part.is_empty())
        .collect();
    parts.last().is_some_and(|last| is_one(last, LAUNCHED))
        || parts.iter().any(|part| is_one(part, LAUNCHED_INSIDE))
}

#[cfg(unix)]
fn is_executable(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

/// Whether these are the first bytes of a program. Desktops check the content of files that have no extension.
fn is_program(head: &[u8]) -> bool {
    const MACH_O: [&[u8]; 5] = [
        b"\xfe\xed\xfa\xce",
        b"\xfe\xed\xfa\xcf",
        b"\xce\xfa\xed\xfe",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
    ];
    let starts_line = |text: &[u8]| {
        let mut lines = head.split(|byte| *byte == b'\n');
        lines.any(|line| line.trim_ascii_start().starts_with(text))
    };
    head.starts_with(b"\x7fELF")
        || head.starts_with(b"MZ") && head.contains(&0)
        || MACH_O.iter().any(|magic| head.starts_with(magic))
        // A Java archive. The name of its first entry starts at byte 30.
        || head.starts_with(b"PK\x03\x04") && head.get(30..).is_some_and(|name| name.starts_with(b"META-INF/"))
        || starts_line(b"[Desktop Entry]")
}

/// Rebuilds a `mailto:` URI from its addresses and allowed fields. All values are escaped again. `rest` is the URI
/// without its scheme.
fn message(rest: &str) -> Result<String, String> {
    let broken = || "Its escapes are not valid.".to_owned();
    let (to, fields) = rest.split_once('?').unwrap_or((rest, ""));
    let to = percent_decode(to).ok_or_else(broken)?;
    if to.iter().any(u8::is_ascii_control) {
        return Err("Its addresses have control characters.".to_owned());
    }
    let mut uri = format!("mailto:{}", percent_encode(&to, "@,+"));
    let mut separator = '?';
    for field in fields.split('&').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let name = String::from_utf8(percent_decode(name).ok_or_else(broken)?).unwrap_or_default();
        let Some(name) = MAIL_FIELDS.iter().find(|known| known.eq_ignore_ascii_case(&name)) else {
            continue;
        };
        let value = percent_decode(value).ok_or_else(broken)?;
        // A line break would start another field of the message, except in the body.
        if *name != "body" && value.iter().any(u8::is_ascii_control) {
            return Err(format!("The field {name:?} of its message has control characters."));
        }
        uri.push(separator);
        uri.push_str(&format!("{name}={}", percent_encode(&value, "@")));
        separator = '&';
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(uri: &str) -> String {
        let schemes = ["https".to_owned(), "file".to_owned()];
        open(uri, &schemes).unwrap_err()
    }

    #[test]
    fn a_scheme_that_could_run_code_is_refused() {
        for uri in ["javascript:alert(1)", "vscode://x", "-e", "", "ssh://host", "data:text/html,x"]
        {
            assert!(refused(uri).contains("links.schemes"), "{uri}");
        }
    }

    #[test]
    fn a_file_elsewhere_and_a_program_are_refused() {
        assert!(refused("file://elsewhere.example/etc/motd").contains("another machine"));
        assert!(refused("file:///bin/sh").contains("program"));
        assert!(refused("file:/etc/passwd").contains("file://"));
    }

    /// Creates a folder that contains these files.
    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn looked(folder: &tempfile::TempDir, name: &str) -> Result<PathBuf, String> {
        local_file(&format!("//{}/{name}", folder.path().display()))
    }

    #[test]
    fn file_links_with_ambiguous_characters_are_refused() {
        let folder = folder(&[("x.desktop", b""), ("a?b", b""), ("a#b c", b"")]);
        // An opener that removes the query from the path would open `x.desktop`.
        for name in ["x.desktop?.txt", "x.desktop#.txt", "a?b"] {
            let why = looked(&folder, name).unwrap_err();
            assert!(why.contains("must be written as %"), "{name}: {why}");
        }
        let found = looked(&folder, "a%23b%20c").unwrap();
        assert!(unterm_mux::file_uri(&found).ends_with("/a%23b%20c"));
        assert!(looked(&folder, "a%3fb").is_ok());
        assert!(looked(&folder, "a%zz").unwrap_err().contains("not valid"));
    }

    #[test]
    fn links_to_files_that_cannot_be_examined_are_refused() {
        let folder = folder(&[("plain", b"text")]);
        assert!(looked(&folder, "plain").is_ok() && looked(&folder, ".").is_ok());
        assert!(looked(&folder, "missing").unwrap_err().contains("can't be examined"));
        assert!(local_file("///dev/null").unwrap_err().contains("device"));
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("fifo"), 0o600.into()).unwrap();
        assert!(looked(&folder, "fifo").unwrap_err().contains("pipe"));
    }

    #[test]
    fn programs_are_known_by_their_names_wherever_a_link_leads() {
        for name in [
            "x.desktop",
            "X.DESKTOP",
            "x.desktop.download",
            "x.exe.part",
            "x.msi",
            "x.lnk",
            "x.jnlp",
            "x.scr",
            "x.exe.",
            "x.desktop~",
            "x.exe ",
            "x.url",
            ".desktop",
            "x.com",
        ] {
            let folder = folder(&[(name, b"")]);
            let written = name.replace(' ', "%20");
            assert_eq!(
                looked(&folder, &written).unwrap_err(),
                "Opening it would run a program.",
                "{name}"
            );
            std::os::unix::fs::symlink(name, folder.path().join("notes.txt")).unwrap();
            assert!(looked(&folder, "notes.txt").is_err(), "{name} behind a link");
        }
        for name in ["example.com.txt", "desktop", "notes.txt", "web.app.log", "x.tar.gz"] {
            assert!(looked(&folder(&[(name, b"")]), name).is_ok(), "{name}");
        }
    }

    #[test]
    fn programs_are_known_by_what_is_in_them() {
        for (name, head) in [
            ("notes", &b"#!/usr/bin/env xdg-open\n\n[Desktop Entry]\nExec=id\n"[..]),
            ("photo.png", b"\x7fELF\x02"),
            ("letter.txt", b"MZ\x90\0"),
            ("book.zip", b"PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaaMETA-INF/MANIFEST.MF"),
        ] {
            assert!(looked(&folder(&[(name, head)]), name).is_err(), "{name}");
        }
        let plain = folder(&[("notes", b"MZ is a label, [Desktop Entry] a heading\n")]);
        assert!(looked(&plain, "notes").is_ok());
    }

    #[test]
    fn a_message_gets_no_attachments() {
        let check = |given: &str, handed: &str| assert_eq!(message(given).as_deref(), Ok(handed));
        check("a@b.c", "mailto:a@b.c");
        check("a@b.c,d@e.f?subject=Hi%20you", "mailto:a@b.c,d@e.f?subject=Hi%20you");
        check("a@b.c?attach=/etc/passwd&body=x", "mailto:a@b.c?body=x");
        for name in ["attach", "ATTACHMENT", "%61ttach", "amp;attach", "insert", "x-attach"] {
            check(&format!("a@b.c?{name}=file:///etc/passwd"), "mailto:a@b.c");
        }
        // Protects programs that join the fields into one argument of another program.
        check(
            "a@b.c?subject=x',attachment='/etc/passwd",
            "mailto:a@b.c?subject=x%27%2Cattachment%3D%27%2Fetc%2Fpasswd",
        );
        check("?to=a@b.c&body=1%0D%0A2", "mailto:?to=a@b.c&body=1%0D%0A2");
        for wrong in ["a@b.c%0AAttach:x", "a@b.c?subject=x%0aBcc:d@e.f", "a@b.c?subject=%z"] {
            assert!(message(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_snap_reads_its_own_folder() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(snap_folder(home.path(), "firefox_firefox.desktop"), None);
        let common = home.path().join("snap/firefox/common");
        fs::create_dir_all(&common).unwrap();
        let found = snap_folder(home.path(), "firefox_firefox.desktop");
        assert_eq!(found, Some(common.join("unterm")));
        for entry in ["firefox.desktop", "../x_firefox.desktop", "_x.desktop", "chromium", ""] {
            assert_eq!(snap_folder(home.path(), entry), None, "{entry}");
        }
    }
}
