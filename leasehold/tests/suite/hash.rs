//! The configuration's hash: what an execution is bound to.

use leasehold::prelude::*;
use leasehold_actors::Agents as _;
use leasehold_types::Digest;

use crate::support::{Made, RefundApproval, agent, made, refund_card, refund_policy, script, shop};

fn hash(agent: Agent) -> Digest {
    hash_in(shop(), agent)
}

fn hash_in(app: App, agent: Agent) -> Digest {
    let app = app
        .channel::<RefundApproval>(AutoApprove)
        .model("scripted/other", leasehold_models::Scripted::new([]))
        .agent(agent);
    let assembly = app.assemble(None).unwrap();
    assembly.agent("a", "a").unwrap().plan.config_hash
}

fn desk() -> Agent {
    agent("a").tool(refund_policy).tool(refund_card)
}

// CONTRACT A12
#[test]
fn each_part_that_the_model_reads_changes_the_hash() {
    let mut described = made("x-tool").0;
    described.description = "Does something else.".into();
    let mut taking = made("x-tool").0;
    taking.input = leasehold::Shape::of::<crate::support::Parcel>();
    let all = [
        ("as it is", desk()),
        ("instructions", desk().instructions("Help!")),
        ("model", desk().model("scripted/other")),
        ("a tool less", agent("a").tool(refund_policy)),
        ("a tool more", desk().tool(made("x-tool"))),
        (
            "order of tools",
            agent("a").tool(refund_card).tool(refund_policy),
        ),
        ("a tool's name", desk().tool(made("y-tool"))),
        ("a tool's description", desk().tool(Made(described))),
        ("a tool's input", desk().tool(Made(taking))),
    ];
    let hashes: Vec<(&str, Digest)> = all.map(|(name, agent)| (name, hash(agent))).into();
    for (at, (name, hash)) in hashes.iter().enumerate() {
        for (other, same) in &hashes[at + 1..] {
            assert_ne!(hash, same, "HASH-1: {name} and {other}");
        }
    }
}

// CONTRACT A12
#[test]
fn the_same_configuration_has_the_same_hash_and_what_no_model_reads_does_not_change_it() {
    let before = hash(desk());
    assert_eq!(hash(desk()), before, "HASH-1");
    let limited = desk()
        .max_tool_calls(3)
        .budget(usd(1.0).per_execution())
        .max_result_size(kilobytes(1))
        .approvals_expire_after(hours(1));
    assert_eq!(hash(limited), before);
    assert_eq!(
        hash_in(shop().provide(7_u8).max_result_size(kilobytes(9)), desk()),
        before
    );
    let scripted = shop().model_of("a", script());
    assert_eq!(
        hash_in(scripted, desk()),
        before,
        "a script stands in for the model that is named"
    );
}

// CONTRACT A12
#[test]
fn the_hash_of_a_small_agent_is_pinned() {
    // It changes with every framework text and with the truncation marker: executions of releases before do not resume then.
    let right = "719e7d8edc8d6ed6924cca4410e53be355d6358080721196bbe9032cb59aaaef";
    assert_eq!(hash(agent("a")).to_string(), right);
}
