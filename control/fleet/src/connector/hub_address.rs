//! Requests that a machine sends to a hub's address before the machine is paired.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use axum::{
    body::{Body, Bytes, to_bytes},
    http::{Request, Uri, header},
};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

use crate::nats::is_loopback;

/// The maximum time of a request.
const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum length of a reply, in bytes.
const LONGEST_REPLY: usize = 64 << 10;

/// The address of a hub, such as `https://hub.example.com`.
pub struct HubAddress {
    host: String,
    port: u16,
    /// The host and port, in the form in which they were given.
    authority: String,
    tls: Option<TlsConnector>,
}

impl HubAddress {
    /// Whether a text is probably an address.
    pub fn looks_like(text: &str) -> bool {
        text.starts_with("https://") || text.starts_with("http://")
    }

    /// Parses an address. `certificates`: a file of CA certificates for the hub's certificate, in addition to the
    /// system's.
    ///
    /// # Errors
    /// The text is not an address, or names another machine without TLS.
    pub fn parse(text: &str, certificates: Option<&Path>) -> Result<Self> {
        let uri: Uri = text.trim().parse().with_context(|| format!("the address {text:?}"))?;
        let is_tls = uri.scheme_str() == Some("https");
        let authority = uri.authority().with_context(|| format!("{text:?} names no host"))?;
        ensure!(matches!(uri.path(), "" | "/"), "give the hub's address without a path");
        let host = authority.host().to_owned();
        if !is_tls && !is_loopback(&host) {
            bail!("the code would be sent without TLS: use https://{authority}");
        }
        Ok(Self {
            port: authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            authority: authority.to_string(),
            tls: if is_tls { Some(connector(certificates)?) } else { None },
            host,
        })
    }

    /// Posts a message, and returns the reply.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        message: &impl Serialize,
    ) -> Result<T> {
        let message = serde_json::to_vec(message)?;
        let asking = async {
            let host = self.host.trim_matches(['[', ']']);
            // A hub listens on 127.0.0.1. `localhost` may also resolve to [::1], where another user's server could
            // listen.
            let address = if host == "localhost" { "127.0.0.1" } else { host };
            let stream = TcpStream::connect((address, self.port)).await?;
            match &self.tls {
                None => self.send(stream, path, message).await,
                Some(tls) => {
                    let name = ServerName::try_from(host.to_owned())?;
                    self.send(tls.connect(name, stream).await?, path, message).await
                }
            }
        };
        let reply = timeout(PATIENCE, asking).await.map_err(|_| anyhow!("no reply in time"));
        let reply = reply.and_then(|reply| reply);
        let reply = reply
            .with_context(|| format!("the request to the hub at {} failed", self.authority))?;
        serde_json::from_slice(&reply).context("the reply does not come from a hub")
    }

    async fn send(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        path: &str,
        message: Vec<u8>,
    ) -> Result<Bytes> {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        let request = Request::post(path)
            .header(header::HOST, &self.authority)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONNECTION, "close")
            .body(Body::from(message))?;
        let reply = sender.send_request(request).await?;
        let status = reply.status();
        let body = to_bytes(Body::new(reply.into_body()), LONGEST_REPLY).await?;
        driver.abort();
        if !status.is_success() {
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            let why = unterm_control::escaped(body["error"].as_str().unwrap_or_default());
            bail!("{status} {why}");
        }
        Ok(body)
    }
}

fn connector(certificates: Option<&Path>) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    // Damaged certificates of the system are skipped.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = certificates {
        let named = || path.display().to_string();
        for certificate in CertificateDer::pem_file_iter(path).with_context(named)? {
            roots.add(certificate.with_context(named)?).with_context(named)?;
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pairing_code_is_sent_only_over_tls() {
        let parse =
            |text: &str| HubAddress::parse(text, None).map(|of| (of.port, of.tls.is_some()));
        assert_eq!(parse("http://127.0.0.1:19880").unwrap(), (19880, false));
        assert_eq!(parse("http://[::1]:1/").unwrap(), (1, false));
        assert_eq!(parse("https://hub.example.com").unwrap(), (443, true));
        let refused = parse("http://hub.example.com").unwrap_err().to_string();
        assert_eq!(refused, "the code would be sent without TLS: use https://hub.example.com");
        for wrong in ["", "https://", "https://a/b", "hub"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
