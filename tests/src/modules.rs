//! Finds which modules of a crate import each other, so that a tidy check can forbid cycles.
//!
//! Owns a reader of Rust paths that works only on tokens: `use` declarations with their groups, aliases and globs, and
//! paths in code. It follows a name through re-exports to the module that defines it. Test modules are ignored, and
//! inline modules belong to their file. It never checks types, so a method call does not count as an import.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::Tree;

/// The path of a module or an item, from the crate's root.
type Path = Vec<String>;

/// The modules of one crate, and for each module the other modules that it imports.
pub struct Modules {
    /// The keys are paths of modules with their own files, such as `pane::title`. The root is `crate`.
    imports: BTreeMap<String, BTreeSet<String>>,
}

impl Modules {
    /// Reads a library's modules, starting from `lib.rs` in `folder` (such as `mux/src`).
    ///
    /// # Panics
    ///
    /// If a module's file is missing, or contains no Rust.
    pub fn read(tree: &Tree, folder: &str) -> Self {
        let mut scopes = BTreeMap::new();
        read_file(tree, folder, Vec::new(), &mut scopes);
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, scope) in &scopes {
            let own = imports.entry(name(&scope.file)).or_default();
            for reference in &scope.references {
                let Some(target) = find(&scopes, module, &reference.path, 0) else { continue };
                let target = &scopes[&target].file;
                // A public re-export of an item that a child module defines is not an import.
                let is_face = reference.is_public && target.starts_with(&scope.file);
                if *target != scope.file && !is_face {
                    own.insert(name(target));
                }
            }
        }
        Self { imports }
    }

    /// These modules, with `machine` and all its descendants counted as one module.
    pub fn with_machine(self, machine: &str) -> Self {
        let inside = format!("{machine}::");
        let one = |module: String| match module.starts_with(&inside) {
            true => machine.to_owned(),
            false => module,
        };
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, others) in self.imports {
            imports.entry(one(module)).or_default().extend(others.into_iter().map(one));
        }
        if let Some(own) = imports.get_mut(machine) {
            own.remove(machine);
        }
        Self { imports }
    }

    /// Groups of modules in which each module imports all others, directly or indirectly. Each group is listed with
    /// every import inside it.
    pub fn circles(&self) -> Vec<String> {
        let reached: BTreeMap<&String, BTreeSet<&String>> =
            self.imports.keys().map(|module| (module, self.reached(module))).collect();
        let mut circles = BTreeSet::new();
        for (module, others) in &reached {
            let circle: Vec<&String> =
                others.iter().copied().filter(|other| reached[other].contains(module)).collect();
            if !circle.is_empty() {
                circles.insert(circle);
            }
        }
        let describe = |circle: Vec<&String>| {
            let imports = circle.iter().flat_map(|module| {
                let within = self.imports[*module].iter().filter(|other| circle.contains(other));
                within.map(move |other| format!("{module} → {other}"))
            });
            imports.collect::<Vec<_>>().join(", ")
        };
        circles.into_iter().map(describe).collect()
    }

    /// Pairs of folders in the same place whose modules import each other. Each pair is listed with its imports. A
    /// folder consists of a module that has child modules, and the child modules.
    pub fn mutual_folders(&self) -> Vec<String> {
        let modules: Vec<Vec<&str>> = self.imports.keys().map(|module| parts(module)).collect();
        let is_folder = |path: &[&str]| {
            modules.iter().any(|module| module.len() > path.len() && module.starts_with(path))
        };
        let mut imports: BTreeMap<(Vec<&str>, Vec<&str>), Vec<String>> = BTreeMap::new();
        for (module, others) in &self.imports {
            for other in others {
                let (from, to) = (parts(module), parts(other));
                let same = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
                let (Some(from), Some(to)) = (from.get(..=same), to.get(..=same)) else { continue };
                if is_folder(from) && is_folder(to) {
                    let import = format!("{module} → {other}");
                    imports.entry((from.to_vec(), to.to_vec())).or_default().push(import);
                }
            }
        }
        let is_mutual = |from: &Vec<&str>, to: &Vec<&str>| {
            from < to && imports.contains_key(&(to.clone(), from.clone()))
        };
        let mutual = imports.keys().filter(|(from, to)| is_mutual(from, to));
        mutual
            .map(|(from, to)| {
                let ways = [(from, to), (to, from)];
                let ways = ways.map(|(from, to)| &imports[&(from.clone(), to.clone())]);
                ways.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
            })
            .collect()
    }

    /// All modules that a module imports, directly or indirectly.
    fn reached<'a>(&'a self, module: &'a String) -> BTreeSet<&'a String> {
        let mut reached = BTreeSet::new();
        let mut open = vec![module];
        while let Some(next) = open.pop() {
            open.extend(self.imports[next].iter().filter(|other| reached.insert(*other)));
        }
        reached
    }
}

