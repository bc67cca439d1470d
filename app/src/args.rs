//! The command line of `unterm`.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueEnum};
use unterm_control::Approval;
use unterm_mux::Spawn;
use unterm_renderer::PainterChoice;
use unterm_term::Allow;

use crate::config::Config;

/// A GPU terminal whose panes agents can drive.
#[derive(Clone, Debug, Parser)]
#[command(name = "unterm", version, about)]
pub struct Args {
    /// Run without a window; panes are reached through the control server
    #[arg(long)]
    pub headless: bool,

    /// With --headless: print the instance's id when it is ready, and, once standard input ends, exit when the last
    /// client disconnects
    #[arg(long, hide = true, requires = "headless")]
    pub with_stdin: bool,

    /// Paint every frame whole, on the main thread: to compare pictures with those of the fast path for output
    #[arg(long, hide = true)]
    pub whole_frames: bool,

    /// Painter of the window
    #[arg(long, value_enum, default_value_t = PainterArg::Auto, value_name = "PAINTER")]
    pub painter: PainterArg,

    /// Working directory of the first pane
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// Profile of the configuration to use for this window
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Font family, instead of the configuration's; repeatable, in order of preference
    #[arg(long, value_name = "FAMILY")]
    pub font: Vec<String>,

    /// Font size in points, instead of the configuration's
    #[arg(long, value_name = "POINTS", value_parser = font_size)]
    pub font_size: Option<f32>,

    /// Setting of the configuration for this start only; repeatable, such as -o window.opacity=0.9
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = option)]
    pub option: Vec<String>,

    /// Layout to open: the name of a saved layout, the path of its file, or last
    #[arg(long, value_name = "NAME", conflicts_with = "execute")]
    pub layout: Option<String>,

    /// Show programs that continue without a window: all, or the programs of an instance that has ended
    #[arg(long, num_args = 0..=1, default_missing_value = "", value_name = "INSTANCE", conflicts_with_all = ["execute", "layout"])]
    pub attach: Option<String>,

    /// Take the place of an instance that has ended: a window, or an instance without a window. Standard input
    /// describes what it left
    #[arg(long, hide = true, value_enum, value_name = "WHAT", conflicts_with_all = ["execute", "layout", "attach", "with_stdin"])]
    pub succeed: Option<Predecessor>,

    /// Show programs that another instance has left, by the numbers of their keeper
    #[arg(long, hide = true, value_delimiter = ',', value_name = "NUMBER", conflicts_with_all = ["execute", "layout", "attach", "succeed"])]
    pub take: Vec<u64>,

    /// Start maximized
    #[arg(long, conflicts_with = "quake")]
    pub maximized: bool,

    /// Title of the window and the instance, which programs in panes can't change
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,

    /// Class of the window (X11) or its app id (Wayland), by which the desktop's rules find it
    #[arg(long, value_name = "NAME", default_value = "unterm")]
    pub class: String,

    /// Open as a drop-down window at the top of the screen (X11), or toggle the running drop-down window
    #[arg(long)]
    pub quake: bool,

    /// Print the current settings as a commented configuration file, and exit
    #[arg(long)]
    pub print_config: bool,

    /// Allow programs in panes to do this; several values separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub allow: Vec<AllowArg>,

    /// What happens when an unknown agent tries to change something [default: the configuration's; headless: allow]
    #[arg(long, value_enum, value_name = "RULE")]
    pub approval: Option<ApprovalArg>,

    /// Keep the pane of -e open when its program ends
    #[arg(long, requires = "execute")]
    pub hold: bool,

    /// Run a program instead of the shell in the first pane; all following arguments belong to it
    #[arg(short = 'e', long = "execute", num_args = 1.., allow_hyphen_values = true, value_names = ["PROGRAM", "ARGS"])]
    pub execute: Vec<String>,
}

/// The minimum and the maximum of the font size, in points.
pub(crate) const FONT_SIZES: std::ops::RangeInclusive<f32> = 4.0..=96.0;

fn font_size(text: &str) -> Result<f32, String> {
    let size: f32 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    if FONT_SIZES.contains(&size) {
        Ok(size)
    } else {
        Err(format!("{size} is not between {} and {} points", FONT_SIZES.start(), FONT_SIZES.end()))
    }
}

/// Checks a value of the option `-o`.
fn option(text: &str) -> Result<String, String> {
    Config::default().with_option(text, &unterm_control::home()).map(|_| text.to_owned())
}

/// Values of `--painter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PainterArg {
    /// The GPU if there is a real GPU, else the CPU
    Auto,
    /// The GPU, even if it is emulated
    Gpu,
    /// The CPU
    Cpu,
}

impl From<PainterArg> for PainterChoice {
    fn from(arg: PainterArg) -> Self {
        match arg {
            PainterArg::Auto => Self::Auto,
            PainterArg::Gpu => Self::Gpu,
            PainterArg::Cpu => Self::Cpu,
        }
    }
}

