//! The environment of panes: the options of their terminals, and the environment variables of their programs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use unterm_control::Server;
use unterm_mux::{Defaults, Mux, MuxOptions, ShellIntegration};
use unterm_renderer::AllFonts;
use unterm_term::{Allow, FontCoverage, Options, Palette, Size};

use crate::{
    config::{AmbiguousWidth, Config, theme},
    own_program,
};

/// The options for the mux of this process.
pub(crate) fn mux_options(sized_by_window: bool, allow: Allow) -> MuxOptions {
    let env = [
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("TERM_PROGRAM", "unterm"),
        ("TERM_PROGRAM_VERSION", env!("CARGO_PKG_VERSION")),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // Without a window, no font draws anything.
    let fonts = sized_by_window.then(|| Arc::new(AllFonts::default()) as Arc<dyn FontCoverage>);
    MuxOptions {
        term: Options { allow, fonts, ..Options::default() },
        default_size: Size::cells(120, 30),
        env: env.into_iter().chain(path_to_cli().map(|path| ("PATH".to_owned(), path))).collect(),
        sized_by_window,
    }
}

/// A `PATH` that also finds `unterm-cli`. `None` if the inherited `PATH` finds it, or if `unterm-cli` is not beside
/// this program.
fn path_to_cli() -> Option<String> {
    const CLI: &str = "unterm-cli";
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(CLI).is_file()) {
        return None;
    }
    let own = own_program::beside(CLI).ok().filter(|program| program.is_file())?;
    let folders = std::env::split_paths(&path).chain([own.parent()?.to_owned()]);
    std::env::join_paths(folders).ok()?.into_string().ok()
}

/// Sets the environment variables from which programs in panes read the instance's id and port.
pub(crate) fn announce(mux: &Mux, server: &Server) {
    mux.set_env("UNTERM_INSTANCE", &server.instance_id());
    mux.set_env("UNTERM_PORT", &server.address().port().to_string());
    tracing::info!("instance {} listens on {}", server.instance_id(), server.address());
}

/// The palette of the configured theme. If the theme does not exist any more, logs a warning and returns the default
/// palette.
pub(crate) fn palette(config: &Config, home: &Path, light: Option<bool>) -> Arc<Palette> {
    let name = config.theme.pick(light);
    theme::find(name, home).map_or_else(
        |error| {
            tracing::warn!("{error}");
            Arc::new(Palette::default())
        },
        |theme| Arc::new(theme.palette),
    )
}

/// Applies the preferences to new panes and, as far as possible, to open panes. If the configured shell can't be
/// started, the login shell is used instead, so that a wrong setting never makes Unterm unusable. In this case,
/// returns a message.
pub(crate) fn apply(
    mux: &Mux,
    config: &Config,
    home: &Path,
    palette: &Arc<Palette>,
) -> Option<String> {
    let shell = &config.shell;
    let error = config.shell_error();
    mux.set_defaults(Defaults {
        term: Options {
            scrollback: config.scrollback.lines as usize,
            palette: Arc::clone(palette),
            ambiguous_wide: config.text.ambiguous_width == AmbiguousWidth::Wide,
            ..mux.options().term.clone()
        },
        shell: (!shell.program.is_empty() && error.is_none())
            .then(|| (shell.program.clone(), shell.args.clone())),
        // Environment variables that the user configured override these variables.
        env: [("TERM", &shell.term), ("TERM_PROGRAM", &config.compat.term_program)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .chain(config.env.clone())
            .collect(),
        shell_integration: shell.integration.then(|| integration(home)).flatten(),
    });
    for pane in mux.panes() {
        pane.set_palette(Arc::clone(palette));
    }
    error.map(|error| format!("{error}\nNew panes start your login shell instead."))
}

/// The folder with the shell integration scripts. Creates it if it is missing. If that fails, logs the error and
/// returns `None`.
fn integration(home: &Path) -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let folder = home.join("shell-integration");
        ShellIntegration::install(&folder)
            .map_err(|error| tracing::warn!("no shell integration: {}: {error}", folder.display()))
            .is_ok()
            .then_some(folder)
    };
    FOLDER.get_or_init(make).clone()
}
