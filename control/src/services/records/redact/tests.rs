use super::*;

fn redaction(custom: &[&str]) -> Redaction {
    let custom: Vec<String> = custom.iter().map(|&pattern| pattern.to_owned()).collect();
    Redaction::new(true, &custom).unwrap()
}

#[test]
fn secrets_go_and_the_rest_stays() {
    let mut redaction = redaction(&["h[ua]nter"]);
    let github = format!("ghp_{}", "a1".repeat(18));
    let hex = "0123456789abcdef".repeat(3);
    for (text, expected) in [
        ("export API_KEY=abc ok", "export API_KEY: <redacted> ok"),
        ("password: \"two words\" end", "password: <redacted> end"),
        ("\"token\": \"x\"", "\"token: <redacted>"),
        (&*format!("use {github}."), "use <token:ghp_a1a1...redacted>."),
        ("a hunter waits", "a <redacted> waits"),
        ("nothing here", "nothing here"),
    ] {
        assert_eq!(redaction.apply(text), expected);
    }
    let masked = redaction.apply(&hex);
    assert!(masked.starts_with("<token:") && !masked.contains(&hex), "{masked}");
    assert_eq!(redaction.count, 6);
    assert_eq!(Redaction::new(false, &[]).unwrap().apply("token=x"), "token=x");
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_an_error() {
    let error = Redaction::new(true, &["fine".to_owned(), "(".to_owned()]).err().unwrap();
    assert!(error.contains("\"(\" is not a valid regular expression"), "{error}");
}

#[test]
fn masked_text_keeps_its_position() {
    let mut redaction = redaction(&["h[ua]nter"]);
    let long = "0123456789abcdef".repeat(3);
    for (text, expected) in [
        ("export API_KEY=abc ok", "export API_KEY=*** ok"),
        ("password: \"zwei wörter\" end", "password: ************* end"),
        ("a hunter waits\nfor é", "a ****** waits\nfor é"),
        (&long, &"*".repeat(48)),
        ("nothing here", "nothing here"),
        ("curl https://me:geheim@host/", "curl https://me:******@host/"),
    ] {
        assert_eq!(redaction.cover(text), expected);
    }
    assert_eq!(redaction.count, 5);
    assert_eq!(Redaction::new(false, &[]).unwrap().cover("token=x"), "token=x");
}

/// Each text contains its secret in braces. No part of the secret may remain, and all other text must remain.
#[test]
fn secrets_of_every_kind_are_found_whole() {
    let a = |count: usize| "aB3dE5gH7j".repeat(count / 10 + 1)[..count].to_owned();
    let jwt = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{}", a(43));
    for text in [
        "Authorization: Bearer {abc.def}".to_owned(),
        "authorization: bearer {short}".to_owned(),
        "> Authorization: Basic {dXNlcjpwYXNz}".to_owned(),
        "curl -H 'Authorization: token {s3cret-value}' https://example.org/x".to_owned(),
        "Proxy-Authorization: Basic {dXNlcjpwYXNz}".to_owned(),
        "use Bearer {abcdefgh12345678} there".to_owned(),
        format!("jwt {{{jwt}}} end"),
        "id {AKIAIOSFODNN7EXAMPLE} end".to_owned(),
        format!("slack {{xoxb-123456789012-1234567890123-{}}} end", a(24)),
        format!("slack {{xoxp-1-2-3-{}}} end", a(10)),
        format!("google {{AIza{}}} end", a(35)),
        format!("openai {{sk-{}}} end", a(48)),
        format!("openai {{sk-proj-{}}} end", a(20)),
        format!("anthropic {{sk-ant-api03-{}AA}} end", a(93)),
        format!("stripe {{sk_live_{}}} end", a(24)),
        format!("npm {{npm_{}}} end", a(36)),
        format!("github {{github_pat_{}}} end", a(30)),
        format!("gitlab {{glpat-{}}} end", a(20)),
        format!("huggingface {{hf_{}}} end", "abcdefghijklmnopqrstuvwxyzabcdefgh"),
        format!("sendgrid {{SG.{}.{}}} end", a(22), a(43)),
        "git clone https://user:{p4ss@word}@host/x.git".to_owned(),
        "postgres://admin:{hunter2}@db:5432/app".to_owned(),
        format!("git clone https://{{{}}}@host/x.git", a(24)),
        "mysql --password {hunter2} -u me".to_owned(),
        "tool --api-key {abc} --verbose".to_owned(),
        "tool --db-password {'two words'} x".to_owned(),
    ] {
        let secret = &text[text.find('{').unwrap() + 1..text.rfind('}').unwrap()];
        let plain = text.replace(['{', '}'], "");
        let (before, after) =
            (&text[..text.find('{').unwrap()], &text[text.rfind('}').unwrap() + 1..]);
        let masked = usual(&plain);
        assert_eq!(masked, format!("{before}<redacted>{after}"), "{secret}");
    }
    for (text, expected) in [
        ("passwd=hunter2", "passwd: <redacted>"),
        ("pwd=hunter2", "pwd: <redacted>"),
        ("DB_PWD=/hunter2", "DB_PWD: <redacted>"),
        ("Enter passphrase: hunter2", "Enter passphrase: <redacted>"),
        ("passphrase: correct horse battery", "passphrase: <redacted>"),
        ("\"passphrase: two words\" next", "\"passphrase: <redacted>\" next"),
        ("password => 'hunter2'", "password: <redacted>"),
        ("config['password'] = 'hunter2'", "config['password: <redacted>"),
        ("PASSWORD='it'\"'\"'s' next", "PASSWORD: <redacted> next"),
        ("password=\"never closed", "password: <redacted>"),
        ("password=<hunter2", "password: <redacted>"),
        ("--password=hunter2 x", "--password: <redacted> x"),
        ("{\"token\":\"x\",\"user\":\"bob\"}", "{\"token: <redacted>,\"user\":\"bob\"}"),
    ] {
        assert_eq!(usual(text), expected);
    }
    // This token is longer than the tokens that GitHub currently creates.
    assert_eq!(usual(&format!("ghp_{}", a(60))), "<token:ghp_aB3d...redacted>");
}

#[test]
fn line_ends_are_never_taken() {
    for text in [
        "password:\nAccess granted",
        "key =\n\nvalue\n",
        "token:\r\n  next",
        "Authorization:\nfoo\n",
        "Bearer\nabcdefgh12345678\n",
        "mysql --password\nhunter\n",
    ] {
        assert_eq!(usual(text), text);
    }
    let text = "password: x\npassword=\"y\nAuthorization: Bearer z\nplain\n";
    assert_eq!(
        usual(text),
        "password: <redacted>\npassword: <redacted>\nAuthorization: Bearer <redacted>\nplain\n"
    );
}

#[test]
fn text_without_secrets_stays_unchanged() {
    for text in [
        &"-".repeat(60),
        &"=".repeat(80),
        &"_".repeat(40),
        &"+".repeat(45),
        &"a".repeat(50),
        "----------------------Test----------------------",
        "/usr/share/something/with/a/very/long/path/name",
        "PWD=/home/me\nOLDPWD=/\n",
        "See https://example.org:8080/a@b and http://[::1]:80/",
        "tool --password-file x --no-pass",
        "the key is under the mat",
        "-----BEGIN of a story",
    ] {
        assert_eq!(usual(text), *text);
    }
}

#[test]
fn a_pem_block_is_masked_to_its_last_line() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let key =
        format!("-----BEGIN PRIVATE KEY-----\n{line}\n  {line}\nab=\n-----END PRIVATE KEY-----\n");
    let masked = "-----BEGIN PRIVATE KEY-----\n<redacted>\n  <redacted>\n<redacted>\n-----END PRIVATE KEY-----\n";
    assert_eq!(usual(&format!("a\n{key}b\n{key}")), format!("a\n{masked}b\n{masked}"));
    // If a block has no end, only lines that look like part of a key are replaced.
    let cut = format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{line}\nab==\n$ echo done\n"
    );
    let expected =
        "-----BEGIN RSA PRIVATE KEY-----\n<redacted>\n\n<redacted>\n<redacted>\n$ echo done\n";
    assert_eq!(usual(&cut), expected);
    // The block is on a single line, as in JSON.
    let json = format!(
        r#"{{"a": "-----BEGIN PRIVATE KEY-----\n{line}\nab=\n-----END PRIVATE KEY-----\n"}}"#
    );
    assert!(!usual(&json).contains("ab="), "{}", usual(&json));
}

#[test]
fn secrets_that_overlap_are_masked_as_one() {
    let mut redaction = redaction(&["(?s)from.*to", "=abc-"]);
    assert_eq!(redaction.apply("x from password: abc\nto y"), "x password: <redacted> y");
    let long = "0123456789abcdef".repeat(3);
    assert_eq!(redaction.apply(&format!("MY_API_KEY={long}")), "MY_API_KEY: <redacted>");
    assert_eq!(redaction.count, 2);
}
