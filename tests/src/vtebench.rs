//! alacritty's vtebench, run from a checkout. This tree contains none of its code.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};

use crate::wait_for;

/// Columns of the terminal in which vtebench runs.
pub const COLS: u16 = 120;
/// Rows of the terminal in which vtebench runs.
pub const ROWS: u16 = 40;
/// The number of samples of one run.
const SAMPLES: &str = "3";
/// The number of bytes of a sample. vtebench reports whole milliseconds, so a sample must take several milliseconds.
const SAMPLE_BYTES: &str = "4194304";

/// The program and its benchmarks.
pub struct Vtebench {
    program: PathBuf,
    benchmarks: Vec<PathBuf>,
}

impl Vtebench {
    /// Builds vtebench in the checkout that `$VTEBENCH` names, independent of this run's target directory. `None` if
    /// the variable is not set.
    ///
    /// # Errors
    ///
    /// If vtebench can't be built.
    pub fn from_environment() -> Result<Option<Self>> {
        let Some(checkout) = std::env::var_os("VTEBENCH").map(PathBuf::from) else {
            return Ok(None);
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = checkout.join("target");
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--release", "--manifest-path"])
            .arg(checkout.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&target)
            .status()?;
        ensure!(status.success(), "vtebench could not be built in {}", checkout.display());
        let folder = checkout.join("benchmarks");
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let mut benchmarks: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        benchmarks.retain(|path| path.is_dir());
        benchmarks.sort();
        Ok(Some(Self { program: target.join("release/vtebench"), benchmarks }))
    }

    /// The names of the benchmarks that are in `chosen`. If `chosen` is empty, all names.
    pub fn names(&self, chosen: &[String]) -> Vec<String> {
        let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
        let all = self.benchmarks.iter().filter_map(name);
        all.filter(|name| chosen.is_empty() || chosen.contains(name)).collect()
    }

    /// Runs one benchmark once. Returns the median of its samples in milliseconds. `run` receives the words of a
    /// command and the path of a file. It must run the command in a terminal of [`COLS`]×[`ROWS`] that is the command's
    /// stdout. The file contains the results when the command has ended.
    ///
    /// # Errors
    ///
    /// The error of `run`, or a run that measured nothing.
    pub fn run(
        &self,
        benchmark: &str,
        run: impl FnOnce(&[String], &Path) -> Result<()>,
    ) -> Result<f64> {
        let path = self.benchmarks.iter().find(|path| path.ends_with(benchmark));
        let path = path.with_context(|| format!("no benchmark {benchmark}"))?;
        let folder = tempfile::tempdir()?;
        let figures = folder.path().join("figures.dat");
        let words = [
            &self.program.to_string_lossy(),
            "--silent",
            "--max-samples",
            SAMPLES,
            "--min-bytes",
            SAMPLE_BYTES,
            "--benchmarks",
            &path.to_string_lossy(),
            "--dat",
            &figures.to_string_lossy(),
        ]
        .map(str::to_owned);
        run(&words, &figures)?;
        // The benchmark's name, then one line per sample.
        let text = fs::read_to_string(&figures)?;
        let samples = text.lines().skip(1).map(|line| line.trim().parse());
        let mut samples: Vec<f64> =
            samples.collect::<Result<_, _>>().with_context(|| text.clone())?;
        ensure!(!samples.is_empty(), "vtebench measured nothing: {text:?}");
        Ok(median(&mut samples))
    }
}

/// Waits until a run has written its results. vtebench writes them at once, as its last action.
///
/// # Errors
///
/// If the results do not appear. The error contains the text from `describe`.
pub fn wait_for_figures(figures: &Path, describe: impl FnOnce() -> String) -> Result<()> {
    let is_written = || Ok(fs::metadata(figures).is_ok_and(|file| file.len() > 0).then_some(()));
    wait_for("vtebench's figures", is_written, describe)
}

/// The median of samples. If their number is even, the higher of the two middle samples.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// The geometric mean of ratios.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}
