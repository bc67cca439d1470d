//! The proxy for programs in panes: the file that configures it, detection of a proxy, and the environment variables
//! that announce it. Unknown keys of the file are preserved.

use std::{
    io::{self, ErrorKind},
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use unterm_mux::{Mux, private};

use crate::plain_words;

/// The file's name in Unterm's home directory.
const FILE: &str = "proxy.json";
/// The longest file that is read, in bytes.
const LONGEST: u64 = 1 << 20;
/// Ports on which local proxies usually listen, in the order in which they are tried.
const PORTS: [u16; 8] = [7897, 7890, 1087, 7070, 8118, 8888, 8080, 1080];
/// The maximum time to wait for a local proxy's answer, and for the desktop's settings.
const SOON: Duration = Duration::from_secs(1);

/// The hosts that bypass the proxy by default.
pub const NO_PROXY: &str = "localhost,127.0.0.1,::1";

/// A proxy to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The proxy's name.
    pub name: String,
    /// The proxy's address.
    #[serde(alias = "http_proxy", default)]
    pub url: String,
    /// The time that the connection took in the last test; `null` if the connection failed or was never tested.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub latency_ms: Option<u64>,
    /// Whether the proxy was reached in the last test; `null` if it was never tested.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub available: Option<bool>,
}

/// The contents of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Proxy {
    /// Whether programs use a proxy.
    #[serde(default)]
    pub enabled: bool,
    /// `manual`, `auto` or `off`.
    #[serde(default = "off")]
    pub mode: String,
    /// The proxy for HTTP and HTTPS.
    #[serde(default)]
    pub http_proxy: Option<String>,
    /// The proxy for all other protocols.
    #[serde(default)]
    pub socks_proxy: Option<String>,
    /// The hosts that bypass the proxy, if configured.
    #[serde(default)]
    pub no_proxy: Option<String>,
    /// The name of the node in use.
    #[serde(default)]
    pub current_node: Option<String>,
    /// The nodes to choose from.
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn off() -> String {
    "off".to_owned()
}

/// The proxy to use, and the source where it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundProxy {
    /// `manual`, `GNOME gsettings`, `process env` or `scan:PORT`. Empty if no proxy was found.
    pub source: String,
    /// The proxy for HTTP and HTTPS.
    pub http: Option<String>,
    /// The proxy for all other protocols.
    pub socks: Option<String>,
    /// The hosts that bypass the proxy.
    pub no_proxy: Option<String>,
}

impl Proxy {
    /// Reads the file, or returns the defaults if there is none.
    ///
    /// # Errors
    /// The file can't be read or is invalid.
    pub fn read(home: &Path) -> io::Result<Self> {
        let text = match private::read_of_anyone(&home.join(FILE), LONGEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => b"{}".to_vec(),
            text => {
                text.map_err(|error| io::Error::new(error.kind(), format!("{FILE}: {error}")))?
            }
        };
        serde_json::from_slice(&text).map_err(|error| {
            io::Error::new(
                ErrorKind::InvalidData,
                format!("{FILE} can't be used: {}", plain_words::of_json(&error)),
            )
        })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// The file can't be written. It is then unchanged.
    pub fn write(&self, home: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        private::write(&home.join(FILE), &text)
    }

    /// The proxy that programs use. If it must be detected, this may take a second or two.
    pub fn resolve(&self) -> FoundProxy {
        if !self.enabled {
            return FoundProxy::default();
        }
        let given = |url: &Option<String>| url.clone().filter(|url| !url.trim().is_empty());
        let (http, socks) = (given(&self.http_proxy), given(&self.socks_proxy));
        let found = if http.is_some() || socks.is_some() || self.mode != "auto" {
            FoundProxy { source: "manual".to_owned(), http, socks, no_proxy: None }
        } else {
            detect(desktop, |name| std::env::var(name).ok(), &PORTS)
        };
        let no_proxy = given(&self.no_proxy).or(found.no_proxy);
        FoundProxy { no_proxy: Some(no_proxy.unwrap_or_else(|| NO_PROXY.to_owned())), ..found }
    }
}

impl FoundProxy {
    /// The environment variables for programs, in upper case.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        let socks = self.socks.as_ref().or(self.http.as_ref());
        [
            ("HTTP_PROXY", self.http.as_ref()),
            ("HTTPS_PROXY", self.http.as_ref()),
            ("ALL_PROXY", socks),
            ("NO_PROXY", self.no_proxy.as_ref()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?.clone())))
        .collect()
    }

    /// The URL to test whether the proxy is available.
    pub fn url(&self) -> Option<&str> {
        self.http.as_deref().or(self.socks.as_deref())
    }
}

