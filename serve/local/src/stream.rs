//! Bodies that are read while they are sent: packs and large sources.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use tokio::{sync::mpsc, task::spawn_blocking, time::timeout};

use crate::FolderStore;

/// Bytes that are read at once.
const PIECE: u64 = 256 * 1024;
/// Pieces that may wait for the client.
const AHEAD: usize = 2;

/// A body of a range of a stored file; to the file's end where it ends at `u64::MAX`. None where there is no such file.
pub(crate) async fn open(
    store: &FolderStore,
    path: String,
    range: Range<u64>,
    patience: Duration,
) -> Option<Body> {
    let store = store.clone();
    let start = range.start;
    let opened = spawn_blocking(move || -> io::Result<Option<File>> {
        let Some(mut file) = store.open(&path)? else { return Ok(None) };
        file.seek(SeekFrom::Start(start))?;
        Ok(Some(file))
    });
    let file = opened.await.ok()?.ok()??;
    let (send, pieces) = mpsc::channel(AHEAD);
    let is_exact = range.end != u64::MAX;
    let left = range.end - range.start;
    tokio::spawn(send_all(Arc::new(file), left, is_exact, send, patience));
    Some(Body::new(Pieces { pieces, left: is_exact.then_some(left) }))
}

/// Reads piece by piece, until all is sent or the client has taken none for too long.
async fn send_all(
    file: Arc<File>,
    mut left: u64,
    is_exact: bool,
    send: mpsc::Sender<io::Result<Bytes>>,
    patience: Duration,
) {
    while left > 0 {
        let file = Arc::clone(&file);
        let read = spawn_blocking(move || {
            let mut bytes = Vec::new();
            (&*file).take(left.min(PIECE)).read_to_end(&mut bytes).map(|_| bytes)
        });
        let piece = read.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let piece = match piece {
            Ok(bytes) if bytes.is_empty() && !is_exact => return,
            // What is shorter than was said is never passed off as whole: the connection breaks.
            Ok(bytes) if bytes.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            other => other,
        };
        let ends = piece.is_err();
        left -= piece.as_ref().map_or(0, |bytes| bytes.len() as u64).min(left);
        let sent = timeout(patience, send.send(piece.map(Bytes::from))).await;
        if ends || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

/// The pieces as they come.
struct Pieces {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    /// How many bytes are still to come, where that is known.
    left: Option<u64>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = std::task::ready!(self.pieces.poll_recv(context));
        if let (Some(left), Some(Ok(bytes))) = (&mut self.left, &piece) {
            *left = left.saturating_sub(bytes.len() as u64);
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
