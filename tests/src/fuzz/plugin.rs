//! Bodies for plugins: hostile Luau code, and hostile screens for the built-in plugins.

use std::{cell::RefCell, fs};

use serde_json::json;
use unterm_plugin::{CallError, ClassifyContext, Instance, Limits, PredicateInput, Registry};

use super::{HEADER, Random};

/// The values in random code.
const VALUES: &[&str] = &[
    "nil",
    "true",
    "0",
    "-1",
    "2^31",
    "2^53 + 1",
    "0/0",
    "1/0",
    "'a'",
    "'\\0\\255'",
    "''",
    "{}",
    "{1, 2, 3}",
    "{ state = 'ready' }",
    "{ actions = {} }",
];

/// Expressions that contain other expressions. A `@` stands for an expression.
const EXPRESSIONS: &[&str] = &[
    "{ actions = { @ }, last_intent = @ }",
    "{ [@] = @ }",
    "context",
    "params",
    "params.x",
    "M",
    "ptywright",
    "ptywright.action.text(@)",
    "ptywright.action.wait_for(@, @)",
    "ptywright.action.key(@)",
    "ptywright.action.signal(@)",
    "ptywright.action.mark_transcript(@)",
    "ptywright.matcher.any(@, @)",
    "ptywright.matcher.all({ @ })",
    "ptywright.matcher.screen_regex(@)",
    "ptywright.matcher.screen_stable(@)",
    "{ type = @, value = @ }",
    "string.rep(@, @)",
    "string.rep('ab', 1000)",
    "string.rep('x', 2^20)",
    "string.format(@, @)",
    "string.format('%99.99f', @)",
    "string.find(@, @, @, @)",
    "string.gsub(@, @, @)",
    "string.gsub(context.screen, '.*.*.*b', '%1')",
    "string.split(@, @)",
    "string.byte(@, @, @)",
    "string.char(@)",
    "string.pack(@, @)",
    "string.unpack(@, @)",
    "string.pack('s8', @)",
    "utf8.char(@)",
    "utf8.codepoint(@, @, @)",
    "utf8.len(@)",
    "buffer.create(@)",
    "buffer.tostring(buffer.create(64))",
    "buffer.readf64(buffer.create(8), @)",
    "buffer.fill(buffer.create(8), @, @, @)",
    "bit32.lshift(@, @)",
    "math.random(@, @)",
    "math.floor(@)",
    "table.create(@, @)",
    "table.concat(@, @)",
    "table.move(@, @, @, @, @)",
    "table.unpack(@, @, @)",
    "table.unpack({}, 1, 7000)",
    "table.insert(@, @, @)",
    "table.sort(@, @)",
    "table.freeze(@)",
    "table.clone(@)",
    "table.clear(@)",
    "setmetatable(@, @)",
    "setmetatable({}, { __index = function(t, k) return t[k] end })",
    "setmetatable({}, { __tostring = function() return @ end, __len = function() return @ end })",
    "setmetatable({}, { __iter = function() return function() return 1 end end })",
    "setmetatable({}, { __concat = function() return @ end, __eq = function() error(@) end })",
    "getmetatable(@)",
    "tostring(@)",
    "tonumber(@, @)",
    "select(@, @, @)",
    "next(@, @)",
    "rawget(@, @)",
    "rawset(@, @, @)",
    "pcall(@, @)",
    "xpcall(@, @)",
    "error(@, @)",
    "assert(@, @)",
    "print(@)",
    "typeof(@)",
    "vector.create(@, @, @)",
    "coroutine.create(@)",
    "coroutine.wrap(@)()",
    "coroutine.resume(coroutine.create(function() return coroutine.yield(@) end))",
    "coroutine.close(coroutine.running())",
    "function(...) return @ end",
    "(function(...) return ... end)(@, @)",
    "function() while true do end end",
    "@ .. @",
    "@ + @",
    "@ == @",
    "@ < @",
    "#@",
    "-@",
    "not @",
    "@ // @",
    "@[@]",
    "@.x",
    "@:x(@)",
    "`{@}`",
    "if @ then @ else @",
];

/// The statements of random code. A `@` stands for an expression.
const STATEMENTS: &[&str] = &[
    "local x = @",
    "x = @",
    "M.x = @",
    "@()",
    "return @",
    "if @ then return @ end",
    "for i = @, @, @ do x = @ end",
    "for k, v in @ do x = v end",
    "for i = 1, 100 do x = @ end",
    "while @ do x = @ end",
    "repeat x = @ until @",
    "while true do pcall(function() x = @ end) end",
    "local function f(...) return f(@, ...) end x = f()",
    "coroutine.wrap(function() @() end)()",
    "M[@] = @",
    "error(@)",
    "x = x or {} x[#x + 1] = @",
];

