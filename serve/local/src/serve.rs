//! Listening: connections, how long they may take, and how it ends.

use std::{
    io,
    net::{SocketAddr, TcpListener as StdListener},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use elfscope_core::{Config, Service};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    runtime,
    signal::unix::{SignalKind, signal},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};

use crate::{FolderStore, Log, exchange, exchange::Shared, page::Page};

/// How long and how much a client may.
#[derive(Clone, Debug)]
pub struct Limits {
    /// To send a request's header, from when the connection is made or the last answer was sent: also how long a connection
    /// is kept that nothing is asked over.
    pub header: Duration,
    /// To send a request's body.
    pub body: Duration,
    /// To take a piece of a streamed answer.
    pub piece: Duration,
    /// To end what it is at when the server stops.
    pub stop: Duration,
    /// Most connections at once; further ones wait.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(15),
            body: Duration::from_secs(15),
            piece: Duration::from_secs(60),
            stop: Duration::from_secs(10),
            connections: 1024,
        }
    }
}

/// Fewest threads: see [`FolderStore`] for why there are more than cores.
const THREADS: usize = 8;
/// Pause after a connection could not be taken, as when no file can be opened any more.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: StdListener,
    store: FolderStore,
    config: Config,
    limits: Limits,
    log: Log,
}

/// Ends a server from within the program.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Ends the server that was given this: as a signal does.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens: from now on connections are taken, and answered once it runs.
    ///
    /// # Errors
    /// What the system says of the address.
    pub fn bind(address: SocketAddr, store: FolderStore, config: Config, log: Log) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, store, config, limits: Limits::default(), log })
    }

    /// With what links start with.
    #[must_use]
    pub fn public_url(mut self, url: String) -> Self {
        self.config.public_url = url;
        self
    }

    /// With other limits than the usual ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is interrupted, asked to terminate, or stopped; then answers what was asked already.
    ///
    /// # Errors
    /// A runtime that can't be made. What goes wrong with one connection ends only that.
    pub fn run(self, stop: &Stop) -> io::Result<()> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(THREADS.max(2 * cores))
            .thread_name("elfscope-serve")
            .enable_all()
            .build()?;
        let wait = self.limits.stop;
        runtime.block_on(self.serve(stop.0.subscribe()))?;
        runtime.shutdown_timeout(wait);
        Ok(())
    }

    async fn serve(self, stop: watch::Receiver<bool>) -> io::Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let limits = self.limits;
        let shared = Arc::new(Shared {
            service: Service::new(self.store.clone(), self.config),
            store: self.store,
            page: Page::embedded(),
            limits: limits.clone(),
            log: self.log,
        });
        let router = Router::new().fallback(exchange::answer).with_state(shared);
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(limits.connections));
        let mut ended = std::pin::pin!(ended(stop)?);
        loop {
            let accepted = tokio::select! {
                accepted = accept(&listener, &places) => accepted,
                () = &mut ended => break,
            };
            let Some((stream, place)) = accepted else {
                sleep(PAUSE).await;
                continue;
            };
            // Answers are written whole: waiting for more to send would only delay them.
            let _ = stream.set_nodelay(true);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.header)
                // Who has sent all that it asks may close its side and still wait for the answer.
                .half_close(true)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                // A client that goes away or sends nonsense ends its own connection: hyper answered what could be answered.
                let _ = connection.await;
                drop(place);
            });
        }
        drop(listener);
        let _ = timeout(limits.stop, graceful.shutdown()).await;
        Ok(())
    }
}

/// The next connection, once there is room for one; none where the system can't give it now.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    let (stream, _) = listener.accept().await.ok()?;
    Some((stream, place))
}

/// Ends at SIGINT, SIGTERM, or when the server is stopped.
fn ended(mut stop: watch::Receiver<bool>) -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            // Where nobody is left who could stop it, signals still can.
            Ok(_) = stop.wait_for(|stopped| *stopped) => {}
        }
    })
}
