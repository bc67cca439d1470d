//! Creates a session.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use serde::Deserialize;
use tokio::{sync::watch, time::Instant};

use super::{
    FIRST_SEQUENCE, Listed, Progress, Session, Sessions, follow::follow,
    raw_transcript::RawTranscript, transcript::Transcript,
};
use crate::{
    dialect::ptywright::error::{Error, Result},
    methods::session::{Create as CreateMethod, CreateParams},
    offload::blocking,
};

/// The default size, in cells.
const ROWS: u16 = 24;
const COLS: u16 = 80;
/// The default and the maximum number of output characters that are kept.
const KEPT_CHARS: usize = 128 << 10;
const MOST_KEPT_CHARS: usize = 4 << 20;

/// The parameters of `session.create`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// The name or path of the program.
    pub program: String,
    #[serde(default)]
    pub args: Vec<String>,
    /// The working directory. By default, the server's working directory.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub rows: Option<u16>,
    #[serde(default)]
    pub cols: Option<u16>,
    #[serde(default)]
    pub pixel_width: Option<u16>,
    #[serde(default)]
    pub pixel_height: Option<u16>,
    #[serde(default)]
    pub transcript_max_chars: Option<usize>,
    #[serde(default)]
    pub raw_transcript_path: Option<PathBuf>,
    #[serde(default)]
    pub raw_transcript_append: Option<bool>,
}

impl Sessions {
    /// Starts a program in a new session.
    ///
    /// # Errors
    /// A parameter is invalid, the program can't be started, or there are too many sessions.
    pub async fn create(self: &Arc<Self>, params: Create) -> Result<Arc<Session>> {
        self.create_for(params, None).await
    }

    /// Starts a program in a new session that belongs to an adapter.
    ///
    /// # Errors
    /// The errors of [`Self::create`].
    pub async fn create_for(
        self: &Arc<Self>,
        params: Create,
        adapter: Option<String>,
    ) -> Result<Arc<Session>> {
        let kept = params.transcript_max_chars.unwrap_or(KEPT_CHARS);
        if kept > MOST_KEPT_CHARS {
            let why = format!("transcript_max_chars: at most {MOST_KEPT_CHARS}, not {kept}");
            return Err(Error::invalid_params(why));
        }
        let slot = self.slots.take()?;
        let program = params.program.clone();
        let raw = raw_transcript(&params).await?;
        let pixels =
            (params.pixel_width.unwrap_or_default(), params.pixel_height.unwrap_or_default());
        let pane = match self.open_pane(params, pixels).await {
            Ok(pane) => pane,
            Err(error) => {
                if let Some(raw) = raw {
                    let _ = blocking(move || raw.discard()).await;
                }
                return Err(error);
            }
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let session = Arc::new(Session {
            id: format!("s{number}"),
            number,
            pane,
            adapter,
            transcript: Transcript::new(kept).into(),
            pixels: pixels.into(),
            progress: watch::Sender::new(Progress {
                sequence: FIRST_SEQUENCE,
                changed: Instant::now(),
                has_ended: false,
                is_closed: false,
            }),
        });
        self.list.lock().insert(number, Listed { session: session.clone(), _slot: slot });
        tracing::info!(session = session.id(), program, "a session has started");
        tokio::spawn(follow(self.clone(), session.clone(), raw));
        self.news.send_replace(());
        Ok(session)
    }

    /// Opens the session's pane. If the backend is a running instance, the pane is a tab in the background.
    async fn open_pane(&self, params: Create, pixels: (u16, u16)) -> Result<u64> {
        let cwd = absolute(params.cwd.as_deref().unwrap_or(Path::new(".")))
            .map_err(|error| Error::invalid_params(format!("cwd: {error}")))?;
        let cwd = cwd
            .into_os_string()
            .into_string()
            .map_err(|cwd| Error::invalid_params(format!("cwd: {cwd:?} is no UTF-8")))?;
        let reply = self
            .call::<CreateMethod>(CreateParams {
                program: params.program.into(),
                args: params.args.into(),
                cwd: cwd.into(),
                env: params.env.into(),
                rows: u64::from(params.rows.unwrap_or(ROWS)).into(),
                cols: u64::from(params.cols.unwrap_or(COLS)).into(),
                pixel_width: u64::from(pixels.0).into(),
                pixel_height: u64::from(pixels.1).into(),
                streamed: true.into(),
                ..CreateParams::default()
            })
            .await?;
        Ok(reply.id)
    }
}

/// The file for a session's raw output. `None` if the client requested none.
async fn raw_transcript(params: &Create) -> Result<Option<RawTranscript>> {
    let appends = params.raw_transcript_append;
    let Some(path) = params.raw_transcript_path.clone() else {
        if appends == Some(true) {
            let why = "raw_transcript_append: needs a raw_transcript_path";
            return Err(Error::invalid_params(why));
        }
        return Ok(None);
    };
    let shown = path.display().to_string();
    let opened = blocking(move || RawTranscript::open(&path, appends == Some(true))).await?;
    opened
        .map(Some)
        .map_err(|error| Error::invalid_params(format!("raw_transcript_path: {shown}: {error}")))
}

fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    Ok(std::env::current_dir()?.join(path).components().collect())
}
