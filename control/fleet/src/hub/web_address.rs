//! The addresses of a hub, as its clients name them.

use webauthn_rs::prelude::{Url, Webauthn, WebauthnBuilder};

use super::store::CHALLENGE_AGE;

/// The name of the hub that browsers and authenticators show.
const NAME: &str = "Unterm";

/// An address of the hub.
pub struct WebAddress {
    /// The origin of the pages of this address: the scheme and the host.
    pub origin: String,
    /// The host, followed by the port unless it is the default port of the scheme.
    pub host: String,
    /// The origin that users should use instead of this origin.
    pub moved_to: Option<String>,
    /// The relying party of this address. `None` if passkeys can't be used here.
    pub relying_party: Option<RelyingParty>,
}

impl WebAddress {
    /// Creates an address that serves the dashboard and does not support passkeys.
    pub fn new(scheme: &str, host: String) -> Self {
        Self { origin: format!("{scheme}://{host}"), host, moved_to: None, relying_party: None }
    }

    /// The addresses of a hub that listens on the loopback address. Users use one of them, and the other one redirects
    /// to it. `localhost` supports passkeys, but it also means `[::1]`: if another user's program can answer there, its
    /// pages would have the same origin as the hub's pages.
    pub fn loopback(scheme: &str, port: u16, has_localhost: bool) -> [Self; 2] {
        let [mut address, mut name] =
            ["127.0.0.1", "localhost"].map(|host| Self::new(scheme, format!("{host}:{port}")));
        if has_localhost {
            address.moved_to = Some(name.origin.clone());
            name = name.with_passkeys();
        } else {
            name.moved_to = Some(address.origin.clone());
        }
        [address, name]
    }

    /// Returns the address with support for passkeys, if its host is a name.
    #[must_use]
    pub fn with_passkeys(mut self) -> Self {
        self.relying_party = RelyingParty::new(&self.origin);
        self
    }
}

/// The relying party of passkeys (WebAuthn Level 3, "relying party"): the host name and the origin that they belong to.
#[derive(Clone, Debug)]
pub struct RelyingParty {
    /// The host name, without a port. A browser offers only the passkeys of this host name.
    pub id: String,
    /// The origin from which the hub accepts passkeys.
    pub origin: String,
    /// Creates and checks messages of WebAuthn.
    pub webauthn: Webauthn,
}

impl RelyingParty {
    /// The relying party of an origin. Returns `None` if the host is an IP address, because browsers do not support
    /// passkeys for it.
    pub fn new(origin: &str) -> Option<Self> {
        let url = Url::parse(origin).ok()?;
        let id = url.domain()?.to_owned();
        let builder = WebauthnBuilder::new(&id, &url).ok()?;
        let webauthn = builder.rp_name(NAME).timeout(CHALLENGE_AGE).build().ok()?;
        Some(Self { id, origin: origin.to_owned(), webauthn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_redirected_to_localhost_only_if_it_is_exclusive() {
        let summary = |has_localhost| {
            WebAddress::loopback("http", 1, has_localhost)
                .map(|site| (site.host, site.moved_to, site.relying_party.map(|party| party.id)))
        };
        let (address, name) = ("127.0.0.1:1".to_owned(), "localhost:1".to_owned());
        let own = summary(true);
        assert_eq!(own[0], (address.clone(), Some("http://localhost:1".to_owned()), None));
        assert_eq!(own[1], (name.clone(), None, Some("localhost".to_owned())));
        let shared = summary(false);
        assert_eq!(shared[0], (address, None, None));
        assert_eq!(shared[1], (name, Some("http://127.0.0.1:1".to_owned()), None));
    }

    #[test]
    fn a_passkey_belongs_to_a_host_name_without_its_port() {
        let id = |origin| RelyingParty::new(origin).map(|of| of.id);
        assert_eq!(id("http://localhost:19880").as_deref(), Some("localhost"));
        assert_eq!(id("https://Hub.example.com:8443").as_deref(), Some("hub.example.com"));
        for address in ["https://10.0.0.1", "http://127.0.0.1:1", "https://[::1]", "", "x"] {
            assert_eq!(id(address), None, "{address}");
        }
    }
}