/// The maximum depth of a random expression.
const DEPTH: usize = 4;

/// Adds a statement of a plugin.
pub(super) fn statement(random: &mut Random, out: &mut Vec<u8>) {
    let text = filled(random.pick(STATEMENTS), random, DEPTH);
    // `return` must be the last statement of its block.
    out.extend_from_slice(format!("do {text} end\n").as_bytes());
}

fn filled(text: &str, random: &mut Random, depth: usize) -> String {
    let mut all = String::new();
    for (number, part) in text.split('@').enumerate() {
        if number > 0 {
            let is_value = depth == 0 || random.one_in(8);
            let chosen = random.pick(if is_value { VALUES } else { EXPRESSIONS });
            all += "(";
            all += &filled(chosen, random, depth.saturating_sub(1));
            all += ")";
        }
        all += part;
    }
    all
}

/// Limits that a test reaches quickly by steps or memory. The time is long, because the machine may be busy.
fn limits() -> Limits {
    Limits { steps: 100_000, memory: 8 << 20, ..Limits::default() }
}

/// Runs the input as the code of a plugin's functions. Each call must return a result or an error of the plugin, the
/// plugin's thread must survive, and the next call must be answered.
pub(super) fn play(input: &[u8]) {
    let code = String::from_utf8_lossy(input.get(HEADER..).unwrap_or_default());
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "name = \"attacker\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\n\
        entrypoint = \"main.luau\"\npermissions = ['screen.read', 'transcript.read', 'input.write', \
        'matcher.wait', 'session.kill']\n";
    let source = format!(
        "local M = {{}}\nlocal x\nfunction M.calm() return {{ actions = {{}} }} end\n\
         function M.classify(context)\nlocal params = context\n{code}\nend\n\
         function M.attack(params)\nlocal context = {{ screen = 'aaaa' }}\n{code}\nend\n\
         function M.attack_matcher(params)\nlocal context = {{ screen = 'aaaa' }}\n{code}\nend\n\
         function M.attack_predicate(context)\nlocal params = context\n{code}\nend\nreturn M\n"
    );
    let path = folder.path().join("manifest.toml");
    fs::write(&path, manifest).expect("a manifest");
    fs::write(folder.path().join("main.luau"), source).expect("a source");
    let registry = Registry::new(limits());
    // Code that is not valid Luau is refused.
    if registry.load(&path).is_err() {
        return;
    }
    let plugin = registry.adapter("attacker").expect("an adapter");
    let context = context("$ make\nall done\n");
    check(plugin.classify(&context));
    check(plugin.intent("attack", &json!({"x": 1})));
    check(plugin.wait_matcher("attack_matcher", &json!({})));
    check(plugin.predicate("attack_predicate", &PredicateInput::default()));
    check(registry.describe("attacker"));
    // The code may have removed this function.
    check(plugin.intent("calm", &json!({})));
}

/// Checks that a call ended by itself or at a limit.
fn check<T>(result: Result<T, CallError>) {
    match result {
        Ok(_)
        | Err(
            CallError::NoFunction(_)
            | CallError::Script { .. }
            | CallError::Limit { .. }
            | CallError::Result { .. }
            | CallError::Permission { .. },
        ) => {}
        Err(error) => panic!("{error:?}"),
    }
}

fn context(screen: &str) -> ClassifyContext {
    ClassifyContext { transcript: screen.to_owned(), ..ClassifyContext::of_screen(screen) }
}

thread_local! {
    /// An adapter of each built-in plugin.
    static BUILT_IN: RefCell<Vec<(String, Instance)>> = RefCell::default();
}

/// Lets each built-in plugin classify the input as a screen and a title. Any text has a state.
pub(super) fn classify(input: &[u8]) {
    let text = String::from_utf8_lossy(input.get(HEADER..).unwrap_or_default());
    let title: String = text.chars().take(40).collect();
    let mut context = context(&text);
    context.title = title;
    context.stable_ms = u64::from(input.first().copied().unwrap_or_default()) * 20;
    BUILT_IN.with_borrow_mut(|plugins| {
        if plugins.is_empty() {
            let registry = Registry::default();
            for manifest in registry.built_in_manifests() {
                let adapter = registry.adapter(&manifest.name);
                let adapter = adapter.unwrap_or_else(|error| panic!("{}: {error}", manifest.name));
                plugins.push((manifest.name, adapter));
            }
        }
        for (name, plugin) in plugins {
            let state = plugin.classify(&context);
            assert!(state.is_ok(), "{name}: {state:?}");
        }
    });
}
