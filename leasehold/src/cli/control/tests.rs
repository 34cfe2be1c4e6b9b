//! The socket as it is: good clients, bad ones, and what a dead process leaves.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leasehold_journal::MemoryStore;
use leasehold_types::{BoxFuture, Clock, Timestamp, Uptime};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::place::SocketPath;
use super::{Client, listen, serve};
use crate::cli::desk::Desk;
use crate::cli::error::CliError;
use crate::cli::fixture;
use crate::cli::request::{Reply, Request, Until};

/// A clock whose sleeps end when the test says so, all at once.
#[derive(Debug, Default)]
struct Hurried(Arc<Notify>);

impl Clock for Hurried {
    fn now(&self) -> Timestamp {
        fixture::START
    }
    fn uptime(&self) -> Uptime {
        Uptime::default()
    }
    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        let told = Arc::clone(&self.0);
        Box::pin(async move { told.notified().await })
    }
}

struct Serving {
    directory: tempfile::TempDir,
    clock: Arc<Hurried>,
    store: Arc<MemoryStore>,
    tasks: JoinSet<()>,
}

impl Serving {
    async fn begin() -> Self {
        let store = Arc::new(MemoryStore::new());
        fixture::all(&store).await;
        let mut serving = Self {
            directory: tempfile::tempdir().unwrap(),
            clock: Arc::default(),
            store,
            tasks: JoinSet::new(),
        };
        serving.listen();
        serving
    }

