//! Commands as people run them: with an instance and without one, with good words and bad ones.

use super::door::Served;
use super::exit::Exit;
use super::world::{Did, World};
use leasehold_cluster::Moves;

/// The id of the newest execution.
async fn newest(world: &World) -> String {
    let list = world.json("executions list").await;
    list["executions"][0]["execution"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn waiting(world: &World) -> String {
    let did = world.run("run support Refund A-1042").await;
    assert_eq!(did.exit, Exit::Waiting, "{}", did.err);
    newest(world).await
}

#[track_caller]
fn refused(did: &Did, exit: Exit, code: &str) {
    assert_eq!(did.exit, exit, "{}", did.err);
    assert!(did.err.contains(&format!("error: [{code}]")), "{}", did.err);
    assert_eq!(did.out, "", "a refusal is no result");
}

// CONTRACT O2, P5
#[tokio::test]
async fn without_an_instance_a_decision_is_journaled_and_the_rest_waits_for_one() {
    let world = World::new();
    world.gate.open.notify_one();
    let execution = waiting(&world).await;
    let open = world.json("approvals list").await;
    let pause = open["approvals"][0]["pause"].as_str().unwrap();
    assert_eq!(pause, format!("{execution}/1"));
    let did = world.run(&format!("approvals approve {pause}")).await;
    assert_eq!(did.exit, Exit::Done, "{}", did.err);
    let by = super::user::own().id;
    assert!(
        did.out.starts_with(&format!("{pause} approved by {by}\n")),
        "{}",
        did.out
    );
    let shown = world.json(&format!("executions show {execution}")).await;
    let timeline = shown["timeline"].as_array().unwrap();
    let of_kind = |kind: &str| {
        timeline
            .iter()
            .filter(|event| event["kind"] == kind)
            .count()
    };
    assert_eq!(of_kind("pause_resolved"), 1);
    assert_eq!(
        of_kind("call_finished"),
        1,
        "the call that was set going came to its end"
    );
    assert_eq!(
        world.json("approvals list").await["approvals"],
        serde_json::json!([])
    );
}

// CONTRACT O2, P7
#[tokio::test]
async fn an_execution_can_be_followed_from_its_decision_to_its_end() {
    let world = World::new();
    world.gate.open.notify_one();
    let execution = waiting(&world).await;
    let end = &execution[20..];
    let line =
        format!("approvals approve {end}/1 --arguments {{\"order\":\"A-1\",\"cents\":5}} --follow");
    let did = world.run(&line).await;
    assert_eq!(
        (did.exit, did.out.as_str()),
        (Exit::Done, "Done.\n"),
        "{}",
        did.err
    );
    assert!(did.err.contains("with other arguments"), "{}", did.err);
    assert!(did.err.contains("refunded 5 for A-1"), "{}", did.err);
    assert!(
        !did.err.contains("started by"),
        "only what came after is told: {}",
        did.err
    );
}

// CONTRACT P7
#[tokio::test]
async fn a_rejection_reaches_the_model_with_its_reason() {
    let world = World::new();
    let execution = waiting(&world).await;
    let did = world
        .run(&format!(
            "approvals reject {execution}/1 --reason too-much --follow"
        ))
        .await;
    assert_eq!(did.exit, Exit::Done, "{}", did.err);
    assert!(did.err.contains("rejected by"), "{}", did.err);
    let dump = world.run(&format!("journal dump {execution}")).await;
    assert!(dump.out.contains("too-much"), "{}", dump.out);
}

// CONTRACT O2, P7
#[tokio::test]
async fn run_asks_at_the_terminal_and_prints_the_answer_alone() {
    let world = World::new();
    world.gate.open.notify_one();
    let did = world.typing("run support Refund A-1042", &["yes"]).await;
    assert_eq!(
        (did.exit, did.out.as_str()),
        (Exit::Done, "Done.\n"),
        "{}",
        did.err
    );
    assert!(
        did.err.contains("cents = 2000"),
        "the arguments are shown: {}",
        did.err
    );
    assert!(did.err.contains("approve? [y]es"), "{}", did.err);
    let later = world.typing("run support Refund A-1043", &["later"]).await;
    assert_eq!(
        (later.exit, later.out.as_str()),
        (Exit::Waiting, ""),
        "{}",
        later.err
    );
    assert!(
        later.err.contains("approvals approve"),
        "what to type is told: {}",
        later.err
    );
}

// CONTRACT O2, P6, A9
#[tokio::test]
async fn with_an_instance_the_same_commands_go_over_its_socket() {
    let world = World::new();
    let served = Served::open(&world, Moves::All).await.unwrap();
    assert_eq!(served.no_socket, None);
    let execution = waiting(&world).await;
    let did = world.run(&format!("approvals approve {execution}/1")).await;
    assert_eq!(did.exit, Exit::Done, "{}", did.err);
    assert!(did.out.ends_with("it goes on\n"), "{}", did.out);
    world.gate.begun.notified().await;
    let did = world
        .run(&format!("executions cancel {execution} --reason over"))
        .await;
    assert_eq!(did.exit, Exit::Done, "{}", did.err);
    assert!(did.out.ends_with("it is cancelled\n"), "{}", did.out);
    let did = world.run(&format!("executions watch {execution}")).await;
    assert_eq!(did.exit, Exit::Cancelled, "{}", did.err);
    let did = world.run(&format!("executions cancel {execution}")).await;
    refused(&did, Exit::Refused, "decision.closed");
    served.close().await;
    assert!(
        !super::control::is_there(world.directory_of()),
        "the socket is gone with its instance"
    );
}

// CONTRACT P6
#[tokio::test]
async fn a_decision_counts_once_and_another_is_told_who_decided() {
    let world = World::new();
    world.gate.open.notify_one();
    let execution = waiting(&world).await;
    let approve = format!("approvals approve {execution}/1");
    assert_eq!(world.run(&approve).await.exit, Exit::Done);
    let again = world.run(&approve).await;
    assert_eq!(again.exit, Exit::Done, "{}", again.err);
    assert!(again.out.contains("nothing changed"), "{}", again.out);
    let other = world.run(&format!("approvals reject {execution}/1")).await;
    refused(&other, Exit::Refused, "decision.already-decided");
    assert!(other.err.contains(&super::user::own().id), "{}", other.err);
}

// CONTRACT P9
#[tokio::test]
async fn a_decision_about_something_else_than_what_was_shown_is_refused() {
    let world = World::new();
    let execution = waiting(&world).await;
    for digest in ["0123456789", "4", ""] {
        let line = format!("approvals approve {execution}/1 --digest={digest}");
        refused(
            &world.run(&line).await,
            Exit::Refused,
            "cli.digest-mismatch",
        );
    }
    let open = world.json("approvals list").await;
    let digest = open["approvals"][0]["digest"].as_str().unwrap();
    let line = format!("approvals reject {execution}/1 --digest {}", &digest[..8]);
    assert_eq!(world.run(&line).await.exit, Exit::Done);
}

// CONTRACT O2
// BAD INPUT 47, 48, 49
#[tokio::test]
async fn words_that_name_nothing_are_refused_by_code_and_nothing_changes() {
    let world = World::new();
    let execution = waiting(&world).await;
    waiting(&world).await;
    let day = &execution[..4];
    let cases = [
        (
            format!("executions show {day}"),
            Exit::Refused,
            "cli.id-ambiguous",
        ),
        (
            "executions show abc".to_owned(),
            Exit::Refused,
            "cli.id-too-short",
        ),
        (
            "executions show zzzz".to_owned(),
            Exit::Refused,
            "cli.id-unknown",
        ),
        (
            "executions show oooo".to_owned(),
            Exit::Refused,
            "cli.id-invalid",
        ),
        (
            format!("executions show {}", "a".repeat(9_000)),
            Exit::Refused,
            "cli.id-invalid",
        ),
        (
            "executions cancel zzzz".to_owned(),
            Exit::Refused,
            "cli.id-unknown",
        ),
        (
            format!("executions retry {execution}"),
            Exit::Refused,
            "cli.not-blocked",
        ),
        (
            format!("executions say {execution} hello"),
            Exit::Refused,
            "cli.no-message-awaited",
        ),
        (
            format!("approvals approve {execution}"),
            Exit::Usage,
            "cli.reference-invalid",
        ),
        (
            format!("approvals approve {execution}/0"),
            Exit::Usage,
            "cli.reference-invalid",
        ),
        (
            format!("approvals approve {execution}/7"),
            Exit::Refused,
            "decision.unknown-pause",
        ),
        (
            format!("approvals approve {execution}/1 --arguments [1]"),
            Exit::Usage,
            "cli.arguments-invalid",
        ),
        (
            format!("approvals approve {execution}/1 --arguments {{}}"),
            Exit::Refused,
            "decision.invalid",
        ),
        (
            format!("approvals approve {execution}/1 --as nobody-here"),
            Exit::Refused,
            "cli.as-refused",
        ),
        (
            "run nobody hello".to_owned(),
            Exit::Refused,
            "start.unknown-agent",
        ),
    ];
    for (line, exit, code) in cases {
        refused(&world.run(&line).await, exit, code);
    }
    let open = world.json("approvals list").await;
    assert_eq!(
        open["approvals"].as_array().unwrap().len(),
        2,
        "both are still open"
    );
}

// CONTRACT O2
#[tokio::test]
async fn an_ambiguous_id_lists_the_newest_five_of_those_it_fits() {
    let world = World::new();
    for number in 1..=7 {
        super::fixture::Tree::start(&world.store, number, 0, "x").await;
    }
    let did = world.run("executions show 01m8qsz").await;
    refused(&did, Exit::Refused, "cli.id-ambiguous");
    assert_eq!(did.err.matches("01m8qsz31r0000").count(), 5, "{}", did.err);
    assert!(
        did.err.contains("fits 7 executions") && did.err.contains("and 2 more"),
        "{}",
        did.err
    );
}

#[tokio::test(start_paused = true)]
async fn a_store_that_a_silent_process_holds_is_unavailable() {
    let mut world = World::new();
    world.is_locked = true;
    for line in ["executions list", "approvals approve abcd/1"] {
        refused(
            &world.run(line).await,
            Exit::Unavailable,
            "cli.store-locked",
        );
    }
}

#[tokio::test]
async fn an_interrupt_ends_a_run_in_order_and_the_execution_can_go_on() {
    let world = World::new();
    let execution = waiting(&world).await;
    let approve = format!("approvals approve {execution}/1 --follow");
    let run = world.run(&approve);
    let interrupt = async {
        world.gate.begun.notified().await;
        world.signals.count();
        world.gate.open.notify_one();
    };
    let (did, ()) = tokio::join!(run, interrupt);
    assert_eq!(did.exit, Exit::Interrupted, "{}", did.err);
    // The next command is not interrupted.
    let world = World::over(world.store);
    let shown = world.json(&format!("executions show {execution}")).await;
    let timeline = shown["timeline"].as_array().unwrap();
    let last = timeline.last().unwrap();
    assert!(
        ["released", "ended"].contains(&last["kind"].as_str().unwrap()),
        "{last}"
    );
}

// CONTRACT O2
#[tokio::test]
async fn dev_prints_what_happens_until_it_is_asked_to_end() {
    use super::args::Global;
    use super::ask::tests::Script;
    use super::command::Session;
    use super::out::tests::kept;
    let world = World::new();
    world.gate.open.notify_one();
    let (mut out, told, noted) = kept();
    let (global, mut typist) = (Global::default(), Script(vec![]));
    let mut session = Session {
        program: &world,
        global: &global,
        out: &mut out,
        typist: &mut typist,
    };
    let dev = super::dev::dev(&mut session, "shop");
    let other = async {
        // The socket lies there as soon as the instance runs.
        while !super::control::is_there(world.directory_of()) {
            tokio::task::yield_now().await;
        }
        let execution = waiting(&world).await;
        let line = format!("approvals approve {execution}/1 --follow --quiet");
        let did = world.run(&line).await;
        assert_eq!(
            (did.exit, did.out.as_str()),
            (Exit::Done, "Done.\n"),
            "{}",
            did.err
        );
        while !told.text().contains("ANSWER") {
            tokio::task::yield_now().await;
        }
        world.signals.count();
    };
    let (ended, ()) = tokio::join!(dev, other);
    assert_eq!(ended.unwrap(), Exit::Done);
    let told = told.text();
    for part in [
        "started by",
        "may refund-card-tool run?",
        "approvals approve",
        "approved by",
        "Done.",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(
        noted.text().starts_with("shop runs on the store "),
        "{}",
        noted.text()
    );
}

// CONTRACT O2
#[tokio::test]
async fn lists_are_bounded_and_filtered_by_state() {
    let world = World::new();
    super::fixture::all(&world.store).await;
    let states = |list: serde_json::Value| {
        let rows = list["executions"].as_array().unwrap().clone();
        let states = rows
            .iter()
            .map(|row| row["state"].as_str().unwrap().to_owned());
        states.collect::<Vec<_>>()
    };
    for (state, count) in [
        ("waiting", 3),
        ("failed", 1),
        ("completed", 1),
        ("running", 1),
        ("cancelled", 0),
    ] {
        let list = world
            .json(&format!("executions list --state {state}"))
            .await;
        assert_eq!(states(list), vec![state; count], "{state}");
    }
    let first = world.json("executions list --limit 2").await;
    assert_eq!(first["left_out_of"], 6);
    assert_eq!(states(first), ["waiting", "running"]);
    let did = world.run("executions list -n 2").await;
    assert!(did.err.contains("2 of 6 are shown"), "{}", did.err);
}

#[tokio::test]
async fn an_interrupt_at_the_question_ends_the_run_and_leaves_it_open() {
    use super::args::Cli;
    use super::ask::Typist;
    use super::command::{self, Session};
    use super::out::Streams;
    use super::out::tests::kept;
    use clap::Parser as _;
    use leasehold_types::BoxFuture;

    /// Presses Ctrl-C instead of typing.
    struct Interrupts<'a>(&'a super::stop::Signals);
    impl Typist for Interrupts<'_> {
        fn line(&mut self) -> BoxFuture<'_, Option<String>> {
            self.0.count();
            Box::pin(std::future::pending())
        }
    }
    let world = World::new();
    let cli = Cli::parse_from(["shop", "run", "support", "Refund"]);
    let (mut out, _, _) = kept();
    out.streams = Streams {
        can_ask: true,
        ..Streams::PLAIN
    };
    let mut session = Session {
        program: &world,
        global: &cli.global,
        out: &mut out,
        typist: &mut Interrupts(&world.signals),
    };
    let ended = command::run(&mut session, &cli.command).await.unwrap();
    assert_eq!(ended.unwrap_err().exit(), Exit::Interrupted);
    let world = World::over(world.store);
    let open = world.json("approvals list").await;
    assert_eq!(open["approvals"].as_array().unwrap().len(), 1);
}
