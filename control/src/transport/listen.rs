//! Accepts connections and serves them.

use std::{future::poll_fn, sync::Arc, time::Duration};

use super::{
    connection::{self, Service},
    listener::{Listener, send_last_message},
    reserved_descriptor::ReservedDescriptor,
};
use crate::transport::contract::{Dialect, Refusal};

/// The next connection of a listener. If no file descriptor is left for a client, the client receives `full`.
pub async fn accept<L: Listener>(
    listener: &L,
    reserved: &mut ReservedDescriptor,
    full: &[u8],
) -> L::Stream {
    loop {
        match poll_fn(|context| listener.poll_accept(context)).await {
            Ok(stream) => return stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                if !reserved.refuse(listener, &error, full).await {
                    // No event reports when a descriptor becomes free.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// Serves the connections of a listener as long as this future is polled.
pub async fn serve<L: Listener, D: Dialect>(listener: L, service: Arc<Service<D>>) {
    let mut reserved = ReservedDescriptor::default();
    let full = service.refusal(&Refusal::Full);
    loop {
        let stream = accept(&listener, &mut reserved, &full).await;
        if let Some(refusal) = L::refusal(&stream) {
            tracing::warn!(%refusal, "refused a connection");
            let refusal = service.refusal(&refusal);
            let _ = L::into_std(stream).and_then(|stream| send_last_message(stream, &refusal));
            continue;
        }
        let process = L::process(&stream);
        let (reader, writer) = L::split(stream);
        tokio::spawn(connection::serve(reader, writer, service.clone(), process));
    }
}
