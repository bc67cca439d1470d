//! Shells: which one reads a line, what its prompt and its command look like, and commands that are typed into it.

pub mod awaited;
pub mod command_parts;
pub mod echoes;
pub mod kind;
pub mod output;
pub mod plain_prompt;
pub mod policy;
pub mod question_line;
pub mod reading;
pub mod refused_lines;
pub mod rewrites;
pub mod run;
pub mod secret;
