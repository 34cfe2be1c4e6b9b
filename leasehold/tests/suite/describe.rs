//! What an application says of itself, pinned: text and JSON.

use std::path::PathBuf;

use leasehold::prelude::*;
use serde_json::Value;

use crate::support::{RefundApproval, agent, made, refund_policy, send_parcel, shop};

/// Money that goes back to a customer's card.
#[dto]
struct Money {
    /// Amount in cents.
    #[dto(range = 1..=50_000)]
    cents: u32,
}

/// Approves money that leaves the shop.
#[role(approves = Money, answered_by = channel)]
struct MoneyApproval;

/// Refunds a card. Changes billing.
#[tool(effect = write, approval = MoneyApproval, env = ["STRIPE_KEY"])]
async fn refund_card(Input(money): Input<Money>) -> ToolResult<PlainText> {
    Ok(money.cents.to_string().into())
}

/// Charges a card again.
#[tool(effect = idempotent(days(7)), timeout = milliseconds(250), max_result_size = kilobytes(256))]
async fn charge_card(Input(money): Input<Money>) -> ToolResult<PlainText> {
    Ok(money.cents.to_string().into())
}

fn desk() -> App {
    App::new("shop")
        .environment("development")
        .environment("production")
        .channel_in::<MoneyApproval>("development", Terminal)
        .channel_in::<MoneyApproval>("production", AutoReject)
        .tool(made("archive-tool"))
        .agent(
            Agent::new("desk")
                .model("anthropic/claude-sonnet-5")
                .instructions("Help customers with refunds.")
                .tool(refund_policy)
                .tool(refund_card)
                .tool(charge_card)
                .max_result_size(kilobytes(64))
                .budget(usd(1.50).per_execution())
                .approvals_expire_after(hours(36))
                .soft_landing(),
        )
        .agent(
            Agent::new("greeter")
                .model("ollama/llama3")
                .instructions("Be kind.")
                .converses(),
        )
}

fn small() -> App {
    shop().agent(agent("clerk").tool(send_parcel).tool(refund_policy))
}

/// Compares with `tests/golden/describe/<name>`. A changed text is written beside it, to be looked at and moved over.
#[track_caller]
fn golden(name: &str, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/describe");
    let kept = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    if kept != text {
        std::fs::write(folder.join(format!("{name}.new")), text).unwrap();
    }
    assert!(
        kept == text,
        "{name} is not as pinned; see {name}.new:\n{text}"
    );
}

/// The description of an application, with its configurations' hashes left out: those change with every framework text.
fn described(app: &App, environment: Option<&str>, is_json: bool) -> String {
    let assembly = app.assemble(environment).unwrap();
    let description = assembly.describe();
    let mut text = match is_json {
        true => description.json() + "\n",
        false => description.to_string(),
    };
    for agent in &description.agents {
        text = text.replace(&agent.config_hash, "<hash>");
        text = text.replace(&agent.config_hash[..8], "<hash>");
    }
    text
}

// CONTRACT T13, T14
#[test]
fn the_text_names_agents_models_tools_bounds_and_who_is_asked() {
    golden("desk.txt", &described(&desk(), None, false));
    golden("small.txt", &described(&small(), None, false));
}

// CONTRACT T14
#[test]
fn the_json_has_a_schema_number_and_sizes_in_bytes() {
    let json = described(&desk(), Some("production"), true);
    golden("desk.json", &json);
    let json: Value = serde_json::from_str(&json).unwrap();
    let tools = &json["schemas"]["tools"];
    assert_eq!(json["schema"], 1);
    assert_eq!(tools["charge-card-tool"]["max_result_size"], 262_144);
    assert_eq!(tools["refund-card-tool"]["max_result_size"], 65_536);
    assert_eq!(json["agents"][0]["max_result_size"], 65_536);
    assert_eq!(json["agents"][1]["max_result_size"], 131_072);
}

// CONTRACT T14
#[test]
fn a_tools_line_has_the_documented_form_and_each_bound_its_origin() {
    let assembly = desk().assemble(None).unwrap();
    let tools = &assembly.describe().agents[0].tools;
    assert_eq!(
        tools[1].line,
        "refund-card-tool (write, local, waits for approval) ← STRIPE_KEY — Refunds a card"
    );
    let text = assembly.describe().to_string();
    for bound in ["64 KB (desk)", "256 KB (own)", "128 KB (built-in)"] {
        assert!(text.contains(bound), "{bound}: {text}");
    }
    let limited = desk().max_result_size(kilobytes(9)).assemble(None).unwrap();
    assert!(
        limited
            .describe()
            .to_string()
            .contains("9 KB (application)")
    );
}

#[test]
fn no_value_of_an_environment_variable_is_said() {
    // Set by cargo for every test, and so in the environment of this one.
    let mut spec = made("x-tool").0;
    spec.env = vec!["CARGO_MANIFEST_DIR".into()];
    let app = shop()
        .channel::<RefundApproval>(Terminal)
        .agent(agent("a").tool(crate::support::Made(spec)));
    let assembly = app.assemble(None).unwrap();
    let said = assembly.describe().to_string() + &assembly.describe().json();
    assert!(said.contains("CARGO_MANIFEST_DIR"));
    assert!(!said.contains(env!("CARGO_MANIFEST_DIR")), "DESC-1");
}