/// Values of `--approval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApprovalArg {
    /// Ask in the window, on the settings page or in the agent's own dialog
    Ask,
    /// Allow the change
    Allow,
    /// Refuse the change
    Deny,
}

impl From<ApprovalArg> for Approval {
    fn from(arg: ApprovalArg) -> Self {
        match arg {
            ApprovalArg::Ask => Self::Ask,
            ApprovalArg::Allow => Self::Allow,
            ApprovalArg::Deny => Self::Deny,
        }
    }
}

/// Values of `--succeed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Predecessor {
    /// An instance with a window. Without a window, this process waits for the next window
    Window,
    /// An instance without a window
    Headless,
}

/// Values of `--allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AllowArg {
    /// Resize their pane (XTWINOPS, DECCOLM)
    WindowOps,
    /// Read the screen by checksums (DECRQCRA)
    ChecksumReports,
    /// Read the title, which another program may have written
    TitleReports,
}

impl From<AllowArg> for Allow {
    fn from(arg: AllowArg) -> Self {
        match arg {
            AllowArg::WindowOps => Self::WINDOW_OPS,
            AllowArg::ChecksumReports => Self::CHECKSUM_REPORTS,
            AllowArg::TitleReports => Self::TITLE_REPORTS,
        }
    }
}

impl Args {
    /// The operations that programs in panes may perform.
    pub(crate) fn allow(&self) -> Allow {
        self.allow.iter().map(|&arg| Allow::from(arg)).collect()
    }

    /// The title of the window and the instance. `None` if the command line sets none, or if nothing of it is visible.
    pub(crate) fn title(&self) -> Option<String> {
        let title = unterm_control::plain_title(self.title.as_deref()?).trim().to_owned();
        (!title.is_empty()).then_some(title)
    }

    /// The approval rule for unknown agents.
    pub(crate) fn approval(&self, config: &Config) -> Approval {
        match self.approval {
            Some(approval) => approval.into(),
            None if self.headless && !self.waits_for_window() => Approval::Allow,
            None => config.agents.approval,
        }
    }

    /// Whether this process has no window, and stands in for a window until the next window takes its place.
    pub(crate) fn waits_for_window(&self) -> bool {
        self.headless && self.succeed == Some(Predecessor::Window)
    }

    /// The kind of process that takes the place of this process.
    fn kind(&self) -> Predecessor {
        match self.headless && !self.waits_for_window() {
            true => Predecessor::Headless,
            false => Predecessor::Window,
        }
    }

    /// Whether the process shows programs that continue without a window.
    pub(crate) fn attaches(&self) -> bool {
        self.attach.is_some() || self.succeed.is_some() || !self.take.is_empty()
    }

    /// The arguments of the process that takes the place of this one after a crash. It has no window, because it is not
    /// known whether a display still exists.
    pub(crate) fn after_crash(&self) -> Vec<OsString> {
        let headless = Self { headless: true, succeed: Some(self.kind()), ..self.clone() };
        headless.after_restart()
    }

    /// The arguments of the program that replaces this one.
    pub(crate) fn after_restart(&self) -> Vec<OsString> {
        let mut args = self.common();
        args.insert(0, joined("--succeed", named(&self.kind()).as_ref()));
        match (self.headless, self.quake) {
            (true, _) => args.insert(0, "--headless".into()),
            (false, true) => args.insert(0, "--quake".into()),
            (false, false) => {}
        }
        self.title.iter().for_each(|title| args.push(joined("--title", title.as_ref())));
        args
    }

    /// The arguments for another window with this window's settings. The new window opens a shell in a directory, and
    /// no layout.
    pub(crate) fn another(&self, cwd: &Path) -> Vec<OsString> {
        let mut args = self.common();
        args.insert(0, joined("--cwd", cwd.as_os_str()));
        args
    }

    /// The arguments for another window with this window's settings, which shows programs that this instance has left.
    pub(crate) fn another_with(&self, programs: &[u64]) -> Vec<OsString> {
        let mut args = self.common();
        let numbers: Vec<String> = programs.iter().map(u64::to_string).collect();
        args.insert(0, joined("--take", numbers.join(",").as_ref()));
        args
    }

    /// The arguments that every other process with these settings gets: all except the arguments for the first pane,
    /// the title and the kind of window.
    fn common(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        let mut add = |name: &str, value: &OsStr| args.push(joined(name, value));
        add("--painter", named(&self.painter).as_ref());
        add("--class", self.class.as_ref());
        self.profile.iter().for_each(|name| add("--profile", name.as_ref()));
        self.font.iter().for_each(|family| add("--font", family.as_ref()));
        if let Some(size) = self.font_size {
            add("--font-size", size.to_string().as_ref());
        }
        self.option.iter().for_each(|option| add("--option", option.as_ref()));
        self.allow.iter().for_each(|what| add("--allow", named(what).as_ref()));
        if let Some(approval) = &self.approval {
            add("--approval", named(approval).as_ref());
        }
        args
    }

