//! The engine with plugins of its tests, and the plugins that Unterm brings.

mod claude_code;
mod codex;
mod engine;
mod hostile;
mod shell;
mod support;
