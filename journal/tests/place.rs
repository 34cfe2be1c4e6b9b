//! Where a store may be and who may open it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use leasehold_journal::JournalError;
use leasehold_journal::embedded::{
    CopiedStore, CreateStore, EmbeddedConfig, OpenedStore, StoreOpenError, StoreWarning,
};
use support::{
    Image, bodies, child_command, child_job, config, open, tree, try_open, write_acked, writer,
};

#[track_caller]
fn refusal(config: &EmbeddedConfig) -> StoreOpenError {
    match try_open(config) {
        Ok(_) => panic!("{:?} was opened", config.directory),
        Err(error) => error,
    }
}

fn at(directory: &Path) -> EmbeddedConfig {
    EmbeddedConfig {
        directory: directory.to_owned(),
        ..config(directory)
    }
}

/// A child that has the store open until its input ends, and says when it does.
fn hold_open() -> bool {
    let Some((directory, _)) = child_job() else {
        return false;
    };
    let store = open(&directory).store;
    write_acked(&store, &mut writer(&store, tree(0), 1), b"of the first");
    std::fs::write(directory.join("is-open"), b"").unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    true
}

fn start_holder(name: &str, directory: &Path) -> std::process::Child {
    let program = std::env::current_exe().unwrap();
    let mut command = child_command(&program, name, directory, "hold");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    while !directory.join("is-open").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the child ended early");
        std::thread::yield_now();
    }
    child
}

// RELIABILITY C9
#[test]
fn a_second_process_is_refused_and_a_killed_one_holds_nothing() {
    const NAME: &str = "a_second_process_is_refused_and_a_killed_one_holds_nothing";
    if hold_open() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut holder = start_holder(NAME, directory.path());
    let refused = refusal(&config(directory.path()));
    let StoreOpenError::Locked { pid, .. } = &refused else {
        panic!("{refused}");
    };
    assert_eq!(*pid, holder.id());
    assert!(
        refused
            .to_string()
            .starts_with("[store.locked] StoreLockedError")
    );
    holder.kill().unwrap();
    holder.wait().unwrap();
    let opened = open(directory.path());
    assert!(opened.warnings.contains(&StoreWarning::NotClosed));
    let found = bodies(&opened.store, tree(0)).unwrap();
    assert_eq!(found, [b"of the first"]);
    let refused = refusal(&config(directory.path()));
    assert!(matches!(refused, StoreOpenError::Locked { pid, .. } if pid == std::process::id()));
    write_acked(
        &opened.store,
        &mut writer(&opened.store, tree(0), 2),
        b"unharmed",
    );
    opened.store.close();
    let opened = open(directory.path());
    assert!(!opened.warnings.contains(&StoreWarning::NotClosed));
}

// RELIABILITY ES11
#[test]
fn a_copy_of_an_open_store_is_refused_until_it_is_adopted() {
    let directory = tempfile::tempdir().unwrap();
    let opened = open(directory.path());
    write_acked(&opened.store, &mut writer(&opened.store, tree(0), 1), b"a");
    let other = tempfile::tempdir().unwrap();
    copy(directory.path(), other.path());
    let mut config = config(other.path());
    assert!(matches!(refusal(&config), StoreOpenError::Copied(_)));
    config.copies = CopiedStore::Adopt;
    let adopted = try_open(&config).unwrap();
    assert_eq!(bodies(&adopted.store, tree(0)).unwrap(), [b"a"]);
    opened.store.close();
    let closed = tempfile::tempdir().unwrap();
    copy(directory.path(), closed.path());
    assert!(
        try_open(&support::config(closed.path())).is_ok(),
        "a closed one may be copied"
    );
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to.join("store")).unwrap();
    for entry in std::fs::read_dir(from.join("store")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join("store").join(entry.file_name())).unwrap();
    }
}

// RELIABILITY ES9
#[test]
fn a_missing_directory_is_refused_unless_only_the_last_one_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let deep = at(&directory.path().join("not/there"));
    assert!(matches!(
        refusal(&deep),
        StoreOpenError::MissingDirectory(_)
    ));
    let mut never = at(&directory.path().join("store"));
    never.create = CreateStore::Never;
    assert!(matches!(
        refusal(&never),
        StoreOpenError::MissingDirectory(_)
    ));
    assert!(!directory.path().join("store").exists());
    let file = directory.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    assert!(matches!(
        refusal(&at(&file)),
        StoreOpenError::NotADirectory(_)
    ));
}

// RELIABILITY ES9
#[test]
fn a_symbolic_link_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().join("real");
    std::fs::create_dir(&real).unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(matches!(refusal(&at(&link)), StoreOpenError::Symlink(_)));
    std::os::unix::fs::symlink("/etc/hostname", real.join("lock")).unwrap();
    assert!(try_open(&at(&real)).is_err(), "nor is the lock followed");
}

// RELIABILITY ES9
#[test]
fn a_directory_of_another_user_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    // Root can give it away; anybody else finds one that is root's.
    let foreign = match std::os::unix::fs::chown(directory.path(), Some(12_345), None) {
        Ok(()) => directory.path(),
        Err(_) => Path::new("/"),
    };
    let refused = refusal(&at(foreign));
    assert!(
        matches!(refused, StoreOpenError::WrongOwner { .. }),
        "{refused}"
    );
}

