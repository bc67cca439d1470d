//! Tests of the methods over JSON-RPC.

mod beyond;
mod blocks;
mod capture;
mod every_method;
mod files;
mod history;
mod program_state;
mod run_callers;
mod run_wait;
mod secrets;
mod turns;
mod variables;
mod view;
