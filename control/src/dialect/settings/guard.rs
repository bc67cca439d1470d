//! Rejects requests to the settings server that name another host, or that a page of another origin sent.
//!
//! A web page can make a browser on this machine send requests to this server: by a host name that resolves to the
//! loopback address (DNS rebinding), or from a sandboxed frame, which has no origin. The guard checks the headers that
//! the browser sets before it checks the token.

use axum::http::{HeaderMap, Request, StatusCode, header};
use subtle::ConstantTimeEq;

use crate::{
    caller::{Caller, Capabilities, Scopes, SubscriptionSlot, TokenKind, Wire},
    services::people::{
        login_codes::LoginCodes,
        tokens::{Tokens, UNREADABLE},
    },
    transport::throttle::Throttle,
};

/// The guard of one settings server.
pub struct Guard {
    /// The accepted hosts: `127.0.0.1:PORT` and `localhost:PORT`.
    hosts: [String; 2],
    token: String,
    throttle: Throttle,
}

/// The error for a request without a valid token.
pub const NO_TOKEN: &str = "missing or bad bearer token";

impl Guard {
    /// Creates the guard of a server on `port`. `token`: the token of the server's instance.
    pub fn new(port: u16, token: String) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        Self { hosts, token, throttle: Throttle::default() }
    }

    /// The reason why a request is rejected before its token is checked. `None` if it is not rejected.
    pub fn refusal<B>(&self, request: &Request<B>) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        let only = |name: header::HeaderName| {
            let mut values = headers.get_all(name).iter();
            (values.next(), values.next().is_some())
        };
        let (Some(host), false) = only(header::HOST) else {
            return Some((StatusCode::BAD_REQUEST, "A request needs one Host header"));
        };
        let is_ours = |name: &str| self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
        if !host.to_str().is_ok_and(is_ours) {
            return Some((StatusCode::FORBIDDEN, "The Host header is not this server's"));
        }
        // The request line may contain another host than the header.
        if request.uri().authority().is_some_and(|authority| !is_ours(authority.as_str())) {
            return Some((StatusCode::FORBIDDEN, "The request is for another host"));
        }
        let (origin, twice) = only(header::ORIGIN);
        if let Some(origin) = origin {
            let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(is_ours);
            if twice || !origin.to_str().is_ok_and(is_ours) {
                return Some((StatusCode::FORBIDDEN, "Pages of other origins may not ask"));
            }
        }
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        let is_foreign = site.is_some_and(|site| site != b"same-origin" && site != b"none");
        // A link on another site may lead to the page itself. That is safe: only the user who followed the link sees
        // the page.
        if is_foreign && request.uri().path() != "/" {
            return Some((StatusCode::FORBIDDEN, "Pages of other origins may not ask"));
        }
        None
    }

    /// The token in a request's headers.
    pub fn bearer(headers: &HeaderMap) -> Option<&str> {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// Returns the caller that a request's token belongs to.
    ///
    /// # Errors
    /// The request has no valid token. A wrong token delays the error.
    pub async fn caller(
        &self,
        headers: &HeaderMap,
        codes: &LoginCodes,
        tokens: &Tokens,
        connection: u64,
    ) -> Result<Caller, &'static str> {
        let token = Self::bearer(headers).ok_or(NO_TOKEN)?;
        let (mut scopes, mut panes) = (Scopes::all(), None);
        let (kind, client) = if token.as_bytes().ct_eq(self.token.as_bytes()).into() {
            (TokenKind::Instance, None)
        } else if codes.knows(token) {
            (TokenKind::Page, Some("settings page".to_owned()))
        } else {
            let found = match tokens.find(token) {
                Ok(Some(made)) => Ok(made),
                Ok(None) => Err(NO_TOKEN),
                Err(why) => {
                    tracing::warn!(why, "tokens for agents are not known");
                    Err(UNREADABLE)
                }
            };
            match found {
                Ok(made) => {
                    scopes = made.scope.scopes();
                    panes = made.panes.map(Into::into);
                    (TokenKind::Agent(made.number), Some(made.name))
                }
                Err(why) => {
                    self.wrong().await;
                    return Err(why);
                }
            }
        };
        Ok(Caller {
            wire: Wire::Http,
            connection,
            token: kind,
            client,
            conversation: None,
            scopes,
            panes,
            capabilities: Capabilities::at_login(kind, false),
            opener: None,
            process: None,
            approved: None,
            subscription: SubscriptionSlot::default(),
            signals: Default::default(),
        })
    }

    /// Delays the response to a wrong token or code, as the other dialects do.
    pub async fn wrong(&self) {
        tracing::warn!("wrong token for the settings page");
        tokio::time::sleep(self.throttle.delay(1)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(headers: &[(&str, &str)], path: &str) -> Option<u16> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let guard = Guard::new(19877, "token".to_owned());
        guard.refusal(&request.body(()).unwrap()).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_our_own_name_and_origin_pass() {
        let host = ("host", "127.0.0.1:19877");
        assert_eq!(refused(&[host], "/api/state"), None);
        assert_eq!(refused(&[("host", "LocalHost:19877")], "/"), None);
        assert_eq!(refused(&[host, ("origin", "http://localhost:19877")], "/api/state"), None);
        assert_eq!(refused(&[], "/"), Some(400));
        assert_eq!(refused(&[host, host], "/"), Some(400));
        for name in ["evil.example:19877", "127.0.0.1", "127.0.0.1:1", "", "[::1]:19877"] {
            assert_eq!(refused(&[("host", name)], "/"), Some(403), "{name}");
        }
        for origin in ["null", "http://evil.example", "https://127.0.0.1:19877", "", "file://"] {
            assert_eq!(refused(&[host, ("origin", origin)], "/api/state"), Some(403), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(refused(&[host, ("sec-fetch-site", site)], "/api/state"), Some(403));
            assert_eq!(refused(&[host, ("sec-fetch-site", site)], "/"), None);
        }
        assert_eq!(refused(&[host], "http://evil.example/"), Some(403));
    }
}