// RELIABILITY ES9
#[test]
fn a_directory_that_cannot_be_written_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        // Modes do not bind root; a mount does.
        mount(
            &["-t", "tmpfs", "-o", "ro,size=1m", "tmpfs"],
            directory.path(),
        );
    } else {
        let mode = std::fs::Permissions::from_mode(0o500);
        std::fs::set_permissions(directory.path(), mode).unwrap();
    }
    let refused = refusal(&at(directory.path()));
    if is_root {
        unmount(directory.path());
    }
    assert!(matches!(refused, StoreOpenError::ReadOnly(_)), "{refused}");
}

fn mount(options: &[&str], directory: &Path) {
    let mut command = Command::new("mount");
    let status = command.args(options).arg(directory).status().unwrap();
    assert!(status.success(), "mount {options:?}: {status}");
}

fn unmount(directory: &Path) {
    let status = Command::new("umount").arg(directory).status().unwrap();
    assert!(status.success(), "umount: {status}");
}

// RELIABILITY ES9
#[test]
fn a_store_on_a_file_system_in_memory_is_opened_with_a_warning() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let opened = open(directory.path());
    assert!(opened.warnings.contains(&StoreWarning::MemoryFileSystem));
    let on_disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert_eq!(open(on_disk.path()).warnings, []);
}

fn spoiled(spoil: impl Fn(&mut Vec<u8>)) -> Result<OpenedStore, StoreOpenError> {
    let directory = support::fast_directory();
    let opened = open(directory.path());
    write_acked(&opened.store, &mut writer(&opened.store, tree(0), 1), b"a");
    opened.store.close();
    let mut image = Image::of(directory.path());
    for name in ["STORE", "segment-0000000000.log"] {
        spoil(image.0.get_mut(name).unwrap());
    }
    let (_directory, opened) = image.open();
    opened
}

// RELIABILITY ES10
#[test]
fn a_store_of_a_later_major_version_is_refused_untouched() {
    let refused = spoiled(|bytes| bytes[16..18].copy_from_slice(&2_u16.to_be_bytes()));
    let Err(StoreOpenError::NewerVersion {
        major,
        minor,
        supported,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((major, minor, supported), (2, 0, 1));
}

// RELIABILITY ES10
#[test]
fn files_of_another_product_are_refused_untouched() {
    let refused = spoiled(|bytes| bytes[..4].copy_from_slice(b"SQLi"));
    assert!(matches!(refused, Err(StoreOpenError::OtherProduct(_))));
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("PG_VERSION"), b"17\n").unwrap();
    let refused = refusal(&at(directory.path()));
    assert!(
        matches!(refused, StoreOpenError::OtherProduct(_)),
        "{refused}"
    );
    let mut names: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.retain(|name| name != "lock");
    assert_eq!(names, ["PG_VERSION"]);
}

#[test]
fn a_configuration_out_of_range_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    type Change = fn(&mut EmbeddedConfig);
    let wrong: [Change; 5] = [
        |config| config.segment_bytes = 511 * 1_024,
        |config| config.segment_bytes = 1_000_001,
        |config| config.segment_bytes = 2 * 1_024 * 1_024 * 1_024,
        |config| config.queue_appends_max = 0,
        |config| config.queue_bytes_max = 1_000,
    ];
    for change in wrong {
        let mut config = config(directory.path());
        change(&mut config);
        assert!(matches!(refusal(&config), StoreOpenError::InvalidConfig(_)));
    }
}

#[test]
fn a_store_keeps_the_segment_size_it_was_made_with() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).store;
    write_acked(&store, &mut writer(&store, tree(0), 1), b"a");
    drop(store);
    let mut larger = config(directory.path());
    larger.segment_bytes = 1 << 20;
    let store = try_open(&larger).unwrap().store;
    let mut writer = writer(&store, tree(0), 2);
    for _ in 0..10 {
        write_acked(&store, &mut writer, &[7; 100_000]);
    }
    assert!(
        directory
            .path()
            .join("store/segment-0000000001.log")
            .exists()
    );
    assert_eq!(bodies(&store, tree(0)).unwrap().len(), 11);
}

#[test]
fn nothing_is_answered_once_the_store_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(open(directory.path()).store);
    let (told, heard) = std::sync::mpsc::channel();
    let mut writer = writer(&store, tree(0), 1);
    let frame = writer
        .seal(leasehold_journal::contract::summary(), b"a")
        .unwrap();
    let last = std::sync::Arc::clone(&store);
    // The last reference goes with the callback, in the store's own thread.
    let done = Box::new(move |outcome| {
        drop(last);
        told.send(outcome).unwrap();
    });
    leasehold_journal::Journal::append(&*store, writer.tail(), frame, done);
    drop(store);
    let outcome = heard.recv().unwrap();
    let closed = leasehold_journal::AppendOutcome::Failed(JournalError::Closed);
    assert!(outcome != closed, "what was queued is done: {outcome:?}");
    let mut reopened = try_open(&config(directory.path()));
    while matches!(reopened, Err(StoreOpenError::Locked { .. })) {
        std::thread::yield_now();
        reopened = try_open(&config(directory.path()));
    }
    assert_eq!(bodies(&reopened.unwrap().store, tree(0)).unwrap(), [b"a"]);
}
