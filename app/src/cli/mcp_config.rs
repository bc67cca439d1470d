//! `unterm-cli mcp config`: prints the entry that lets an agent's program start Unterm's MCP server, or adds the entry
//! to the program's own configuration file. All other bytes of the file stay unchanged, and a backup of the file is
//! kept.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use serde_json::{Value, json, value::RawValue};
use toml_edit::{Array, DocumentMut, Item, Table, value};
use unterm_mux::private;

use crate::{
    cli::{
        program_name,
        report::Report,
        user_file::{followed, keep},
    },
    plain_words,
};

/// The entry for Unterm in an agent's configuration file.
struct Entry {
    /// The name of the entry. It depends on the toolset, so that an agent's program can use several toolsets.
    name: String,
    program: String,
    args: Vec<String>,
}

impl Entry {
    /// Creates the entry that starts this program.
    ///
    /// # Errors
    /// Fails if the toolset is unknown.
    fn new(program: &str, instance: Option<&str>, toolset: Option<&str>) -> Result<Self> {
        let usual = unterm_control::toolset(None).map_err(anyhow::Error::msg)?;
        let mut args = vec!["mcp".to_owned()];
        let mut name = usual.to_owned();
        if let Some(toolset) = toolset {
            let toolset = unterm_control::toolset(Some(toolset)).map_err(anyhow::Error::msg)?;
            args.extend(["--toolset".to_owned(), toolset.to_owned()]);
            if toolset != usual {
                name = format!("{usual}-{toolset}");
            }
        }
        if let Some(instance) = instance {
            args.extend(["--instance".to_owned(), instance.to_owned()]);
        }
        Ok(Self { name, program: program.to_owned(), args })
    }
}

/// The agents' programs whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Code: `~/.claude.json`
    Claude,
    /// Codex: `~/.codex/config.toml`
    Codex,
    /// Cursor: `~/.cursor/mcp.json`
    Cursor,
    /// Gemini CLI: `~/.gemini/settings.json`
    Gemini,
    /// Visual Studio Code: `mcp.json` of the user's profile
    Vscode,
}

impl Client {
    /// The configuration file of this program. Depends on the home directory and on environment variables.
    fn file(self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let own = |name: &str, usual: PathBuf| variable(name).unwrap_or(usual);
        match self {
            Self::Claude => own("CLAUDE_CONFIG_DIR", home.to_owned()).join(".claude.json"),
            Self::Codex => own("CODEX_HOME", home.join(".codex")).join("config.toml"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Vscode if cfg!(target_os = "macos") => {
                home.join("Library/Application Support/Code/User/mcp.json")
            }
            Self::Vscode => own("XDG_CONFIG_HOME", home.join(".config")).join("Code/User/mcp.json"),
        }
    }

    /// The key in the file under which MCP servers are listed.
    fn servers(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::Vscode => "servers",
            _ => "mcpServers",
        }
    }

    /// The entry as JSON, in the format of this program.
    fn json(self, Entry { program, args, .. }: &Entry) -> Value {
        match self {
            Self::Claude | Self::Vscode => {
                json!({"type": "stdio", "command": program, "args": args})
            }
            _ => json!({"command": program, "args": args}),
        }
    }

    /// Adds the entry to the text of a file. If an entry of the same name exists, replaces it.
    fn merged(self, text: &str, entry: &Entry) -> Result<String> {
        match self {
            Self::Codex => merged_toml(text, entry),
            _ => merged_json(text, self.servers(), &entry.name, &self.json(entry)),
        }
    }
}

/// Prints the entry, or adds it to the program's file.
pub fn config(
    client: Client,
    instance: Option<&str>,
    toolset: Option<&str>,
    write: bool,
) -> Result<Report> {
    let home = std::env::home_dir().context("cannot find your home directory; set HOME")?;
    let program = crate::own_program::beside(program_name::NAME)?;
    let program = program.to_str().context("the path of this program is not UTF-8")?;
    let entry = Entry::new(program, instance, toolset)?;
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let file = client.file(&home, variable);
    if !write {
        let text = client.merged("", &entry)?;
        let json = json!({ "file": file, "name": entry.name, "text": text });
        return Ok(Report::new(text, json));
    }
    let (named, name) = (file.display(), &entry.name);
    let (text, backup) = match merge(client, &file, &entry)? {
        Merged::Same => (format!("{named} already has the entry {name}\n"), None),
        Merged::New => (format!("Created {named} with the entry {name}\n"), None),
        Merged::Over(backup) => {
            let text = format!("Added the entry {name} to {named}; backup: {}\n", backup.display());
            (text, Some(backup))
        }
    };
    Ok(Report::new(text, json!({ "file": file, "name": name, "backup": backup })))
}

