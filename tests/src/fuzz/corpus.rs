//! The inputs from which fuzzing starts: recorded sessions, earlier findings, and recent inputs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Body, HEADER, Random, mutate};

/// The number of recent inputs that are stored for mutation.
const RECENT: usize = 64;

/// Inputs that failed before, each a file in `fuzz/regressions/BODY`, sorted by name.
///
/// # Errors
///
/// If a file can't be read. A missing folder counts as empty.
pub fn regressions(body: &Body) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    read_folder(&folder().join("regressions").join(body.name), |_| true)
}

/// The `fuzz` folder beside this crate's manifest.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn read_folder(
    folder: &Path,
    select: impl Fn(&Path) -> bool,
) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(files) };
    for entry in entries {
        let path = entry?.path();
        if path.is_file() && select(&path) {
            files.push((path.clone(), fs::read(path)?));
        }
    }
    files.sort();
    Ok(files)
}

/// Inputs for one body.
pub struct Corpus {
    body: &'static Body,
    seeds: Vec<Vec<u8>>,
    recent: Vec<Vec<u8>>,
}

impl Corpus {
    /// Loads the recorded sessions of the engine's tests and the body's regressions.
    ///
    /// # Errors
    ///
    /// If a file can't be read.
    pub fn new(body: &'static Body) -> std::io::Result<Self> {
        let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mux/term/src/tests/sessions");
        let is_recording = |path: &Path| path.extension().is_some_and(|kind| kind == "vt");
        let mut seeds: Vec<Vec<u8>> = read_folder(&sessions, is_recording)?
            .into_iter()
            .map(|(_, bytes)| [vec![0; HEADER], bytes].concat())
            .collect();
        seeds.extend(regressions(body)?.into_iter().map(|(_, bytes)| bytes));
        Ok(Self { body, seeds, recent: Vec::new() })
    }

    /// The next input: usually a new one, otherwise a mutation of a stored or recent input.
    pub fn next(&mut self, random: &mut Random) -> Vec<u8> {
        let mut input = match random.below(8) {
            0 if !self.seeds.is_empty() => {
                let mut input = self.seeds[random.below(self.seeds.len())].clone();
                let way = random.next().to_le_bytes();
                input.splice(..HEADER.min(input.len()), way);
                input
            }
            1 | 2 if !self.recent.is_empty() => {
                self.recent[random.below(self.recent.len())].clone()
            }
            _ => self.body.generate(random),
        };
        if random.one_in(2) {
            let other = self.recent.get(random.below(RECENT)).cloned().unwrap_or_default();
            mutate(&mut input, &other, random);
        }
        let place = random.below(RECENT);
        match self.recent.get_mut(place) {
            Some(old) => old.clone_from(&input),
            None => self.recent.push(input.clone()),
        }
        input
    }
}
