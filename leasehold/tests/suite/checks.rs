//! What assembly refuses of the application itself: names, environments, agents, limits, models.

use leasehold::prelude::*;
use leasehold_models::{Price, Scripted};
use leasehold_types::Money;

use crate::support::{agent, errors, refund_policy, refused, shop};

// CONTRACT T8
#[test]
fn everything_wrong_is_reported_at_once_in_the_order_of_the_program() {
    let app = App::new("Shop")
        .provide(1_u32)
        .provide(2_u32)
        .agent(Agent::new("desk").tool(refund_policy).tool(refund_policy))
        .agent(Agent::new("desk").max_tool_calls(0));
    refused(
        &app,
        &[
            "[name.invalid] \"Shop\" is not kebab-case",
            "[name.duplicate] agent \"desk\" is declared at ",
            "[di.repeated-service] u32 is given twice",
            "[tool.duplicate-name] agent desk: \"refund-policy-tool\" names both the tool at ",
            "[agent.no-instructions] agent desk at ",
            "[agent.no-model] agent desk at ",
            "[agent.limit-invalid] agent desk at ",
            "[agent.no-instructions] agent desk at ",
            "[agent.no-model] agent desk at ",
        ],
    );
}

// CONTRACT T8
// BAD INPUT 31
#[test]
fn two_agents_of_one_name_are_reported_with_both_places_also_where_case_differs() {
    let one = agent("desk");
    let first = format!("{}:{}:", file!(), line!() - 1);
    let other = agent("Desk");
    let second = format!("{}:{}:", file!(), line!() - 1);
    let told = shop()
        .agent(one)
        .agent(other)
        .check()
        .unwrap_err()
        .to_string();
    let clash = format!("[name.duplicate] agent \"Desk\" is declared at {first}");
    assert!(told.contains(&format!(" and at {second}")), "{told}");
    assert!(told.contains(&clash), "{told}");
    assert!(told.contains("[name.invalid] \"Desk\""), "{told}");
}

// BAD INPUT 31
#[test]
fn names_of_applications_agents_and_environments_have_one_form_and_64_bytes() {
    let long = "x".repeat(65);
    for name in ["", "-a", "a_b", "a--b", "1a", "😀", "a b", "A", &long] {
        let code = match name.len() {
            65 => "[name.too-long]",
            _ => "[name.invalid]",
        };
        refused(
            &App::new(name)
                .model("s/s", Scripted::new([]))
                .agent(agent("a").model("s/s")),
            &[code],
        );
        refused(&shop().agent(agent(name)), &[code]);
        refused(&shop().environment(name).agent(agent("a")), &[code]);
    }
    let fits = "x".repeat(64);
    assert!(shop().agent(agent(&fits)).check().is_ok());
}

// CONTRACT T8
#[test]
fn an_application_without_agents_and_agents_without_model_or_instructions_are_refused() {
    refused(&shop(), &["[app.no-agents] shop at "]);
    refused(
        &shop().agent(Agent::new("desk").instructions(" \n")),
        &[
            "[agent.no-instructions] agent desk at ",
            "[agent.no-model] agent desk at ",
        ],
    );
}

// BAD INPUT 33
#[test]
fn a_limit_of_nothing_or_without_end_is_refused_and_its_bounds_are_told() {
    let limits: [(&str, Agent); 13] = [
        (
            "max_tool_calls is 0, from 1 to 10,000",
            agent("a").max_tool_calls(0),
        ),
        (
            "max_tool_calls is 10001, from 1 to 10,000",
            agent("a").max_tool_calls(10_001),
        ),
        (
            "max_model_calls is 0, from 1 to 10,000",
            agent("a").max_model_calls(0),
        ),
        (
            "max_identical_failing_calls is 0, from 1 to 100",
            agent("a").max_identical_failing_calls(0),
        ),
        (
            "max_parallel_calls is 257, from 1 to 256",
            agent("a").max_parallel_calls(257),
        ),
        (
            "max_model_attempts is 11, from 1 to 10",
            agent("a").max_model_attempts(11),
        ),
        (
            "max_output_tokens is 0, from 1 to 1,000,000",
            agent("a").max_output_tokens(0),
        ),
        (
            "max_reply_size is 0 bytes, from 1 byte to 4096 KB",
            agent("a").max_reply_size(kilobytes(0)),
        ),
        (
            "max_reply_size is 4097 KB, from 1 byte",
            agent("a").max_reply_size(kilobytes(4_097)),
        ),
        (
            "approvals_expire_after is 0ns, from 1 s to",
            agent("a").approvals_expire_after(seconds(0)),
        ),
        (
            "approvals_expire_after is 999ms, from",
            agent("a").approvals_expire_after(milliseconds(999)),
        ),
        (
            "approvals_expire_after is 315446400s, from",
            agent("a").approvals_expire_after(days(3_651)),
        ),
        (
            "approvals_expire_after is ",
            agent("a").approvals_expire_after(seconds(u64::MAX)),
        ),
    ];
    for (told, agent) in limits {
        let errors = errors(&shop().agent(agent));
        assert_eq!(errors.len(), 1, "{errors:?}");
        let begins =
            format!("[agent.limit-invalid] agent a at leasehold/tests/suite/checks.rs: {told}");
        assert!(errors[0].starts_with(&begins), "{errors:?} {begins}");
    }
    let at_the_edge = agent("a")
        .max_tool_calls(10_000)
        .max_reply_size(kilobytes(4_096))
        .approvals_expire_after(days(3_650));
    assert!(shop().agent(at_the_edge).check().is_ok());
}