/// The definitions and references of a module, which may be inline or in a file.
#[derive(Default)]
struct Scope {
    /// The module in whose file this module is.
    file: Path,
    items: BTreeSet<String>,
    /// The names that `use` imports, and the path of each.
    names: BTreeMap<String, Path>,
    /// Modules from which `use` imports all names.
    globs: Vec<Path>,
    references: Vec<Reference>,
}

struct Reference {
    /// The path as it is written in the code.
    path: Path,
    /// Whether the path is in a `use` that other modules can see.
    is_public: bool,
}

type Scopes = BTreeMap<Path, Scope>;

/// The path of a module, from its name. The root's path is empty.
fn parts(name: &str) -> Vec<&str> {
    name.split("::").filter(|part| *part != "crate").collect()
}

fn name(module: &[String]) -> String {
    if module.is_empty() { "crate".to_owned() } else { module.join("::") }
}

fn read_file(tree: &Tree, folder: &str, module: Path, scopes: &mut Scopes) {
    let base = [&[folder.to_owned()], module.as_slice()].concat().join("/");
    let candidates = match module.is_empty() {
        true => vec![format!("{base}/lib.rs")],
        false => vec![format!("{base}.rs"), format!("{base}/mod.rs")],
    };
    let file = tree.files.iter().find(|file| candidates.contains(&file.path));
    let file = file.unwrap_or_else(|| panic!("{} is missing", candidates.join(" or ")));
    let tokens = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
    let scope = Scope { file: module.clone(), ..Scope::default() };
    scopes.insert(module.clone(), scope);
    let mut reader = Reader { scopes, children: Vec::new() };
    reader.read(tokens, &module);
    for child in reader.children {
        read_file(tree, folder, child, scopes);
    }
}

struct Reader<'a> {
    scopes: &'a mut Scopes,
    /// Modules with files of their own.
    children: Vec<Path>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream, module: &Path) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut is_public = false;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at + 1..];
            let mut taken = 1;
            let was_public = std::mem::take(&mut is_public);
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if let [TokenTree::Group(attribute), item @ ..] = rest {
                        taken += 1 + if is_test(attribute.stream()) { item_len(item) } else { 0 };
                    }
                }
                TokenTree::Group(group) => {
                    self.read(group.stream(), module);
                    // `pub(crate)`.
                    is_public = was_public && group.delimiter() == Delimiter::Parenthesis;
                }
                TokenTree::Ident(ident) => match (ident.to_string().as_str(), rest) {
                    ("pub", _) => is_public = true,
                    // `impl Trait + use<'a>` does not name a module.
                    ("use", [TokenTree::Ident(_), ..]) => {
                        taken += rest.iter().position(|token| is_punct(token, ';')).unwrap_or(0);
                        self.read_use(&rest[..taken - 1], Vec::new(), module, was_public);
                    }
                    ("mod", [TokenTree::Ident(child), TokenTree::Group(body), ..]) => {
                        let path = [module.as_slice(), &[child.to_string()]].concat();
                        let file = self.scopes[module].file.clone();
                        self.scopes.insert(path.clone(), Scope { file, ..Scope::default() });
                        self.read(body.stream(), &path);
                        taken += 2;
                    }
                    ("mod", [TokenTree::Ident(child), ..]) => {
                        self.children.push([module.as_slice(), &[child.to_string()]].concat());
                        taken += 1;
                    }
                    (
                        "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static",
                        [TokenTree::Ident(item), ..],
                    ) => {
                        self.scope(module).items.insert(item.to_string());
                    }
                    _ => {
                        let (path, len) = path(&tokens[at..]);
                        taken = len;
                        if path.len() > 1 {
                            self.refer(module, path, false);
                        }
                    }
                },
                _ => {}
            }
            at += taken;
        }
    }

    /// Reads the tree of names after `use`. The names are relative to `prefix`.
    fn read_use(&mut self, tokens: &[TokenTree], prefix: Path, module: &Path, is_public: bool) {
        let trees = tokens.split(|token| is_punct(token, ','));
        for tree in trees.filter(|tree| !tree.is_empty()) {
            let (own, len) = path(tree);
            let mut path = [prefix.as_slice(), &own].concat();
            match &tree[len..] {
                [.., TokenTree::Group(group)] => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.read_use(&inner, path, module, is_public);
                    continue;
                }
                [.., star] if is_punct(star, '*') => {
                    self.scope(module).globs.push(path.clone());
                }
                [TokenTree::Ident(_as), TokenTree::Ident(alias)] => {
                    self.scope(module).names.insert(alias.to_string(), path.clone());
                }
                _ => {
                    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                        path.pop();
                    }
                    let Some(last) = path.last().cloned() else { continue };
                    self.scope(module).names.insert(last, path.clone());
                }
            }
            self.refer(module, path, is_public);
        }
    }

    fn refer(&mut self, module: &Path, path: Path, is_public: bool) {
        self.scope(module).references.push(Reference { path, is_public });
    }

    fn scope(&mut self, module: &Path) -> &mut Scope {
        self.scopes.get_mut(module).expect("it is being read")
    }
}

