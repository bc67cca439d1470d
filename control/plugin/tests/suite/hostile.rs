//! Plugins that try to run forever, exhaust memory, escape the sandbox, or return unusable values.

use std::{sync::Arc, thread, time::Duration};

use crate::support::{ALL, written};
use serde_json::{Value, json};
use unterm_plugin::{
    CallError, ClassifyContext, Instance, LimitKind, Limits, LoadError, PredicateInput, Registry,
};

/// Small limits, which tests reach quickly.
fn limits() -> Limits {
    Limits {
        time: Duration::from_millis(1500),
        grace: Duration::from_millis(500),
        memory: 16 << 20,
        ..Limits::default()
    }
}

/// Creates an adapter of a plugin whose intent `attack` has this body.
fn attacker(registry: &Registry, body: &str) -> Instance {
    let source = format!(
        "local M = {{}}\nfunction M.attack(params)\n{body}\nend\n\
         function M.calm() return {{ actions = {{ ptywright.action.text('calm') }} }} end\nreturn M"
    );
    let (_folder, path) = written("attacker", ALL, &source);
    registry.load(&path).expect(body);
    registry.adapter("attacker").expect("an adapter")
}

/// Runs the body with a new registry, and checks that the same instance serves the next call.
fn attack(body: &str) -> Result<Value, CallError> {
    let registry = Registry::new(limits());
    let instance = attacker(&registry, body);
    let attacked = instance.intent("attack", &json!({}));
    let calm =
        instance.intent("calm", &json!({})).unwrap_or_else(|error| panic!("{body}: {error}"));
    assert_eq!(json!(calm.actions), json!([{ "type": "text", "value": "calm" }]));
    attacked.map(|it| json!({ "actions": it.actions, "last_intent": it.last_intent }))
}

fn exceeds(body: &str, expected: &[LimitKind]) {
    match attack(body) {
        Err(CallError::Limit { kind, .. }) if expected.contains(&kind) => {}
        other => panic!("{body}: {other:?}"),
    }
}

