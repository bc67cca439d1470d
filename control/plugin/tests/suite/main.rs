//! Tests of the engine with plugins of these tests, and of the built-in plugins.

mod claude_code;
mod codex;
mod engine;
mod hostile;
mod shell;
mod support;