/// The environment variables that configure proxies.
const NAMES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Sets the proxy that the file configures for programs that start from now on. Takes as long as [`Proxy::resolve`].
pub fn apply(mux: &Mux, home: &Path) {
    match Proxy::read(home) {
        Ok(proxy) => set_variables(mux, &proxy.resolve()),
        Err(error) => {
            tracing::warn!(%error, "no proxy is set");
            set_variables(mux, &FoundProxy::default());
        }
    }
}

/// Sets the proxy for programs that start from now on.
pub fn set_variables(mux: &Mux, found: &FoundProxy) {
    let env = found.env();
    for name in NAMES {
        let value = env.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        // Some programs read the upper-case form, and some the lower-case form.
        for name in [name, &name.to_ascii_lowercase()] {
            match value {
                Some(value) => mux.set_env(name, value),
                None => mux.unset_env(name),
            }
        }
    }
}

/// Detects a proxy. The desktop's settings come first, then the environment, then a proxy that listens on this machine.
fn detect(
    desktop: impl Fn() -> Option<FoundProxy>,
    env: impl Fn(&str) -> Option<String>,
    ports: &[u16],
) -> FoundProxy {
    if let Some(found) = desktop() {
        return found;
    }
    let variable = |name: &str| {
        let value = env(name).or_else(|| env(&name.to_ascii_lowercase()));
        value.filter(|value| !value.is_empty())
    };
    let http = variable("HTTP_PROXY").or_else(|| variable("HTTPS_PROXY"));
    let socks = variable("ALL_PROXY");
    if http.is_some() || socks.is_some() {
        let no_proxy = variable("NO_PROXY");
        return FoundProxy { source: "process env".to_owned(), http, socks, no_proxy };
    }
    for port in ports {
        let url = format!("http://127.0.0.1:{port}");
        if probe(&url, SOON).is_some() {
            let is_socks = *port == 1080;
            let socks = is_socks.then(|| format!("socks5://127.0.0.1:{port}"));
            let http = (!is_socks).then_some(url);
            return FoundProxy { source: format!("scan:{port}"), http, socks, no_proxy: None };
        }
    }
    FoundProxy::default()
}

/// The proxy in GNOME's settings, if it is set manually.
fn desktop() -> Option<FoundProxy> {
    let get = |key: &str| setting(&["get", "org.gnome.system.proxy", key]);
    if get("mode")?.trim_matches('\'') != "manual" {
        return None;
    }
    let server = |kind: &str, scheme: &str| {
        let schema = format!("org.gnome.system.proxy.{kind}");
        let host = setting(&["get", &schema, "host"])?;
        let port: u16 = setting(&["get", &schema, "port"])?.parse().ok()?;
        let host = host.trim_matches('\'').to_owned();
        (!host.is_empty() && port != 0).then(|| format!("{scheme}://{host}:{port}"))
    };
    let http = server("http", "http").or_else(|| server("https", "http"));
    let socks = server("socks", "socks5");
    let hosts = get("ignore-hosts").map(|hosts| {
        let hosts = hosts.trim_start_matches("@as ").trim_matches(['[', ']']).split(',');
        hosts.map(|host| host.trim().trim_matches('\'')).collect::<Vec<_>>().join(",")
    });
    let no_proxy = hosts.filter(|hosts| !hosts.is_empty());
    (http.is_some() || socks.is_some()).then(|| FoundProxy {
        source: "GNOME gsettings".to_owned(),
        http,
        socks,
        no_proxy,
    })
}