/// The result of adding an entry to a file.
#[derive(Debug, PartialEq, Eq)]
enum Merged {
    /// The file already contained the entry.
    Same,
    /// The file did not exist.
    New,
    /// The file was changed. The backup of the old file is at this path.
    Over(PathBuf),
}

/// The maximum size of a configuration file, in bytes. The limit is high because Claude Code stores its history in the
/// same file.
const LONGEST: u64 = 64 << 20;

/// Adds an entry to a file.
fn merge(client: Client, file: &Path, entry: &Entry) -> Result<Merged> {
    let named = || file.display().to_string();
    let file = &followed(file).with_context(named)?;
    let old = match private::read_text_of_anyone(file, LONGEST) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(anyhow!(error).context(named())),
    };
    let new = client.merged(old.as_deref().unwrap_or_default(), entry);
    let new = new.with_context(named)?;
    let folder = file.parent().with_context(named)?;
    fs::create_dir_all(folder).with_context(named)?;
    let merged = match &old {
        Some(old) if *old == new => return Ok(Merged::Same),
        Some(old) => Merged::Over(keep(file, old).with_context(named)?),
        None => Merged::New,
    };
    // Agents' programs store tokens in these files. Therefore only the owner may read a new file, or a replacement
    // while it is being written.
    let written = private::replace(file, |beside| {
        beside.write_all(new.as_bytes())?;
        match fs::metadata(file) {
            Ok(found) => beside.set_permissions(found.permissions())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        beside.sync_all()
    });
    written.with_context(named)?;
    Ok(merged)
}

/// Adds the entry to a text in TOML.
fn merged_toml(text: &str, Entry { name, program, args }: &Entry) -> Result<String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        anyhow!("not valid TOML: {}", plain_words::of_file(error.message()))
    })?;
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().context("mcp_servers is not a table")?;
    let mut entry = Table::new();
    entry.insert("command", value(program.as_str()));
    entry.insert("args", value(args.iter().map(String::as_str).collect::<Array>()));
    let is_same = servers.get(name).and_then(Item::as_table_like).is_some_and(|there| {
        ["command", "args"].iter().all(|key| {
            let plain = |item: Option<&Item>| item.map(|item| item.to_string().trim().to_owned());
            plain(there.get(key)) == plain(entry.get(key))
        })
    });
    if !is_same {
        servers.insert(name, Item::Table(entry));
    }
    Ok(document.to_string())
}

/// Adds the entry to a JSON object, under the key `servers`. The rest of the text stays unchanged.
fn merged_json(text: &str, servers: &str, name: &str, entry: &Value) -> Result<String> {
    let pretty = |value: &Value, depth: usize| -> Result<String> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(text.replace('\n', &format!("\n{}", "  ".repeat(depth))))
    };
    if text.trim().is_empty() {
        return Ok(serde_json::to_string_pretty(&json!({servers: {name: entry}}))? + "\n");
    }
    let whole = object(text)?;
    let Some(there) = whole.get(servers) else {
        let value = pretty(&json!({name: entry}), 1)?;
        return Ok(inserted(text, text, servers, &value, 1, whole.is_empty()));
    };
    let inner = object(there.get()).with_context(|| format!("{servers:?}"))?;
    match inner.get(name) {
        Some(ours) if serde_json::from_str::<Value>(ours.get()).ok().as_ref() == Some(entry) => {
            Ok(text.to_owned())
        }
        Some(ours) => {
            let start = place(text, ours.get());
            let end = start + ours.get().len();
            Ok(format!("{}{}{}", &text[..start], pretty(entry, 2)?, &text[end..]))
        }
        None => Ok(inserted(text, there.get(), name, &pretty(entry, 2)?, 2, inner.is_empty())),
    }
}

