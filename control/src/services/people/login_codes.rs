//! Access to the settings page: single-use login codes, and the tokens that pages get for them.
//!
//! The page's address contains the code after `#`, in the part that browsers do not send. The page first removes the
//! code from its address. A page never receives the instance's own token.
//!
//! Every user of the machine can read the arguments of every process, so no process gets a code as an argument. A
//! browser opens a [redirect file](LoginCodes::redirect) instead, as [Jupyter does]. Only the file's owner can read it,
//! and its name can't be guessed. Exchanging a code also checks the user: see [`crate::dialect::settings`].
//!
//! [Jupyter does]: https://github.com/jupyter-server/jupyter_server/blob/main/jupyter_server/serverapp.py

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use subtle::ConstantTimeEq;
use unterm_mux::{private, random};

/// The time for which a code is valid.
pub const CODE_LIFE: Duration = Duration::from_secs(60);
/// A page's token expires after the page has been idle for this long.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// The maximum number of stored codes, and of pages. A new code or page replaces the oldest.
const MOST: usize = 16;

/// The folder of redirect files in Unterm's home directory.
pub const REDIRECTS: &str = "open";

struct Code {
    secret: String,
    made: Instant,
    /// The redirect file, which is removed together with the code.
    _file: Option<RedirectFile>,
}

/// A redirect file. The file is removed when this value is dropped.
struct RedirectFile(PathBuf);

impl Drop for RedirectFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot remove {}", self.0.display());
        }
    }
}

/// An address that opens the page once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The address, including the code.
    pub url: String,
    /// The file that redirects a browser to the address, if requested.
    pub file: Option<PathBuf>,
}

struct Page {
    number: u64,
    token: String,
    since: String,
    used: Instant,
}

/// An open page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Visitor {
    /// The number of the page.
    pub page: u64,
    /// When the page was opened (RFC 3339, UTC).
    pub since: String,
    /// The number of seconds since the page last sent a request.
    pub idle_seconds: u64,
}

#[derive(Default)]
struct Inside {
    codes: Vec<Code>,
    pages: Vec<Page>,
    opened: u64,
}

/// The login codes of one server, and the pages that used them.
#[derive(Default)]
pub struct LoginCodes {
    port: std::sync::OnceLock<u16>,
    inside: Mutex<Inside>,
}

fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

impl LoginCodes {
    /// Sets the port on which the page is served.
    pub fn open_at(&self, port: u16) {
        let _ = self.port.set(port);
    }

    /// An address that opens the page once, within [`CODE_LIFE`].
    ///
    /// # Errors
    /// This instance serves no page, or the system provides no random numbers. A message for users.
    pub fn link(&self) -> Result<Link, String> {
        let (url, secret) = self.address()?;
        self.keep(Code { secret, made: Instant::now(), _file: None });
        Ok(Link { url, file: None })
    }

    /// Returns a link like [`LoginCodes::link`], and creates a file in `folder` that redirects a browser to the
    /// address. The file has mode 0600, the folder 0700. The file is removed when the code is used, and by
    /// [`LoginCodes::expire`].
    ///
    /// # Errors
    /// The errors of [`LoginCodes::link`], or the file can't be written. A message for users.
    pub fn redirect(&self, folder: &Path) -> Result<Link, String> {
        let (url, secret) = self.address()?;
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        own_folder(folder).map_err(failed)?;
        remove_old(folder);
        let file = folder.join(format!("{}.html", random::hex().map_err(failed)?));
        let mut page = private::create_file(&file).map_err(failed)?;
        let kept = RedirectFile(file.clone());
        page.write_all(redirect_page(&url).as_bytes()).map_err(failed)?;
        self.keep(Code { secret, made: Instant::now(), _file: Some(kept) });
        Ok(Link { url, file: Some(file) })
    }

    /// The page's address with a new code, and the code itself.
    fn address(&self) -> Result<(String, String), String> {
        let port = self.port.get().ok_or("This instance serves no settings page")?;
        let secret = random::hex().map_err(|error| error.to_string())?;
        Ok((format!("http://127.0.0.1:{port}/#code={secret}"), secret))
    }

    fn keep(&self, code: Code) {
        let mut inside = self.inside.lock();
        inside.codes.retain(|code| code.made.elapsed() < CODE_LIFE);
        if inside.codes.len() == MOST {
            inside.codes.remove(0);
        }
        inside.codes.push(code);
    }

    /// Whether a text is a code that [`LoginCodes::enter`] would accept.
    pub fn is_code(&self, secret: &str) -> bool {
        let inside = self.inside.lock();
        let mut current = inside.codes.iter().filter(|code| code.made.elapsed() < CODE_LIFE);
        current.any(|code| same(&code.secret, secret))
    }

    /// Removes the code of an expired link. Returns false if the code was already used.
    pub fn expire(&self, link: &Link) -> bool {
        let mut inside = self.inside.lock();
        let before = inside.codes.len();
        inside.codes.retain(|code| !link.url.ends_with(&code.secret));
        inside.codes.len() < before
    }

    /// Exchanges a code for a token. The code is then used up.
    pub fn enter(&self, secret: &str) -> Option<String> {
        self.enter_at(secret, Instant::now())
    }