/// The names at the start of `tokens` that are joined by `::`, and the number of their tokens, at least one.
fn path(tokens: &[TokenTree]) -> (Path, usize) {
    let mut path = Vec::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(name)) = tokens.get(at) {
        path.push(name.to_string());
        at += 1;
        match &tokens[at..] {
            [one, other, ..] if is_punct(one, ':') && is_punct(other, ':') => at += 2,
            _ => break,
        }
    }
    (path, at.max(1))
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether an attribute restricts an item to tests, such as `cfg(test)` or `cfg(all(test, …))`.
fn is_test(attribute: TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The number of tokens of an item, including the attributes before it.
fn item_len(tokens: &[TokenTree]) -> usize {
    let is_use = tokens.iter().take(4).any(|token| token.to_string() == "use");
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => !is_use && group.delimiter() == Delimiter::Brace,
        token => is_punct(token, ';'),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |last| last + 1)
}

/// The module that defines the item with this `path`, as seen from `module`. `None` if no module of the crate defines
/// it.
fn find(scopes: &Scopes, module: &Path, path: &[String], depth: usize) -> Option<Path> {
    // `use` declarations may refer to each other in a cycle.
    if depth > 16 {
        return None;
    }
    let (first, rest) = path.split_first()?;
    let start = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module[..module.len().checked_sub(1)?].to_vec(),
        name => {
            let child = [module.as_slice(), &[name.to_owned()]].concat();
            if scopes.contains_key(&child) {
                child
            } else {
                let target = scopes[module].names.get(name)?;
                // `use png;` and `use serde_json::json;` refer to other crates.
                if target.first() == Some(first) {
                    return None;
                }
                return find(scopes, module, &[target.as_slice(), rest].concat(), depth + 1);
            }
        }
    };
    find_in(scopes, start, rest, depth)
}

