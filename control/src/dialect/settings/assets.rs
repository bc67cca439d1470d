//! The files of the settings page. They are built from `assets/settings` and committed in `assets/settings/dist`.

use axum::{
    body::Body,
    http::{Response, StatusCode},
};

use crate::dialect::http::reply;

macro_rules! files {
    ($($path:literal $kind:literal $file:literal,)*) => {
        /// The address, the content type and the contents of each file.
        const FILES: &[(&str, &str, &[u8])] =
            &[$(($path, $kind, include_bytes!(concat!("../../../../assets/settings/", $file)))),*];
    };
}

files! {
    "/" "text/html; charset=utf-8" "src/index.html",
    "/page.css" "text/css; charset=utf-8" "dist/page.css",
    "/page.js" "text/javascript; charset=utf-8" "src/page.js",
    "/alpine.js" "text/javascript; charset=utf-8" "dist/alpine.js",
    "/favicon.ico" "image/svg+xml" "src/icon.svg",
}

/// The file at an address.
pub fn find(path: &str) -> Option<Response<Body>> {
    let (_, kind, bytes) = FILES.iter().find(|(known, ..)| *known == path)?;
    Some(reply(StatusCode::OK, kind, *bytes))
}

/// The addresses of all files.
pub fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, ..)| *path)
}
