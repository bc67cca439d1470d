//! Who may come in to the settings page: single-use codes, and the tokens that pages exchange them for.
//!
//! A code stands in the page's address behind `#`, which browsers send nowhere; the page takes it out of the address
//! before it does anything else. The instance's own token is never given to a page.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use subtle::ConstantTimeEq;
use unterm_mux::random;

/// How long a code opens the page.
pub const CODE_LIFE: Duration = Duration::from_secs(60);
/// How long a page that asks for nothing keeps its token.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// Codes and pages that are kept; the oldest goes for a new one.
const MOST: usize = 16;

struct Code {
    secret: String,
    made: Instant,
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
    /// Its number.
    pub page: u64,
    /// When it was opened (RFC 3339, UTC).
    pub since: String,
    /// Seconds since it last asked for something.
    pub idle_seconds: u64,
}

#[derive(Default)]
struct Inside {
    codes: Vec<Code>,
    pages: Vec<Page>,
    opened: u64,
}

/// The door of one server.
#[derive(Default)]
pub struct Door {
    port: std::sync::OnceLock<u16>,
    inside: Mutex<Inside>,
}

fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

impl Door {
    /// The page is served on this port from now on.
    pub fn open_at(&self, port: u16) {
        let _ = self.port.set(port);
    }

    /// An address that opens the page once, soon.
    ///
    /// # Errors
    /// When no page is served, or there are no random numbers; for people.
    pub fn link(&self) -> Result<String, String> {
        let port = self.port.get().ok_or("This instance serves no settings page")?;
        let secret = random::hex().map_err(|error| error.to_string())?;
        let link = format!("http://127.0.0.1:{port}/#code={secret}");
        let mut inside = self.inside.lock();
        inside.codes.retain(|code| code.made.elapsed() < CODE_LIFE);
        if inside.codes.len() == MOST {
            inside.codes.remove(0);
        }
        inside.codes.push(Code { secret, made: Instant::now() });
        Ok(link)
    }

    /// A token for a page that has a code, which is worth nothing from then on.
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
        let page =
            Page { number: inside.opened, token: token.clone(), since: super::now(), used: now };
        inside.pages.push(page);
        Some(token)
    }

    /// Whether a token is a page's.
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

    /// Takes a page's token away; whether there was one.
    pub fn close(&self, number: u64) -> bool {
        let mut inside = self.inside.lock();
        let before = inside.pages.len();
        inside.pages.retain(|page| page.number != number);
        inside.pages.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(door: &Door) -> String {
        door.link().unwrap().split_once("#code=").unwrap().1.to_owned()
    }

    #[test]
    fn a_code_opens_once_and_for_a_minute() {
        let door = Door::default();
        assert!(door.link().is_err(), "there is no page yet");
        door.open_at(1);
        let first = code(&door);
        let token = door.enter(&first).unwrap();
        assert!(door.knows(&token) && !door.knows(&first));
        assert_eq!(door.enter(&first), None, "it is used");
        let late = code(&door);
        assert_eq!(door.enter_at(&late, Instant::now() + CODE_LIFE), None);
        assert!(door.close(door.visitors()[0].page));
        assert!(!door.knows(&token));
    }

    #[test]
    fn nothing_grows() {
        let door = Door::default();
        door.open_at(1);
        for _ in 0..3 * MOST {
            let code = code(&door);
            door.enter(&code).unwrap();
            door.link().unwrap();
        }
        let inside = door.inside.lock();
        assert_eq!(inside.pages.len(), MOST);
        assert!(inside.codes.len() <= MOST);
    }
}
