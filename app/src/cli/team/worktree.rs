//! The git worktrees of a team's members. Runs the program `git`.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

/// A repository, and the commit from which the worktrees begin.
#[derive(Clone, Debug)]
pub struct Repository {
    /// The folder of the repository.
    root: PathBuf,
    /// The present commit.
    pub base: String,
}

/// A worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The worktree's folder.
    pub folder: PathBuf,
    /// The worktree's branch.
    pub branch: String,
    /// The folder in the repository in which git stores its data about the worktree. A member of a team can replace the
    /// file `.git` of its worktree, and name another repository with other settings there, so that file is not read.
    pub git_dir: PathBuf,
}

/// Runs git in a folder. Returns its output.
fn git(folder: &Path, words: &[&OsStr]) -> Result<String> {
    let command = || words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .context("cannot start git")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", command(), unterm_control::escaped(why.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs git in a worktree. Returns its output.
fn git_in(folder: &Path, git_dir: &Path, words: &[&OsStr]) -> Result<String> {
    let mut options = [OsString::from("--git-dir="), OsString::from("--work-tree=")];
    options[0].push(git_dir);
    options[1].push(folder);
    git(folder, &[&[options[0].as_os_str(), options[1].as_os_str()], words].concat())
}

fn words<const N: usize>(words: [&str; N]) -> [&OsStr; N] {
    words.map(OsStr::new)
}

impl Repository {
    /// The repository that contains a folder.
    ///
    /// # Errors
    /// The folder is in no repository, the repository has no commit, or git is missing.
    pub fn around(folder: &Path) -> Result<Self> {
        let root = git(folder, &words(["rev-parse", "--show-toplevel"]))
            .context("--worktrees needs a git repository")?;
        let base = git(folder, &words(["rev-parse", "--verify", "HEAD^{commit}"]))
            .context("--worktrees needs a commit")?;
        Ok(Self { root: root.trim_end_matches('\n').into(), base: base.trim().to_owned() })
    }

    /// Adds a worktree beside the repository, with a new branch.
    ///
    /// # Errors
    /// The folder or the branch exists.
    pub fn add(&self, name: &str) -> Result<Tree> {
        let mut folder = self.root.clone().into_os_string();
        folder.push(format!(".{name}"));
        let (folder, branch) = (PathBuf::from(folder), format!("team/{name}"));
        let [worktree, add, quiet, new] = words(["worktree", "add", "--quiet", "-b"]);
        let (branch_word, base) = (OsStr::new(&branch), OsStr::new(&self.base));
        let place = folder.as_os_str();
        git(&self.root, &[worktree, add, quiet, new, branch_word, place, base])?;
        let git_dir = git(&folder, &words(["rev-parse", "--absolute-git-dir"]))?;
        Ok(Tree { folder, branch, git_dir: git_dir.trim_end_matches('\n').into() })
    }
}

/// The files in a worktree that differ from the commit `base`, committed or not, and the files that git does not track.
///
/// # Errors
/// The worktree is gone, or git fails.
pub fn changes(folder: &Path, git_dir: &Path, base: &str) -> Result<BTreeSet<String>> {
    let git = |words: &[&OsStr]| git_in(folder, git_dir, words);
    let committed = git(&words(["diff", "--name-only", "--no-renames", "-z", base, "--"]))?;
    let untracked = git(&words(["ls-files", "--others", "--exclude-standard", "-z"]))?;
    let files = committed.split('\0').chain(untracked.split('\0'));
    Ok(files.filter(|file| !file.is_empty()).map(str::to_owned).collect())
}

/// The present commit of a worktree, shortened.
pub fn head(folder: &Path, git_dir: &Path) -> Result<String> {
    Ok(git_in(folder, git_dir, &words(["rev-parse", "--short", "HEAD"]))?.trim().to_owned())
}

/// Removes a worktree, whatever it contains, and its branch.
///
/// # Errors
/// Git fails.
pub fn remove(folder: &Path, git_dir: &Path, branch: &str) -> Result<()> {
    // The worktree can't be removed from within it.
    let common = words(["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let common = git_in(folder, git_dir, &common)?;
    let common = PathBuf::from(common.trim_end_matches('\n'));
    let [worktree, remove, force] = words(["worktree", "remove", "--force"]);
    git(&common, &[worktree, remove, force, folder.as_os_str()])?;
    git(&common, &words(["branch", "--quiet", "-D", branch]))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with one commit. `None` if git is missing.
    fn repository() -> Option<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        std::fs::create_dir(&root).unwrap();
        git(&root, &words(["init", "--quiet"])).ok()?;
        std::fs::write(root.join("file"), "one\n").unwrap();
        git(&root, &words(["add", "file"])).unwrap();
        let commit =
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one"];
        git(&root, &words(commit)).unwrap();
        Some((folder, root))
    }

    #[test]
    fn a_worktree_is_added_compared_and_removed() {
        let Some((folder, root)) = repository() else { return };
        let repository = Repository::around(&root).unwrap();
        let tree = repository.add("t-1").unwrap();
        assert_eq!(tree.branch, "team/t-1");
        assert_eq!(tree.folder, folder.path().canonicalize().unwrap().join("repository.t-1"));
        assert!(repository.add("t-1").is_err(), "the branch exists");
        let changed = || changes(&tree.folder, &tree.git_dir, &repository.base).unwrap();
        assert!(changed().is_empty());
        std::fs::write(tree.folder.join("file"), "two\n").unwrap();
        std::fs::write(tree.folder.join("new ü"), "").unwrap();
        assert_eq!(changed().into_iter().collect::<Vec<_>>(), ["file", "new ü"]);
        let commit =
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-am", "two"];
        git(&tree.folder, &words(commit)).unwrap();
        assert!(changed().contains("file"), "commits count, too");
        assert_eq!(head(&tree.folder, &tree.git_dir).unwrap().len(), 7);
        // A member replaces `.git`, so that it names another repository with a program in its settings.
        let hostile = folder.path().join("hostile");
        std::fs::create_dir(&hostile).unwrap();
        git(&hostile, &words(["init", "--quiet", "--bare"])).unwrap();
        let ran = folder.path().join("ran");
        let program = format!("touch {}", ran.display());
        git(&hostile, &words(["config", "core.fsmonitor", &program])).unwrap();
        let pointer = format!("gitdir: {}\n", hostile.display());
        std::fs::write(tree.folder.join(".git"), pointer).unwrap();
        assert!(changed().contains("file"));
        assert!(!ran.exists());
        let own = format!("gitdir: {}\n", tree.git_dir.display());
        std::fs::write(tree.folder.join(".git"), own).unwrap();
        remove(&tree.folder, &tree.git_dir, &tree.branch).unwrap();
        assert!(!tree.folder.exists());
        assert!(repository.add("t-1").is_ok(), "the branch is gone");
        assert!(Repository::around(folder.path()).is_err());
    }
}