    fn listen(&mut self) {
        let listening = listen(self.directory.path()).unwrap();
        let desk = Desk::reading(self.store.clone());
        self.tasks.spawn(serve(listening, desk, self.clock.clone()));
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    async fn connect(&self) -> UnixStream {
        let path = SocketPath::of(self.path()).unwrap();
        UnixStream::connect(path.as_path()).await.unwrap()
    }

    async fn client(&self) -> Client {
        Client::find(self.path(), self.clock.clone()).await.unwrap()
    }

    /// What is told to a client that sends these bytes.
    async fn told(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // One that is refused before it has said all may be cut off: what it was told comes first.
        let _cut_off = stream.write_all(bytes).await;
        let mut told = Vec::new();
        let _cut_off = stream.read_to_end(&mut told).await;
        String::from_utf8(told).unwrap()
    }

    /// The instance answers, whatever was done to it.
    async fn is_well(&self, executions: usize) {
        let list = Request::List {
            limit: 50,
            state: None,
        };
        let rows = asked(&self.client().await, list).await.unwrap();
        assert_eq!(rows.len(), executions, "CONTROL-2");
    }
}

async fn asked(client: &Client, request: Request) -> Result<Vec<Reply>, CliError> {
    let mut told = Vec::new();
    let mut keep = |reply| {
        told.push(reply);
        Ok(())
    };
    let asked = client.ask(&request, &mut keep).await;
    asked.map(|()| told)
}

// CONTRACT O2
#[tokio::test]
async fn a_request_over_the_socket_gets_what_the_store_itself_gives() {
    let serving = Serving::begin().await;
    let execution = "kd".to_owned();
    let show = Request::Show { execution };
    let error = asked(&serving.client().await, show).await.unwrap_err();
    assert!(
        error.to_string().starts_with("[cli.id-too-short]"),
        "{error}"
    );
    assert_eq!(error.exit().code(), 3);
    for request in [
        Request::List {
            limit: 2,
            state: None,
        },
        Request::Approvals {
            limit: 50,
            execution: None,
        },
        Request::Show {
            execution: "kayd".to_owned(),
        },
        Request::Dump {
            execution: "kayd".to_owned(),
            raw: false,
        },
        Request::Watch {
            execution: "kayd".to_owned(),
            from: 3,
            until: Until::End,
        },
    ] {
        let here =
            crate::cli::golden::ask(&Desk::reading(serving.store.clone()), request.clone()).await;
        let there = asked(&serving.client().await, request).await;
        assert_eq!(there.unwrap(), here.unwrap());
    }
}

// BAD INPUT 56, 58
#[tokio::test]
async fn garbage_is_refused_and_the_instance_goes_on() {
    let serving = Serving::begin().await;
    let deep = "[".repeat(100_000) + "\n";
    let long = "x".repeat(super::wire::REQUEST_BYTES_MAX + 1);
    let cases: [(&str, &[u8], &str); 6] = [
        ("no JSON", b"hello\n", "control.request-invalid"),
        ("no text", b"\xff\xfe\x00\n", "control.request-invalid"),
        ("too deep", deep.as_bytes(), "control.request-invalid"),
        ("too long", long.as_bytes(), "control.request-invalid"),
        (
            "another version",
            b"{\"v\":9,\"request\":{}}\n",
            "control.version",
        ),
        (
            "a claimed user",
            b"{\"v\":1,\"user\":\"root\",\"request\":{\"op\":\"show\",\"execution\":\"kayd\"}}\n",
            "control.request-invalid",
        ),
    ];
    for (name, bytes, code) in cases {
        let told = serving.told(bytes).await;
        assert!(told.contains(&format!("[{code}]")), "{name}: {told}");
        assert!(told.contains("\"exit\":3"), "{name}: {told}");
    }
    let mut gone = serving.connect().await;
    gone.write_all(b"{\"v\":1,").await.unwrap();
    drop(gone);
    serving.is_well(6).await;
}

// BAD INPUT 39
#[tokio::test]
async fn a_client_that_says_nothing_is_told_so_and_let_go() {
    let serving = Serving::begin().await;
    let mut silent = serving.connect().await;
    silent.write_all(b"{\"v\":1,\"requ").await.unwrap();
    // It is served once another one, which came after it, has been.
    serving.is_well(6).await;
    serving.clock.0.notify_waiters();
    let mut told = String::new();
    silent.read_to_string(&mut told).await.unwrap();
    assert!(told.contains("no whole line came within 10 s"), "{told}");
    serving.is_well(6).await;
}

// BAD INPUT 42
#[tokio::test]
async fn a_client_that_never_reads_holds_up_itself_alone_and_is_let_go() {
    let serving = Serving::begin().await;
    let mut tree = fixture::Tree::start(&serving.store, 99, 9_000, "x").await;
    for _ in 0..8 {
        let record = format!("{{\"kind\":\"large\",\"text\":\"{}\"}}", "x".repeat(20_000));
        tree.raw_frame(&(record + "\n").repeat(10).into_bytes())
            .await;
    }
    let execution = tree.execution;
    let dump = format!(
        "{{\"v\":1,\"request\":{{\"op\":\"dump\",\"execution\":\"{execution}\",\"raw\":true}}}}\n"
    );
    let mut stuck = serving.connect().await;
    stuck.write_all(dump.as_bytes()).await.unwrap();
    for _ in 0..3 {
        serving.is_well(7).await;
    }
    serving.clock.0.notify_waiters();
    serving.is_well(7).await;
    let mut told = Vec::new();
    let _cut_off = stuck.read_to_end(&mut told).await;
    let told = String::from_utf8_lossy(&told);
    assert!(
        told.len() < 1_600_000 && !told.contains("\"end\""),
        "{} bytes",
        told.len()
    );
}

// BAD INPUT 42
#[tokio::test]
async fn one_client_too_many_is_refused_and_there_is_room_again_when_one_goes() {
    let serving = Serving::begin().await;
    let mut waiting = Vec::new();
    for _ in 0..64 {
        waiting.push(serving.connect().await);
    }
    let told = serving.told(b"").await;
    assert!(
        told.contains("[control.busy]") && told.contains("\"exit\":4"),
        "{told}"
    );
    drop(waiting.split_off(8));
    // Those who went are seen to be gone before the next one is taken, or after it was refused once more.
    let mut answered = serving.told(b"{}\n").await;
    while answered.contains("[control.busy]") {
        answered = serving.told(b"{}\n").await;
    }
    serving.is_well(6).await;
}

#[tokio::test]
async fn the_socket_is_its_owners_alone_and_goes_with_the_instance() {
    let mut serving = Serving::begin().await;
    let path = serving.path().join("control.sock");
    let meta = std::fs::metadata(&path).unwrap();
    assert!(meta.file_type().is_socket());
    assert_eq!(meta.permissions().mode() & 0o777, 0o600, "PLACE-2");
    let names = std::fs::read_dir(serving.path()).unwrap();
    assert_eq!(names.count(), 1, "nothing is left of how it was made");
    serving.tasks.shutdown().await;
    assert!(!path.exists());
    assert!(
        Client::find(serving.path(), serving.clock.clone())
            .await
            .is_none()
    );
}

#[tokio::test]
async fn what_a_dead_process_left_is_replaced() {
    let mut serving = Serving::begin().await;
    serving.tasks.shutdown().await;
    let path = serving.path().join("control.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    assert!(
        Client::find(serving.path(), serving.clock.clone())
            .await
            .is_none()
    );
    serving.listen();
    serving.is_well(6).await;
    serving.tasks.shutdown().await;
    std::fs::write(&path, "no socket").unwrap();
    assert!(
        Client::find(serving.path(), serving.clock.clone())
            .await
            .is_none()
    );
    serving.listen();
    serving.is_well(6).await;
}

#[tokio::test]
async fn a_store_with_a_long_path_has_its_socket_too() {
    let mut serving = Serving::begin().await;
    serving.tasks.shutdown().await;
    let long = serving.path().join("d".repeat(120));
    std::fs::create_dir(&long).unwrap();
    let listening = listen(&long).unwrap();
    serving.tasks.spawn(serve(
        listening,
        Desk::reading(serving.store.clone()),
        serving.clock.clone(),
    ));
    let client = Client::find(&long, serving.clock.clone()).await.unwrap();
    let list = Request::List {
        limit: 1,
        state: None,
    };
    assert!(asked(&client, list).await.is_ok());
}

#[tokio::test]
async fn a_client_whose_instance_ends_is_told_so() {
    let mut serving = Serving::begin().await;
    let client = serving.client().await;
    serving.tasks.shutdown().await;
    let list = Request::List {
        limit: 1,
        state: None,
    };
    let error = asked(&client, list).await.unwrap_err();
    assert!(error.to_string().starts_with("[control.broken]"), "{error}");
    assert_eq!(error.exit().code(), 4);
}
