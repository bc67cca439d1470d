//! Bodies and responses of HTTP. The settings server and the MCP server share them.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use serde_json::json;
use tokio::sync::mpsc;

use crate::services::limits::message_budget::Reservation;

/// The time limit for the head of a request, for an idle connection, and for the body of a request.
pub const READING: Duration = Duration::from_secs(10);

/// Builds a response with a content type.
pub fn reply(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

/// Attaches a value to a response. The value is dropped when the response's body has ended.
pub fn holding<B, T>(reply: Response<B>, value: T) -> Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
    T: Send + Unpin + 'static,
{
    reply.map(|body| Body::new(Holding { body: Body::new(body), _value: value }))
}

/// A body with an attached value, which is dropped when the body ends or is dropped.
struct Holding<T> {
    body: Body,
    _value: T,
}

impl<T: Unpin> HttpBody for Holding<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Reads a whole body, and reserves memory for it.
///
/// # Errors
/// The status and a text for the client.
pub async fn whole(
    body: Body,
    most: usize,
    reservation: &mut Reservation,
) -> Result<Bytes, (StatusCode, String)> {
    announced(&body, most)?;
    match tokio::time::timeout(READING, collect(body, most, reservation)).await {
        Ok(collected) => collected,
        Err(_) => {
            tracing::warn!(seconds = READING.as_secs(), "a body did not come in time");
            Err((StatusCode::REQUEST_TIMEOUT, "The body did not come in time".to_owned()))
        }
    }
}

async fn collect(
    mut body: Body,
    most: usize,
    reservation: &mut Reservation,
) -> Result<Bytes, (StatusCode, String)> {
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.map_err(|_| too_long(most))?.into_data() else { continue };
        let length = whole.len() + data.len();
        if length > most {
            return Err(too_long(most));
        }
        let reserved = reservation.resize(length);
        reserved.map_err(|why| (StatusCode::SERVICE_UNAVAILABLE, why.to_string()))?;
        whole.extend_from_slice(&data);
    }
    Ok(whole.into())
}

/// Refuses a body before it is read, if its `Content-Length` is too long.
///
/// # Errors
/// The status and a text for the client.
pub fn announced(body: &Body, most: usize) -> Result<(), (StatusCode, String)> {
    if body.size_hint().lower() > most as u64 { Err(too_long(most)) } else { Ok(()) }
}

fn too_long(most: usize) -> (StatusCode, String) {
    let why = format!("The body is longer than {most} bytes, or broke off");
    (StatusCode::PAYLOAD_TOO_LARGE, why)
}

/// Builds the response for an error.
pub fn failure(status: StatusCode, message: &str) -> Response<Body> {
    reply(status, "application/json", json!({ "error": message }).to_string())
}

/// A body that consists of the pieces from a channel.
pub struct Lines(pub mpsc::Receiver<Bytes>);

impl HttpBody for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
