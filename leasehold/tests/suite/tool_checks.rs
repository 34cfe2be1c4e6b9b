//! What assembly refuses of tools: names, services, schemas, limits, and lists by name.

use std::time::Duration;

use leasehold::prelude::*;
use leasehold::{Shape, ToolSpec};
use leasehold_types::{Effect, Size};
use serde_json::json;

use crate::support::{Made, agent, errors, made, refund_policy, refused, shop};

#[derive(Debug)]
struct Ledger;

/// Reads the ledger.
#[tool(effect = read)]
async fn read_ledger(ledger: Dep<Ledger>) -> ToolResult<PlainText> {
    Ok(format!("{ledger:?}").into())
}

// CONTRACT T2, T8
#[test]
fn a_service_that_nobody_gave_is_missed_before_anything_runs() {
    let app = shop().agent(agent("a").tool(read_ledger));
    let told = errors(&app);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("[di.missing-service] read-ledger-tool takes a "),
        "{told:?}"
    );
    assert!(
        told[0].ends_with("listed at leasehold/tests/suite/tool_checks.rs"),
        "{told:?}"
    );
    assert!(app.provide(Ledger).check().is_ok());
}

// CONTRACT T13
#[test]
fn a_name_that_the_application_does_not_offer_is_refused_with_the_nearest() {
    let with = |name: &str| {
        shop()
            .tool(refund_policy)
            .tool(made("ship-tool"))
            .agent(agent("a").tool_named(name))
    };
    assert!(with("refund-policy-tool").check().is_ok());
    let place = "leasehold/tests/suite/tool_checks.rs";
    let near = format!(
        "[agent.unknown-tool] UnknownAgentToolError: agent a lists \"refund-polcy-tool\" at {place}, which the application does not offer: the nearest are refund-policy-tool"
    );
    assert_eq!(errors(&with("refund-polcy-tool")), [near]);
    for near in [
        "Refund-policy-tool",
        "refund-policy-tool ",
        "refund_policy_tool",
    ] {
        refused(&with(near), &["[agent.unknown-tool]"]);
    }
    let far = errors(&with("zzzzzzzzzzzzzzzzzzzzzzzz"));
    assert!(
        far[0].ends_with("the nearest are refund-policy-tool, ship-tool"),
        "{far:?}"
    );
    let none = errors(&shop().agent(agent("a").tool_named("x-tool")));
    assert!(
        none[0].ends_with("there is none; offer one with .tool(..) on the application"),
        "{none:?}"
    );
}

// CONTRACT T7
// BAD INPUT 31
#[test]
fn two_tools_of_one_name_are_reported_with_both_places() {
    let one = agent("a").tool(made("pay-tool"));
    let first = format!("{}:{}:", file!(), line!() - 1);
    let two = one.tool(made("pay-tool"));
    let second = format!("{}:{}:", file!(), line!() - 1);
    let told = shop().agent(two).check().unwrap_err().to_string();
    let begins =
        format!("[tool.duplicate-name] agent a: \"pay-tool\" names both the tool at {first}");
    assert!(told.starts_with(&begins), "{told}");
    assert!(
        told.contains(&format!("and the tool at {second}")),
        "{told}"
    );
    assert!(told.ends_with(": give one of them another name"), "{told}");
    let catalogue = shop()
        .tool(made("pay-tool"))
        .tool(made("pay-tool"))
        .agent(agent("a"));
    refused(&catalogue, &["[tool.duplicate-name] agent the catalogue: "]);
    let reserved = shop().agent(agent("a").tool(made("answer-x-tool")));
    refused(
        &reserved,
        &["[tool.duplicate-name] agent a: \"answer-x-tool\""],
    );
}

// CONTRACT T7
// BAD INPUT 31
#[test]
fn a_wrong_name_of_a_tool_is_told_the_right_one() {
    let long = "x".repeat(60) + "-tool";
    let names: [(&'static str, &str); 5] = [
        (
            "search_issues",
            "[name.kind-suffix] \"search_issues\" on a tool: name it \"search-issues-tool\"",
        ),
        ("-x-tool", "[tool.name-invalid]"),
        ("😀-tool", "[tool.name-invalid]"),
        ("Pay-tool", "[tool.name-invalid]"),
        (Box::leak(long.into_boxed_str()), "[tool.name-too-long]"),
    ];
    for (name, code) in names {
        refused(&shop().agent(agent("a").tool(made(name))), &[code]);
    }
}

// CONTRACT T8, T9, T10
// BAD INPUT 33
#[test]
fn timeouts_bounds_retentions_and_reserves_of_tools_are_checked_together() {
    let mut spec = made("x-tool").0;
    spec.timeout = Duration::ZERO;
    spec.max_result_size = Some(Size::bytes(0));
    spec.effect = Effect::idempotent(Duration::ZERO);
    spec.reserve = Some(usd(0.1 + 0.2));
    refused(
        &shop().agent(agent("a").tool(Made(spec))),
        &[
            "[tool.timeout-invalid] x-tool",
            "[tools.max-result-size-invalid] x-tool",
            "[tool.retention-invalid] x-tool",
            "[money.invalid] 0.30000000000000004",
        ],
    );
}

// CONTRACT T8
// BAD INPUT 32
#[test]
fn a_schema_that_nothing_can_fulfil_or_nobody_supports_is_refused_with_its_path() {
    let deep = (0..200).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    let fields = [
        json!({"type": "integer", "minimum": 5, "maximum": 1}),
        json!({"type": "string", "default": 5}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"type": "string", "pattern": "(?=a)b"}),
        deep,
    ];
    for field in fields {
        let shown: String = field.to_string().chars().take(60).collect();
        let mut spec = ToolSpec::new("x-tool", "Does something.", Effect::Read);
        spec.input = Shape::raw(json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {"x": field}
        }));
        let app = shop().agent(agent("a").tool(Made(spec)));
        assert!(app.check().is_err(), "{shown}");
        let told = errors(&app);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("[tool.schema-invalid] at "), "{told:?}");
        assert!(
            told[0].contains("(the input of x-tool), listed at "),
            "{told:?}"
        );
    }
}

// CONTRACT T8
#[test]
fn a_tool_that_two_agents_list_is_reported_once_for_each_line() {
    let tool = made("no suffix");
    let list = |agent: Agent| agent.tool(tool.clone());
    let app = shop().agent(list(agent("a"))).agent(list(agent("b")));
    assert_eq!(
        errors(&app).len(),
        1,
        "both lists stand in one line of the program"
    );
}

// CONTRACT T13
#[test]
fn tools_that_are_offered_and_not_listed_are_named() {
    let app = shop()
        .tool(refund_policy)
        .tool(made("ship-tool"))
        .agent(agent("a").tool_named("ship-tool"));
    let assembly = app.assemble(None).unwrap();
    assert_eq!(assembly.describe().unassigned_tools, ["refund-policy-tool"]);
    assert!(assembly.tool("a", "ship-tool").is_some());
    assert!(
        assembly.tool("a", "refund-policy-tool").is_none(),
        "there is no global registry"
    );
}