    /// The program and the directory of the first pane.
    pub(crate) fn first_spawn(&self, config: &Config) -> Spawn {
        let profile = self.profile.as_deref().and_then(|name| config.find_profile(name).ok());
        let mut words = self.execute.iter().cloned();
        Spawn {
            program: words.next(),
            args: words.collect(),
            // Use the current directory, except for `/`. Desktops start programs in `/`, and then the pane should
            // start in the home directory.
            cwd: self.cwd.clone().or_else(|| profile?.cwd()).or_else(|| {
                std::env::current_dir().ok().filter(|dir| dir != std::path::Path::new("/"))
            }),
            ..Spawn::default()
        }
    }
}

/// An argument with its value. A separate value that starts with a dash would be read as another option.
fn joined(name: &str, value: &OsStr) -> OsString {
    let mut arg = OsString::from(name);
    arg.push("=");
    arg.push(value);
    arg
}

/// The name of a value on the command line.
fn named(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_after_the_program_belongs_to_it() {
        let args =
            Args::try_parse_from(["unterm", "--headless", "-e", "htop", "-d", "5", "--headless"])
                .unwrap();
        let spawn = args.first_spawn(&Config::default());
        assert_eq!(spawn.program.as_deref(), Some("htop"));
        assert_eq!(spawn.args, ["-d", "5", "--headless"]);
    }

    #[test]
    fn another_window_gets_the_options_without_program_and_layout() {
        let line = "unterm --class tool --painter cpu --font Mono --font=-x --font-size 9.5 -o cursor.blink=true --allow window-ops,title-reports \
                    --approval deny --profile work --cwd /nowhere --hold -e htop";
        let args = Args::try_parse_from(line.split_whitespace()).unwrap();
        let words = args.another(Path::new("/tmp"));
        let another =
            Args::try_parse_from([OsString::from("unterm")].into_iter().chain(words)).unwrap();
        let kept = |args: Args| {
            (
                args.class,
                args.painter,
                args.profile,
                args.font,
                args.font_size,
                args.option,
                args.allow,
                args.approval.is_some(),
            )
        };
        assert_eq!(another.cwd.as_deref(), Some(Path::new("/tmp")));
        assert!(another.execute.is_empty() && !another.hold);
        assert_eq!(kept(another), kept(args));
    }

    #[test]
    fn approval_after_a_crash_is_as_strict_as_before() {
        let config = Config::default();
        let parse = |line: &str| Args::try_parse_from(line.split_whitespace()).unwrap();
        let before = parse("unterm -o cursor.blink=true -e htop");
        let after = |args: &Args| {
            let words = [OsString::from("unterm")].into_iter().chain(args.after_crash());
            Args::try_parse_from(words).unwrap()
        };
        let heir = after(&before);
        assert!(heir.headless && heir.waits_for_window() && heir.execute.is_empty());
        assert_eq!(heir.approval(&config), before.approval(&config));
        assert_eq!(heir.option, before.option);
        let second = after(&heir);
        assert!(second.waits_for_window(), "it still waits for a window");
        assert_eq!(second.approval(&config), before.approval(&config));
        assert_eq!(after(&parse("unterm --approval deny")).approval(&config), Approval::Deny);
        let headless = after(&parse("unterm --headless"));
        assert!(!headless.waits_for_window());
        assert_eq!(headless.approval(&config), Approval::Allow);
    }

    #[test]
    fn a_title_is_plain_text() {
        let title = |words: &[&str]| Args::try_parse_from(words).unwrap().title();
        assert_eq!(title(&["unterm"]), None);
        assert_eq!(
            title(&["unterm", "--title", " the \u{7}builds\n"]).as_deref(),
            Some("the builds")
        );
        assert_eq!(title(&["unterm", "--title", ""]), None);
    }

    #[test]
    fn an_option_is_checked_as_the_file_is() {
        let parse = |option: &str| Args::try_parse_from(["unterm", "-o", option]);
        for right in
            ["window.opacity=0.9", "cursor.shape=bar", "font.family=[\"Iosevka\"]", "theme=nord"]
        {
            assert_eq!(parse(right).unwrap().option, [right]);
        }
        for (wrong, message) in [
            ("window.opacity=7", "window.opacity must be between 0 and 1, not 7"),
            ("window.opactiy=1", "did you mean \"opacity\"?"),
            ("cursor.shape=bra", "did you mean \"bar\"?"),
            ("blink", "write KEY=VALUE, such as window.opacity=0.9"),
            ("window.opacity=", "window.opacity must be"),
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_font_size_out_of_range_names_the_range() {
        let error = Args::try_parse_from(["unterm", "--font-size", "500"]).unwrap_err().to_string();
        assert!(error.contains("between 4 and 96 points"), "{error}");
    }
}