/// A value from gsettings(1). `None` if the program does not answer in time.
fn setting(args: &[&str]) -> Option<String> {
    let mut child = Command::new("gsettings")
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = child.stdout.take()?;
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let result = io::Read::read_to_string(&mut output, &mut text);
        let _ = said.send(result.map(|_| text));
    });
    let text = heard.recv_timeout(SOON);
    if text.is_err() {
        let _ = child.kill();
    }
    let has_succeeded = child.wait().is_ok_and(|status| status.success());
    let text = text.ok()?.ok()?;
    has_succeeded.then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Whether a text is the URL of a proxy. The scheme is required, because some programs need it.
pub fn is_url(url: &str) -> bool {
    let is_of_host = |char: char| char.is_alphanumeric() || "-._:".contains(char);
    url.trim() == url
        && url.contains("://")
        && address(url).is_some_and(|(host, port)| port != 0 && host.chars().all(is_of_host))
}

/// A proxy's URL without its user name and password: scheme, host and port.
pub fn masked(url: &str) -> String {
    const MASK: &str = "***";
    if url.trim().is_empty() {
        return String::new();
    }
    let (scheme, rest) = url.trim().split_once("://").unwrap_or(("", url.trim()));
    // Split at the last `@`, because a password may contain `@` and other delimiters.
    let (credentials, host) = match rest.rsplit_once('@') {
        Some((_, host)) => ("***@", host),
        None => ("", rest),
    };
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let sign = if scheme.is_empty() { "" } else { "://" };
    let masked = format!("{scheme}{sign}{credentials}{host}");
    // If the text is not a URL, the password could be anywhere in it.
    if address(&masked).is_some() { masked } else { MASK.to_owned() }
}

/// The host and port of a proxy's URL. The scheme may be missing, because environment variables often omit it.
fn address(url: &str) -> Option<(String, u16)> {
    if url.trim().contains(|char: char| char.is_whitespace() || char.is_control()) {
        return None;
    }
    let (scheme, rest) = url.trim().split_once("://").unwrap_or(("http", url.trim()));
    let usual = match scheme.to_ascii_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        scheme if scheme.starts_with("socks") => 1080,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let (host, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, after.strip_prefix(':'))
        }
        None => match host.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host, None),
        },
    };
    let port = port.map_or(Some(usual), |port| port.parse().ok())?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// The time that a connection to a proxy takes. `None` if the connection fails or takes too long.
pub fn probe(url: &str, timeout: Duration) -> Option<Duration> {
    let (host, port) = address(url)?;
    let start = Instant::now();
    let addresses = (host.as_str(), port).to_socket_addrs().ok()?;
    for address in addresses.take(4) {
        let left = timeout.checked_sub(start.elapsed()).filter(|left| !left.is_zero())?;
        if TcpStream::connect_timeout(&address, left).is_ok() {
            return Some(start.elapsed());
        }
    }
    None
}