/// The members of a JSON object. Each value is a slice of the text.
fn object(text: &str) -> Result<BTreeMap<String, &RawValue>> {
    match serde_json::from_str(text) {
        Ok(members) => Ok(members),
        Err(error) => {
            let why = plain_words::of_json(&error);
            bail!("not a JSON object without comments ({why}); add the entry by hand")
        }
    }
}

/// The byte offset of `part` in `text`. `part` must be a slice of `text`.
fn place(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Inserts a new first member into the object `part` of a text.
fn inserted(
    text: &str,
    part: &str,
    name: &str,
    value: &str,
    depth: usize,
    is_empty: bool,
) -> String {
    let brace = place(text, part) + part.find('{').unwrap_or(0) + 1;
    let indent = "  ".repeat(depth);
    let end = if is_empty { format!("\n{}", "  ".repeat(depth - 1)) } else { ",".to_owned() };
    let rest = if is_empty { text[brace..].trim_start() } else { &text[brace..] };
    format!("{}\n{indent}{}: {value}{end}{rest}", &text[..brace], json!(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/unterm-cli";

    fn entry(program: &str) -> Entry {
        Entry::new(program, None, None).unwrap()
    }

    #[test]
    fn an_empty_file_gets_the_entry_alone() {
        for (client, text) in [
            (
                Client::Claude,
                r#"{"mcpServers":{"unterm":{"type":"stdio","command":"/opt/unterm-cli","args":["mcp"]}}}"#,
            ),
            (
                Client::Cursor,
                r#"{"mcpServers":{"unterm":{"command":"/opt/unterm-cli","args":["mcp"]}}}"#,
            ),
            (
                Client::Vscode,
                r#"{"servers":{"unterm":{"type":"stdio","command":"/opt/unterm-cli","args":["mcp"]}}}"#,
            ),
        ] {
            let merged: Value =
                serde_json::from_str(&client.merged("", &entry(PROGRAM)).unwrap()).unwrap();
            assert_eq!(merged, serde_json::from_str::<Value>(text).unwrap(), "{client:?}");
        }
        assert_eq!(
            Client::Codex.merged("", &entry(PROGRAM)).unwrap(),
            "[mcp_servers.unterm]\ncommand = \"/opt/unterm-cli\"\nargs = [\"mcp\"]\n"
        );
    }

    #[test]
    fn adding_the_entry_keeps_the_rest_of_the_file() {
        let json = json!({"command": PROGRAM, "args": ["mcp"]});
        let merge = |text: &str| merged_json(text, "mcpServers", "unterm", &json);
        let whole = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        for text in [
            "{}",
            "{ }\n",
            "{\"z\": 1,   \"a\": [ 2 ]}",
            "{\n\t\"z\": 1.0e5,\n\t\"mcpServers\": {}\n}\n",
            "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}, \"b\": \"{\"}",
            "{\"b\": \"unterm\", \"mcpServers\": {\"unterm\": {\"command\": \"old\"}, \"z\": {}}}",
        ] {
            let merged = merge(text).unwrap();
            let mut expected = whole(text);
            expected["mcpServers"]["unterm"] = json.clone();
            assert_eq!(whole(&merged), expected, "{text} became {merged}");
            assert_eq!(merge(&merged).unwrap(), merged, "twice is once");
            // The old content is still there, with its order and formatting.
            let (kept, _) = text
                .split_once("\"mcpServers\"")
                .unwrap_or((text.trim_end_matches(['}', '\n', ' ']), ""));
            let kept = kept.trim_start_matches('{');
            assert!(merged.contains(kept), "{kept:?} is not in {merged}");
        }
        for wrong in ["[]", "{\"a\": 1, // why\n}", "{\"mcpServers\": []}", "nothing"] {
            assert!(merge(wrong).is_err(), "{wrong}");
        }
        let text = "# mine\nmodel = \"x\"  # this one\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let merged = Client::Codex.merged(text, &entry(PROGRAM)).unwrap();
        assert!(merged.starts_with(text), "{merged}");
        assert!(merged.contains("[mcp_servers.unterm]\ncommand = \"/opt/unterm-cli\""), "{merged}");
        assert_eq!(Client::Codex.merged(&merged, &entry(PROGRAM)).unwrap(), merged);
        let moved = Client::Codex.merged(&merged, &entry("/new")).unwrap();
        assert_eq!(moved, merged.replace(PROGRAM, "/new"));
        assert!(Client::Codex.merged("a = [", &entry(PROGRAM)).is_err());
        assert!(Client::Codex.merged("mcp_servers = 1", &entry(PROGRAM)).is_err());
    }

    #[test]
    fn each_toolset_has_an_entry_of_its_own_and_keeps_its_instance() {
        let mut text = String::new();
        for toolset in [None, Some("small"), Some("iterm"), Some("tester"), Some("unterm")] {
            let entry = Entry::new(PROGRAM, Some("bravo"), toolset).unwrap();
            text = Client::Cursor.merged(&text, &entry).unwrap();
        }
        let merged: Value = serde_json::from_str(&text).unwrap();
        let entry = |toolset: &str| {
            let args = ["mcp", "--toolset", toolset, "--instance", "bravo"];
            json!({"command": PROGRAM, "args": args})
        };
        // The default toolset uses the default name, even if it is given explicitly.
        let servers = json!({
            "unterm": entry("unterm"),
            "unterm-iterm": entry("iterm"),
            "unterm-small": entry("small"),
            "unterm-tester": entry("tester"),
        });
        assert_eq!(merged, json!({"mcpServers": servers}));
        let toml = Entry::new(PROGRAM, None, Some("iterm")).unwrap();
        let toml = Client::Codex.merged("", &toml).unwrap();
        assert!(toml.starts_with("[mcp_servers.unterm-iterm]\n"), "{toml}");
        let error = Entry::new(PROGRAM, None, Some("nope")).err().unwrap().to_string();
        assert_eq!(error, "There is no toolset \"nope\"; there are: unterm, small, iterm, tester");
    }

    #[test]
    fn the_file_as_it_was_is_kept() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        let file = Client::Gemini.file(home.path(), |_| None);
        let merge = |program| merge(Client::Gemini, &file, &entry(program)).unwrap();
        assert_eq!(merge(PROGRAM), Merged::New);
        assert_eq!(merge(PROGRAM), Merged::Same);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let before = fs::read_to_string(&file).unwrap();
        let Merged::Over(backup) = merge("/new") else { panic!("there was a file") };
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        // The next backup has a different name.
        let Merged::Over(next) = merge("/newer") else { panic!("there was a file") };
        assert!(fs::read_to_string(&next).unwrap().contains("\"/new\""));
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        assert_eq!(fs::metadata(&next).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::read_to_string(&file).unwrap().contains("\"/newer\""));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let first = Client::Cursor.file(home.path(), |_| None);
        super::merge(Client::Cursor, &first, &entry(PROGRAM)).unwrap();
        assert_eq!(fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600, "a new one");
        // No other file was left behind. An invalid file stays unchanged.
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 3);
        fs::write(&file, "{ // mine\n}").unwrap();
        assert!(super::merge(Client::Gemini, &file, &entry(PROGRAM)).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ // mine\n}");
    }

    #[test]
    fn a_link_stays_and_its_target_is_written() {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().unwrap();
        let dotfiles = home.path().join("dotfiles");
        fs::create_dir_all(&dotfiles).unwrap();
        fs::create_dir_all(home.path().join(".cursor")).unwrap();
        let file = Client::Cursor.file(home.path(), |_| None);
        symlink("../dotfiles/mcp.json", &file).unwrap();
        symlink("cursor.json", dotfiles.join("mcp.json")).unwrap();
        assert_eq!(merge(Client::Cursor, &file, &entry(PROGRAM)).unwrap(), Merged::New);
        let Merged::Over(_) = merge(Client::Cursor, &file, &entry("/new")).unwrap() else {
            panic!("there was a file")
        };
        for link in [&file, &dotfiles.join("mcp.json")] {
            assert!(link.is_symlink(), "{}", link.display());
        }
        assert!(fs::read_to_string(dotfiles.join("cursor.json")).unwrap().contains("/new"));

        let circle = home.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(merge(Client::Cursor, &circle, &entry(PROGRAM)).is_err());
    }
}
