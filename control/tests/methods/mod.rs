//! Tests of the methods over JSON-RPC.

mod blocks;
mod capture;
mod every_method;
mod extensions;
mod files;
mod history;
mod inbox;
mod moving;
mod program_state;
mod run_callers;
mod run_prompts;
mod run_wait;
mod search;
mod secrets;
mod turns;
mod variables;
mod view;