fn fails(body: &str, expected: &str) {
    match attack(body) {
        Err(error) if error.to_string().contains(expected) => {}
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn endless_loops_are_stopped() {
    use LimitKind::{Steps, Time};
    for body in [
        "while true do end",
        "repeat until false",
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) f() end f()",
        "pcall(function() while true do end end) return { actions = {} }",
        "xpcall(function() while true do end end, function() while true do end end)",
        "for _ in function() return 1 end do end",
        "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k + 1] end \
         while true do pcall(function() return t[1] end) end",
        "table.sort({3, 2, 1}, function() while true do end end)",
        "string.gsub('x', 'x', function() while true do end end)",
    ] {
        exceeds(body, &[Steps, Time]);
    }
}

#[test]
fn patterns_that_backtrack_without_end_are_stopped() {
    use LimitKind::{Steps, Time};
    exceeds("local s = string.rep('a', 5000) s:find(string.rep('a*', 20) .. 'b')", &[Steps, Time]);
    exceeds("local s = string.rep('a', 100000) s:match('.-.-.-.-b')", &[Steps, Time]);
    exceeds("local s = string.rep('(', 100000) while true do s:find('%b()') end", &[Steps, Time]);
    exceeds("for _ in string.gmatch(string.rep('a', 100000), 'a*a*a*b') do end", &[Steps, Time]);
    exceeds(
        "pcall(string.gsub, string.rep('a', 100000), 'a*a*a*b', '') return { actions = {} }",
        &[Steps, Time],
    );
    fails(
        "string.find('x', string.rep('a', 2000), 1, true)",
        "a pattern has 2000 bytes; 1024 are allowed",
    );
    fails("('x'):match(string.rep('a', 2000))", "a pattern has 2000 bytes");
    fails("string.split('x', string.rep('a', 2000))", "a separator has 2000 bytes");
    fails("string.find(string.rep('a', 300), string.rep('a?', 300) .. 'b')", "pattern too complex");
}

#[test]
fn work_inside_library_functions_is_bounded() {
    fails("table.move({}, 1, 2^31 - 1, 1, {})", "table.move copies at most");
    fails("table.move({}, 1, 0/0, 1, {})", "table.move");
    // Long strings are compared in Luau code, where the interrupt is called.
    let sort = "local a, b = string.rep('a', 2^21) .. 'b', string.rep('a', 2^21) .. 'c' local t = {} \
        for i = 1, 100000 do t[i] = if i % 2 == 0 then a else b end table.sort(t)";
    exceeds(sort, &[LimitKind::Steps, LimitKind::Time]);
}

#[test]
fn memory_is_bounded() {
    for body in [
        "local t = {} while true do t[#t + 1] = string.rep('x', 2^16) .. #t end",
        "local s = 'x' while true do s = s .. s end",
        "return string.rep('x', 2^30)",
        "return table.create(2^26, 1)",
        "local t = {} for i = 1, 2^20 do t[i] = {i} end return { actions = {} }",
        "local s = string.rep('x', 2^12) string.gsub(string.rep('y', 2^13), 'y', s)",
    ] {
        exceeds(body, &[LimitKind::Memory]);
    }
    // A plugin may catch an error, as long as there is enough memory afterwards.
    let handled = "local ok = pcall(string.rep, 'x', 2^30) return { actions = {}, last_intent = tostring(ok) }";
    assert_eq!(attack(handled).expect("an outcome")["last_intent"], "false");
}

#[test]
fn deep_recursion_is_an_error() {
    fails("local function f() return 1 + f() end f()", "stack overflow");
    fails("local function f(s) return (s:gsub('.', f)) end f('x')", "failed");
    fails(
        "local t = {} setmetatable(t, { __index = function(t, k) return t[k + 1] end }) return t[1]",
        "failed",
    );
    fails("error(string.rep('long ', 10000))", "long long");
}

#[test]
fn plugins_cannot_access_the_system() {
    for name in [
        "io",
        "os",
        "debug",
        "require",
        "loadstring",
        "load",
        "dofile",
        "loadfile",
        "getfenv",
        "setfenv",
        "newproxy",
        "collectgarbage",
        "gcinfo",
        "coroutine",
        "buffer",
        "bit32",
        "vector",
        "package",
    ] {
        let body = format!(
            "return {{ actions = {{}}, last_intent = type(_G['{name}']) .. type({name}) }}"
        );
        assert_eq!(attack(&body).expect(name)["last_intent"], "nilnil", "{name}");
    }
    let listed = "local names = {} for name in pairs(getmetatable(_G).__index) do names[#names + 1] = name end \
        table.sort(names) return { actions = { ptywright.action.text(table.concat(names, ' ')) } }";
    if let Ok(outcome) = attack(listed) {
        let text = outcome["actions"][0]["value"].as_str().expect("names").to_owned();
        assert!(!text.contains("require"), "{text}");
    }
    for body in [
        "string.find = nil",
        "ptywright.action.text = nil",
        "ptywright.action = nil",
        "getmetatable('').__index = nil",
        "rawset(string, 'find', nil)",
        "rawset(ptywright.action, 'text', nil)",
        "setmetatable(string, {})",
        "table.insert(math, 1)",
    ] {
        fails(body, "readonly");
    }
    fails("string.dump(print)", "attempt to call a nil value");
}

#[test]
fn bytecode_is_refused() {
    let registry = Registry::new(limits());
    let (_folder, path) = written("binary", ALL, "\u{6}\u{3}\u{0}\u{0}");
    let error = registry.load(&path).expect_err("no source");
    assert!(matches!(error, LoadError::Source { .. }), "{error}");
}

#[test]
fn unusable_results_are_refused() {
    for (body, expected) in [
        ("local t = {} t.actions = t return t", "`actions` contains itself"),
        (
            "return { actions = { { type = 'text', value = 0/0 } } }",
            "`actions[1].value` is not a finite number",
        ),
        (
            "return { actions = {}, last_intent = string.rep('x', 2^22) }",
            "`last_intent` brings the text to more",
        ),
        ("return { actions = {}, last_intent = '\\xff\\xfe' }", "`last_intent` is not UTF-8"),
        ("return { actions = { print } }", "`actions[1]` is a function"),
        ("return { actions = table.create(300, { type = 'eof' }) }", "`actions` has 300 entries"),
        ("return { actions = table.create(2^17, 1) }", "`actions` has 131072 entries"),
        (
            "local t = { actions = {} } for i = 1, 20000 do t['k' .. i] = i end return t",
            "more than 10000 values",
        ),
        ("local t = {} for i = 1, 100 do t = { t } end return { actions = t }", "tables deep"),
        ("return setmetatable({}, { __index = function() return {} end })", "`actions` is missing"),
        ("return 'text'", "a table with named keys is expected, not `text`"),
        ("return nil", "not nil"),
        ("return { actions = { { type = 'text', value = {} } } }", "`actions[1]`"),
        ("return ptywright", "function"),
    ] {
        fails(body, expected);
    }
}

#[test]
fn errors_of_plugins_are_short_and_plain() {
    fails("error({})", "failed: table");
    fails("error(setmetatable({}, { __tostring = function() while true do end end }))", "exceeded");
    fails("error(setmetatable({}, { __tostring = function() error('inner') end }))", "failed");
    fails("error(setmetatable({}, { __tostring = function() return {} end }))", "failed");
    fails("error('one\\ntwo\\27[31m')", "one two [31m");
    fails("error()", "failed");
    let error = attack("error(string.rep('x', 2^20))").expect_err("an error");
    assert!(error.to_string().len() < 2000);
}

#[test]
fn printed_text_is_bounded() {
    let body = "for i = 1, 10000 do print(string.rep('x', 1000), i) end return { actions = {} }";
    assert!(attack(body).is_ok());
}

#[test]
fn a_file_that_never_ends_is_not_loaded() {
    let registry = Registry::new(limits());
    let (_folder, path) = written("endless", ALL, "while true do end");
    let error = registry.load(&path).expect_err("an endless file");
    assert!(error.to_string().contains("exceeded"), "{error}");
    assert_eq!(registry.manifest("endless"), None);
}

#[test]
fn variables_are_lost_with_a_limit_and_kept_with_an_error() {
    let registry = Registry::new(limits());
    let source = "local count, M = 0, {}
        function M.count() count += 1 return { actions = {}, last_intent = 'n' .. count } end
        function M.fail() count += 1 error('no') end
        function M.hang() count += 1 while true do end end
        return M";
    let (_folder, path) = written("counter", ALL, source);
    registry.load(&path).expect("a plugin");
    let instance = registry.adapter("counter").expect("an adapter");
    let count = || instance.intent("count", &Value::Null).expect("a count").last_intent;
    assert_eq!(count().as_deref(), Some("n1"));
    assert!(instance.intent("fail", &Value::Null).is_err());
    assert_eq!(count().as_deref(), Some("n3"));
    assert!(instance.intent("hang", &Value::Null).is_err());
    assert_eq!(count().as_deref(), Some("n1"));
}

/// One repetition in a pattern that compares each of four million characters with a thousand others. Luau does not call
/// the interrupt during it.
const LONG_REPETITION: &str =
    "string.find(string.rep('a', 2^22), '[' .. string.rep('b', 1000) .. 'a]*x')";

#[test]
fn an_unstoppable_call_is_abandoned() {
    let limits = Limits {
        time: Duration::from_millis(500),
        grace: Duration::from_millis(50),
        abandoned: 1,
        ..Limits::default()
    };
    let registry = Registry::new(limits);
    let instance = attacker(&registry, LONG_REPETITION);
    let error = instance.intent("attack", &json!({})).expect_err("a call that takes too long");
    assert!(matches!(error, CallError::Limit { kind: LimitKind::Time, .. }), "{error}");
    // The abandoned thread still compares, and no other thread may start meanwhile.
    let error = instance.intent("calm", &json!({})).expect_err("no thread is free");
    assert!(matches!(error, CallError::Busy(_)), "{error}");
    // An instance that already has a thread is served.
    registry.describe("attacker").expect("a description");
    // The abandoned thread ends by itself. After that, the instance works again.
    let calm = loop {
        match instance.intent("calm", &json!({})) {
            Ok(calm) => break calm,
            // A busy machine may take longer than this test's limit to load the plugin.
            Err(CallError::Busy(_) | CallError::Limit { .. }) => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(calm.actions.len(), 1);
}

#[test]
fn deeply_nested_sources_are_refused() {
    let registry = Registry::new(limits());
    let deep = |open: &str, inner: &str, close: &str| {
        let depth = 60_000 / open.len();
        format!("return {}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    for source in [
        deep("(", "1", ")"),
        deep("{", "1", "}"),
        deep("-", "1", ""),
        deep("not ", "1", ""),
        deep("1+", "1", ""),
        deep("1^", "1", ""),
        deep("'a'..", "'a'", ""),
        deep("function() return ", "1", " end"),
        deep("if 1 then ", "1", " else 1"),
        deep("f(", "1", ")"),
        format!("return a{}", ".b".repeat(30_000)),
        format!("return a{}", "()".repeat(30_000)),
        format!("type T = {}number{}", "{".repeat(30_000), "}".repeat(30_000)),
        format!("type T = {}number", "() -> ".repeat(10_000)),
        "do ".repeat(20_000),
        "if 1 then else".repeat(15_000),
        format!("local a = `{}", "{`".repeat(30_000)),
    ] {
        let (_folder, path) = written("nested", ALL, &source);
        let error = registry.load(&path).expect_err("a source that is nested too deeply");
        assert!(matches!(error, LoadError::Source { .. }), "{error}");
    }
}

#[test]
fn other_plugins_respond_while_one_hangs() {
    let registry = Arc::new(Registry::new(Limits { steps: u64::MAX, ..limits() }));
    let attacker = attacker(&registry, "while true do end");
    let hanging = thread::spawn(move || attacker.intent("attack", &json!({})));
    let mut answered = 0;
    while !hanging.is_finished() {
        registry.describe("attacker").expect("a description");
        registry
            .predicate("attacker", "calm", &PredicateInput::default())
            .expect_err("no predicate");
        let adapter = registry.adapter("attacker").expect("an adapter");
        adapter.intent("calm", &json!({})).expect("an answer");
        adapter.classify(&ClassifyContext::default()).expect_err("no such function");
        answered += 1;
    }
    let error = hanging.join().expect("the thread").expect_err("an endless loop");
    assert!(matches!(error, CallError::Limit { kind: LimitKind::Time, .. }), "{error}");
    assert!(answered > 1, "answered {answered} times");
}

#[test]
fn the_number_of_instances_is_limited() {
    let registry = Registry::new(Limits { instances: 2, ..limits() });
    let (_folder, path) = written("many", ALL, "return {}");
    registry.load(&path).expect("a plugin");
    let first = registry.adapter("many").expect("a second thread");
    let Err(error) = registry.adapter("many") else { panic!("a third thread started") };
    assert!(matches!(error, CallError::Busy(_)), "{error}");
    drop(first);
    // The thread of the dropped instance ends when it notices the drop.
    while registry.adapter("many").is_err() {
        thread::yield_now();
    }
}
