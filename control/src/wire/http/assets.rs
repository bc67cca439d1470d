//! The page's files, as they were built and committed (`assets/settings`).

use axum::{
    body::Body,
    http::{Response, StatusCode},
};

use super::reply;

macro_rules! files {
    ($($path:literal $kind:literal $file:literal,)*) => {
        /// Address, type and contents of each file.
        const FILES: &[(&str, &str, &[u8])] =
            &[$(($path, $kind, include_bytes!(concat!("../../../../assets/settings/dist/", $file)))),*];
    };
}

files! {
    "/" "text/html; charset=utf-8" "index.html",
    "/page.css" "text/css; charset=utf-8" "page.css",
    "/page.js" "text/javascript; charset=utf-8" "page.js",
    "/alpine.js" "text/javascript; charset=utf-8" "alpine.js",
    "/favicon.ico" "image/svg+xml" "icon.svg",
}

/// The file of an address.
pub fn find(path: &str) -> Option<Response<Body>> {
    let (_, kind, bytes) = FILES.iter().find(|(known, ..)| *known == path)?;
    Some(reply(StatusCode::OK, kind, *bytes))
}

/// The addresses of all files.
pub fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, ..)| *path)
}
