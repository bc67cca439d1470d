//! The page's files and texts, built from `assets/dashboard`.

use axum::{
    body::Body,
    http::{Response, StatusCode},
};
use serde_json::{Map, Value, json};
use unterm_control::{languages, mcp_http::reply};

macro_rules! files {
    ($($path:literal $kind:literal $file:literal,)*) => {
        /// The address, type and contents of each file.
        const FILES: &[(&str, &str, &[u8])] =
            &[$(($path, $kind, include_bytes!(concat!("../../../../../assets/", $file)))),*];
    };
}

files! {
    "/" "text/html; charset=utf-8" "dashboard/src/index.html",
    "/page.css" "text/css; charset=utf-8" "dashboard/dist/page.css",
    "/page.js" "text/javascript; charset=utf-8" "dashboard/src/page.js",
    "/alpine.js" "text/javascript; charset=utf-8" "settings/dist/alpine.js",
    "/xterm.js" "text/javascript; charset=utf-8" "dashboard/dist/xterm.js",
    "/xterm.css" "text/css; charset=utf-8" "dashboard/dist/xterm.css",
    "/favicon.ico" "image/svg+xml" "settings/src/icon.svg",
}

macro_rules! words {
    ($($code:literal)*) => {
        /// The texts of each language. The first language provides the texts that another language lacks.
        const WORDS: &[(&str, &str)] = &[$((
            $code,
            include_str!(concat!("../../../../../assets/dashboard/i18n/", $code, ".json")),
        )),*];
    };
}

words! { "en-US" "zh-CN" "zh-TW" "ja-JP" "ko-KR" "de-DE" "fr-FR" "it-IT" "hi-IN" }

/// The file at an address.
pub fn find(path: &str) -> Option<Response<Body>> {
    let (_, kind, bytes) = FILES.iter().find(|(known, ..)| *known == path)?;
    Some(reply(StatusCode::OK, kind, *bytes))
}

/// The texts of a language, and the list of languages.
pub fn words(language: &str) -> Value {
    let code = languages::find(language).unwrap_or(WORDS[0].0);
    let of = |code: &str| {
        let text = WORDS.iter().find(|(known, _)| *known == code).map(|(_, text)| *text);
        let words = text.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        words.unwrap_or_default()
    };
    let mut words = of(WORDS[0].0);
    words.extend(of(code));
    let all: Vec<_> =
        languages::all().map(|(code, name)| json!({"code": code, "name": name})).collect();
    json!({"language": code, "languages": all, "words": words})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_all_texts() {
        let keys = |text: &str| {
            let words: Map<String, Value> = serde_json::from_str(text).unwrap();
            let mut keys: Vec<_> = words.keys().cloned().collect();
            keys.sort();
            keys
        };
        let codes: Vec<_> = languages::all().map(|(code, _)| code).collect();
        assert_eq!(WORDS.iter().map(|(code, _)| *code).collect::<Vec<_>>(), codes);
        for (code, text) in WORDS {
            assert_eq!(keys(text), keys(WORDS[0].1), "{code}");
        }
        assert_eq!(words("de_AT.UTF-8")["language"], "de-DE");
        assert_eq!(words("x")["language"], "en-US");
    }
}