fn find_in(scopes: &Scopes, module: Path, rest: &[String], depth: usize) -> Option<Path> {
    let Some((next, rest)) = rest.split_first() else { return Some(module) };
    let child = [module.as_slice(), std::slice::from_ref(next)].concat();
    if scopes.contains_key(&child) {
        return find_in(scopes, child, rest, depth);
    }
    let scope = &scopes[&module];
    if next == "super" {
        return find_in(scopes, module[..module.len().checked_sub(1)?].to_vec(), rest, depth);
    }
    if scope.items.contains(next) {
        return Some(module);
    }
    if let Some(target) = scope.names.get(next) {
        return find(scopes, &module, &[target.as_slice(), rest].concat(), depth + 1);
    }
    for glob in &scope.globs {
        let Some(from) = find(scopes, &module, glob, depth + 1) else { continue };
        if scopes[&from].items.contains(next) {
            return Some(from);
        }
    }
    // The path names a macro, or an item that a macro defines.
    Some(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceFile;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        modules(files).circles()
    }

    fn modules(files: &[(&str, &str)]) -> Modules {
        let files = files.iter().map(|(path, text)| SourceFile {
            path: format!("src/{path}"),
            text: (*text).to_owned(),
        });
        let tree = Tree { root: "/".into(), files: files.collect() };
        Modules::read(&tree, "src")
    }

    #[test]
    fn a_machine_counts_as_one_module() {
        let files = |low: &'static str| {
            modules(&[
                ("lib.rs", "mod low; mod machine; mod high;"),
                ("low.rs", low),
                ("machine.rs", "mod a; mod b; use a::A; use crate::low::Low; pub struct Machine;"),
                ("machine/a.rs", "use super::Machine; use super::b::B; pub struct A;"),
                ("machine/b.rs", "use super::a::A; pub struct B;"),
                ("high.rs", "use crate::machine::Machine;"),
            ])
        };
        let layered = files("pub struct Low;");
        assert!(!layered.circles().is_empty());
        assert_eq!(layered.with_machine("machine").circles(), Vec::<String>::new());
        let circle = files("pub struct Low; use crate::machine::b::B;").with_machine("machine");
        assert_eq!(circle.circles(), ["low → machine, machine → low"]);
    }

    #[test]
    fn folders_that_import_each_other_are_found() {
        let files = |a: &'static str, b: &'static str| {
            [
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", "mod x; mod y;"),
                ("a/x.rs", a),
                ("a/y.rs", "pub struct Y;"),
                ("b.rs", "mod x; mod y;"),
                ("b/x.rs", "pub struct X;"),
                ("b/y.rs", b),
                ("c.rs", "use crate::a::y::Y; pub struct C;"),
            ]
        };
        let mutual = |a, b| modules(&files(a, b)).mutual_folders();
        let to_b = "use crate::b::x::X;";
        assert_eq!(mutual(to_b, "use crate::a::y::Y;"), ["a::x → b::x, b::y → a::y"]);
        assert_eq!(mutual(to_b, "use super::x::X;"), [] as [&str; 0]);
        // A file and a folder may import each other.
        assert_eq!(mutual("use crate::c::C;", ""), [] as [&str; 0]);
    }

    #[test]
    fn layered_modules_have_no_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::{self, B};"),
            ("a.rs", "//! A.\npub struct A; // crate::b::B\n"),
            ("b.rs", "mod c; use crate::A; pub use c::C; pub struct B(A); use std::fmt;"),
            (
                "b/c.rs",
                "use super::B; pub struct C(B); #[cfg(test)] use crate::b::C; #[cfg(test)] mod t { use crate::b; }",
            ),
        ];
        assert_eq!(circles(&files), [] as [&str; 0]);
    }

    #[test]
    fn circles_are_found_through_re_exports_aliases_and_globs() {
        let lib = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*; mod d { pub struct D; }");
        let a = |text| ("a.rs", text);
        let b = |text| ("b.rs", text);
        let both = ["a → b, b → a"];
        for (one, other) in [
            ("use crate::B; pub struct A;", "use crate::A; pub struct B;"),
            ("use crate::{b::{B as C}, d::D}; pub struct A;", "use super::a; pub struct B;"),
            ("pub struct A(crate::b::B);", "pub fn b() { super::a::A }"),
            ("use crate::b as e; pub struct A(e::B);", "use crate::a::*; pub struct B;"),
            (
                "pub(crate) use crate::b::B; pub struct A;",
                "fn f() -> crate::A { vec![] } pub struct B;",
            ),
        ] {
            assert_eq!(circles(&[lib, a(one), b(other)]), both, "{one} {other}");
        }
        // A parent and its child import each other.
        let files = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod c; pub struct A(c::C);"),
            ("a/c.rs", "use super::A; pub struct C;"),
        ];
        assert_eq!(circles(&files), ["a → a::c, a::c → a"]);
    }
}
