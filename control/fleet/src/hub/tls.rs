//! TLS of the hub's listener, with certificates from files.

use std::{path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

/// Returns an acceptor of TLS connections, with a file that contains the hub's certificate followed by the rest of its
/// chain, and a file with the key. Both files are in PEM.
///
/// # Errors
/// A file can't be read, or the key does not match the certificate.
pub fn acceptor(certificates: &Path, key: &Path) -> Result<TlsAcceptor> {
    let in_file = |path: &Path| path.display().to_string();
    let chain = CertificateDer::pem_file_iter(certificates)
        .and_then(|all| all.collect::<Result<Vec<_>, _>>())
        .with_context(|| in_file(certificates))?;
    let private = PrivateKeyDer::from_pem_file(key).with_context(|| in_file(key))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .with_context(|| in_file(certificates))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
