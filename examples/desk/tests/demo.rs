//! The demonstration as a newcomer starts it, without a terminal: killed after the payment, and nothing is paid twice.

use std::process::{Command, Output, Stdio};

#[expect(
    clippy::unwrap_used,
    reason = "a command that cannot be started fails the test"
)]
fn desk(data: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_desk"))
        .arg("--data")
        .arg(data)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

// CONTRACT O1, R4, P6
// CASE 64
#[test]
fn a_worker_killed_after_the_payment_pays_once_and_goes_on_under_the_same_key() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("demo");
    let shown = desk(&data, &["demo"]);
    let said = text(&shown.stdout);
    assert!(shown.status.success(), "{said}\n{}", text(&shown.stderr));
    assert!(said.contains("killed with SIGKILL"), "{said}");
    assert!(said.contains("refunds of A-1042: 1 "), "{said}");
    let again = "(the same as under epoch 2, now under epoch 3)";
    assert!(said.contains(again), "the key is told again: {said}");
    let listed = text(&desk(&data, &["executions", "list", "--output", "json"]).stdout);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        listed["executions"].as_array().unwrap().len(),
        1,
        "{listed}"
    );
    let refunds = std::fs::read_to_string(data.join("shop/refunds.csv")).unwrap();
    assert_eq!(
        refunds.lines().count(),
        2,
        "the header and one refund: {refunds}"
    );
    assert!(
        desk(&data, &["demo"]).status.success(),
        "it may be shown again"
    );
}

// CONTRACT O1
#[test]
fn a_directory_that_is_not_the_demonstrations_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("mine"), "kept").unwrap();
    let shown = desk(place.path(), &["demo"]);
    assert_eq!(shown.status.code(), Some(1));
    assert_eq!(
        std::fs::read_to_string(place.path().join("mine")).unwrap(),
        "kept"
    );
}

// CONTRACT O2, T14
#[test]
fn describe_needs_no_key_and_names_what_waits_for_whom() {
    let place = tempfile::tempdir().unwrap();
    let described = desk(place.path(), &["describe"]);
    let said = text(&described.stdout);
    assert!(described.status.success(), "{said}");
    assert!(said.contains("refund-card-tool (idempotent"), "{said}");
    assert!(said.contains("waits for approval"), "{said}");
    assert!(said.contains("unassigned tools: none"), "{said}");
}