// CONTRACT T10
// BAD INPUT 33
#[test]
fn a_result_bound_of_nothing_is_refused_by_the_name_of_who_set_it() {
    let app = shop()
        .max_result_size(kilobytes(0))
        .agent(agent("desk").max_result_size(kilobytes(0)));
    refused(
        &app,
        &[
            "[tools.max-result-size-invalid] application shop at ",
            "[tools.max-result-size-invalid] agent desk at ",
        ],
    );
}

// CONTRACT S3
// BAD INPUT 33
#[test]
fn a_budget_that_is_no_exact_amount_is_refused() {
    for amount in [0.1 + 0.2, f64::NAN, -1.0] {
        let app = shop().agent(agent("a").budget(usd(amount).per_execution()));
        refused(&app, &["[money.invalid] "]);
    }
}

// CONTRACT S1
#[test]
fn a_budget_for_a_model_of_unknown_price_is_refused() {
    let unpriced = || Scripted::new([]).named("own/model").priced(None);
    let with = |budget| {
        let agent = agent("a").model("own/model");
        match budget {
            true => agent.budget(usd(1.0).per_execution()),
            false => agent,
        }
    };
    let app = shop().model("own/model", unpriced());
    refused(
        &app.clone().agent(with(true)),
        &[
            "[model.price-unknown] agent a at leasehold/tests/suite/checks.rs has a budget, and nobody knows what own/model costs",
        ],
    );
    assert!(app.clone().agent(with(false)).check().is_ok());
    let priced = app.price("own/model", Price::per_million(1, 1, 1));
    let assembly = priced.agent(with(true)).assemble(None).unwrap();
    assert_eq!(assembly.describe().agents[0].budget_micros, Some(1_000_000));
}

// CONTRACT S1
#[test]
fn the_price_that_the_application_says_is_the_one_that_is_booked() {
    use leasehold_actors::Agents as _;
    let price = Price::per_million(7, 7, 7);
    let app = shop().price("scripted/script", price).agent(agent("a"));
    let assembled = app.assemble(None).unwrap().agent("a", "a").unwrap();
    assert_eq!(assembled.plan.price, Some(price));
    assert_eq!(
        assembled.model.price(),
        Some(price),
        "what a call settles by"
    );
    let million = leasehold_types::TokenUsage {
        input: 1_000_000,
        ..Default::default()
    };
    assert_eq!(price.of(million), Money::from_micros(7));
}

// CONTRACT T8
#[test]
fn a_models_name_and_provider_are_checked_without_network_and_key() {
    let with = |name: &str| App::new("shop").agent(agent("a").model(name));
    for bad in ["", "gpt-5", "openai/", "/x", "openai/gpt 5"] {
        refused(&with(bad), &["[model.name-invalid]"]);
    }
    refused(
        &with("nobody/gpt-5"),
        &["[model.provider-unknown] \"nobody/gpt-5\""],
    );
    let assembly = with("anthropic/claude-sonnet-5").assemble(None).unwrap();
    let key = assembly.describe().agents[0].model_key.as_deref();
    assert_eq!(key, Some("ANTHROPIC_API_KEY"));
}

// CONTRACT P2
#[test]
fn an_environment_that_is_not_declared_is_refused_where_it_is_chosen() {
    let app = shop()
        .environment("staging")
        .environment("production")
        .agent(agent("a"));
    assert_eq!(app.environments(), ["staging", "production"]);
    let first = app.assemble(None).unwrap();
    assert_eq!(first.environment().as_str(), "staging");
    let chosen = app.assemble(Some("production")).unwrap();
    assert_eq!(chosen.environment().as_str(), "production");
    let told = app.assemble(Some("prod")).unwrap_err().to_string();
    assert_eq!(
        told,
        "[environment.unknown] there is no environment \"prod\": the application has staging, production"
    );
    assert_eq!(shop().environments(), ["development"]);
}

#[test]
fn an_agent_is_found_as_its_own_workflow_only() {
    use leasehold_actors::Agents as _;
    let assembly = shop()
        .agent(agent("a"))
        .agent(agent("b"))
        .assemble(None)
        .unwrap();
    assert_eq!(assembly.names(), ["a", "b"]);
    assert!(assembly.agent("a", "a").is_some());
    assert!(assembly.agent("a", "b").is_none());
    assert!(assembly.agent("c", "c").is_none());
}