    fn enter_at(&self, secret: &str, now: Instant) -> Option<String> {
        let mut inside = self.inside.lock();
        inside.codes.retain(|code| now.duration_since(code.made) < CODE_LIFE);
        let index = inside.codes.iter().position(|code| same(&code.secret, secret))?;
        inside.codes.remove(index);
        let token = random::hex().ok()?;
        inside.opened += 1;
        if inside.pages.len() == MOST {
            inside.pages.remove(0);
        }
        let page = Page {
            number: inside.opened,
            token: token.clone(),
            since: crate::services::now(),
            used: now,
        };
        inside.pages.push(page);
        Some(token)
    }

    /// Whether a token belongs to a page. Counts as use of the page.
    pub fn knows(&self, token: &str) -> bool {
        let mut inside = self.inside.lock();
        inside.pages.retain(|page| page.used.elapsed() < IDLE);
        match inside.pages.iter_mut().find(|page| same(&page.token, token)) {
            Some(page) => {
                page.used = Instant::now();
                true
            }
            None => false,
        }
    }

    /// The open pages.
    pub fn visitors(&self) -> Vec<Visitor> {
        let inside = self.inside.lock();
        let visitor = |page: &Page| Visitor {
            page: page.number,
            since: page.since.clone(),
            idle_seconds: page.used.elapsed().as_secs(),
        };
        inside.pages.iter().map(visitor).collect()
    }

    /// Revokes a page's token. Returns whether the page existed.
    pub fn close(&self, number: u64) -> bool {
        let mut inside = self.inside.lock();
        let before = inside.pages.len();
        inside.pages.retain(|page| page.number != number);
        inside.pages.len() < before
    }
}

/// Creates a private folder. If it exists already, it must be a real folder of this user and not a link.
fn own_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    private::create_folder(folder)?;
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it must be a folder of your own, not a link"));
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes redirect files whose codes have expired. A killed process may have left them.
fn remove_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let written = entry.metadata().and_then(|found| found.modified()).ok();
        let age = written.and_then(|written| written.elapsed().ok());
        let is_redirect = entry.path().extension().is_some_and(|end| end == "html");
        if is_redirect && age.is_some_and(|age| age >= CODE_LIFE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// An HTML page that redirects to an address. The address is one of Unterm's own and needs no escaping.
fn redirect_page(url: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>Unterm</title>
<p>Unterm's settings: <a href="{url}">open the page</a>. The link works once, within a minute.</p>
</html>
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(link: &Link) -> &str {
        link.url.split_once("#code=").unwrap().1
    }

    fn code(codes: &LoginCodes) -> String {
        secret(&codes.link().unwrap()).to_owned()
    }

    #[test]
    fn a_code_opens_once_and_for_a_minute() {
        let codes = LoginCodes::default();
        assert!(codes.link().is_err(), "there is no page yet");
        codes.open_at(1);
        let first = code(&codes);
        let token = codes.enter(&first).unwrap();
        assert!(codes.knows(&token) && !codes.knows(&first));
        assert_eq!(codes.enter(&first), None, "it is used");
        let late = code(&codes);
        assert_eq!(codes.enter_at(&late, Instant::now() + CODE_LIFE), None);
        assert!(codes.close(codes.visitors()[0].page));
        assert!(!codes.knows(&token));
    }

    #[test]
    fn nothing_grows() {
        let codes = LoginCodes::default();
        codes.open_at(1);
        for _ in 0..3 * MOST {
            let code = code(&codes);
            codes.enter(&code).unwrap();
            codes.link().unwrap();
        }
        let inside = codes.inside.lock();
        assert_eq!(inside.pages.len(), MOST);
        assert!(inside.codes.len() <= MOST);
    }

    #[test]
    fn a_redirect_file_is_its_owners_alone_and_goes_with_its_code() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep").join(REDIRECTS);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let files = || fs::read_dir(&folder).unwrap().count();
        let codes = LoginCodes::default();
        codes.open_at(1);
        let link = codes.redirect(&folder).unwrap();
        let file = link.file.clone().unwrap();
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        assert!(!file.to_string_lossy().contains(secret(&link)), "others may see the name");
        assert_eq!(fs::read_to_string(&file).unwrap().matches(&link.url).count(), 2);
        assert!(codes.is_code(secret(&link)) && codes.enter(secret(&link)).is_some());
        assert!(!file.exists() && !codes.is_code(secret(&link)));
        assert!(!codes.expire(&link), "it was used");

        let late = codes.redirect(&folder).unwrap();
        assert!(codes.expire(&late));
        assert_eq!((files(), codes.enter(secret(&late))), (0, None));

        for _ in 0..2 * MOST {
            codes.redirect(&folder).unwrap();
        }
        assert_eq!(files(), MOST);
        drop(codes);
        assert_eq!(files(), 0, "codes end with their instance");
    }

    #[test]
    fn a_folder_of_redirects_is_made_private_and_never_a_link() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let home = tempfile::tempdir().unwrap();
        let codes = LoginCodes::default();
        codes.open_at(1);
        let folder = home.path().join(REDIRECTS);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let left = folder.join("left.html");
        let old = std::time::SystemTime::now() - CODE_LIFE;
        fs::File::create(&left).unwrap().set_modified(old).unwrap();
        codes.redirect(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(!left.exists(), "a killed process left it");

        let link = home.path().join("link");
        symlink(&folder, &link).unwrap();
        let why = codes.redirect(&link).unwrap_err();
        assert!(why.contains("not a link"), "{why}");
    }
}