/// Probes all proxies concurrently, and returns the results in order.
pub fn probe_all(urls: Vec<String>, timeout: Duration) -> Vec<Option<Duration>> {
    let threads: Vec<_> =
        urls.into_iter().map(|url| thread::spawn(move || probe(&url, timeout))).collect();
    threads.into_iter().map(|thread| thread.join().unwrap_or(None)).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};

    use rustix::net::{self, AddressFamily, SocketType};

    use std::fs;

    use super::*;

    #[test]
    fn addresses_are_read_out_of_urls() {
        let at = |url| address(url).map(|(host, port)| format!("{host} {port}"));
        for (url, expected) in [
            ("http://127.0.0.1:7890", Some("127.0.0.1 7890")),
            ("socks5://user:pass@host", Some("host 1080")),
            ("https://[::1]:3128/path", Some("::1 3128")),
            ("proxy:8080", Some("proxy 8080")),
            ("http://host:99999", None),
            ("ftp://host", None),
            ("http://", None),
            ("not a url", None),
            ("::::", None),
            ("", None),
        ] {
            assert_eq!(at(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_masked_url_has_scheme_host_and_port() {
        for (url, expected) in [
            ("http://127.0.0.1:7890", "http://127.0.0.1:7890"),
            ("socks5://user:secret@host", "socks5://***@host"),
            (" https://secret@[::1]:3128/path ", "https://***@[::1]:3128"),
            ("user:secret@proxy:8080", "***@proxy:8080"),
            ("http://user:se@cr/e?t#@host:1", "http://***@host:1"),
            ("http://host:1/?token=secret", "http://host:1"),
            ("http://host:1#secret", "http://host:1"),
            ("host:1:user:secret", "***"),
            ("http://user:secret@", "***"),
            ("user:secret@http://host", "***"),
            ("secret words", "***"),
            ("", ""),
            (" ", ""),
        ] {
            assert_eq!(masked(url), expected, "{url}");
        }
    }

    #[test]
    fn a_url_has_a_scheme_a_host_and_a_port_that_can_be() {
        for url in
            ["http://127.0.0.1:7890", "https://user:p%40ss@proxy.test", "socks5h://[::1]:1080/"]
        {
            assert!(is_url(url), "{url}");
        }
        for url in [
            "",
            "nonsense",
            "proxy:8080",
            "ftp://host",
            "http://",
            "http://host:0",
            "http://host:70000",
            "http://a b",
            "http://us er@host",
            "http://host:80/\na b",
            "http://a'b;c",
        ] {
            assert!(!is_url(url), "{url}");
        }
    }

    #[test]
    fn one_that_nobody_named_is_looked_for_in_order() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let none = |_: &str| None;
        let env = |name: &str| (name == "https_proxy").then(|| "http://env:1".to_owned());
        let desktop =
            || Some(FoundProxy { source: "GNOME gsettings".to_owned(), ..FoundProxy::default() });
        assert_eq!(detect(desktop, env, &[port]).source, "GNOME gsettings");
        let found = detect(|| None, env, &[port]);
        assert_eq!((&*found.source, found.http.as_deref()), ("process env", Some("http://env:1")));
        let found = detect(|| None, none, &[port]);
        assert_eq!(found.source, format!("scan:{port}"));
        // The socket is bound, so that no other test gets its port, but it does not listen.
        let silent = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        net::bind(&silent, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        let silent: TcpListener = silent.into();
        let port = silent.local_addr().unwrap().port();
        assert_eq!(detect(|| None, none, &[port]), FoundProxy::default());
    }

    #[test]
    fn unknown_keys_of_the_proxy_file_are_preserved() {
        let home = tempfile::tempdir().unwrap();
        let text = r#"{"enabled": true, "mode": "manual", "nodes": [{"name": "a", "http_proxy": "http://a:1"}], "own": 1}"#;
        fs::write(home.path().join(FILE), text).unwrap();
        let mut proxy = Proxy::read(home.path()).unwrap();
        assert_eq!(proxy.nodes[0].url, "http://a:1");
        proxy.enabled = false;
        proxy.write(home.path()).unwrap();
        let now: Value =
            serde_json::from_slice(&fs::read(home.path().join(FILE)).unwrap()).unwrap();
        assert_eq!((&now["own"], &now["enabled"]), (&Value::from(1), &Value::from(false)));
        fs::write(home.path().join(FILE), "[").unwrap();
        assert!(Proxy::read(home.path()).unwrap_err().to_string().contains("can't be used"));
    }
}
