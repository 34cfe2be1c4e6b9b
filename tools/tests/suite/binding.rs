//! What is found when an application is assembled, all at once, with nothing run.

use std::sync::Arc;
use std::time::Duration;

use leasehold_macros::tool;
use leasehold_tools::{
    BindError, Dep, PlainText, Services, Shape, Tool, ToolCall, ToolResult, ToolSpec, bind,
};
use leasehold_types::{Effect, Size, usd};
use serde_json::json;

/// A tool that is what its spec says and never runs.
struct Declared(ToolSpec);

impl Tool for Declared {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    fn call(&self, _call: ToolCall) -> leasehold_tools::ToolFuture {
        panic!("nothing runs at assembly")
    }
}

fn errors(spec: ToolSpec) -> Vec<String> {
    let errors = bind(Arc::new(Declared(spec)), &Services::new()).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

fn spec() -> ToolSpec {
    ToolSpec::new("pay-tool", "Pays.", Effect::Write)
}

// CONTRACT T7, T8, T10
// BAD INPUT 33
#[test]
fn everything_wrong_with_a_tool_is_told_at_once() {
    let told = errors(ToolSpec {
        name: "pay".into(),
        description: " ".into(),
        timeout: Duration::ZERO,
        max_result_size: Some(Size::bytes(0)),
        effect: Effect::Idempotent { retention_s: 0 },
        reserve: Some(usd(f64::NAN)),
        env: vec!["STRIPE KEY".into()],
        ..spec().takes::<Dep<String>>()
    });
    let codes: Vec<&str> = told
        .iter()
        .map(|text| text.split_once(' ').unwrap().0)
        .collect();
    assert_eq!(
        codes,
        [
            "[name.kind-suffix]",
            "[tool.missing-description]",
            "[tool.timeout-invalid]",
            "[tools.max-result-size-invalid]",
            "[tool.retention-invalid]",
            "[money.invalid]",
            "[tool.env-name-invalid]",
            "[di.missing-service]",
        ],
        "{told:#?}"
    );
}

#[test]
fn a_description_longer_than_providers_take_is_refused() {
    let of = |bytes: usize| ToolSpec {
        description: "x".repeat(bytes).into(),
        ..spec()
    };
    assert!(bind(Arc::new(Declared(of(1_024))), &Services::new()).is_ok());
    let told = errors(of(1_025));
    assert_eq!(
        told,
        ["[tool.description-too-long] pay-tool: the description has 1025 bytes, the limit is 1024"]
    );
}

trait Payments: Send + Sync {
    fn fee(&self) -> u32;
}

struct Free;

impl Payments for Free {
    fn fee(&self) -> u32 {
        7
    }
}

/// Asks for the fee.
#[tool(effect = read)]
async fn fee(payments: Dep<dyn Payments>) -> ToolResult<PlainText> {
    Ok(payments.fee().to_string().into())
}

// CONTRACT T2, T8
#[test]
fn a_service_behind_a_trait_is_missed_at_assembly_and_found_when_given() {
    let missing = bind(Arc::new(fee), &Services::new()).unwrap_err();
    assert!(
        matches!(&missing[..], [BindError::MissingService { service, .. }] if service.contains("Payments"))
    );
    let services = Services::new().provide_shared::<dyn Payments>(Arc::new(Free));
    let tool = bind(Arc::new(fee), &services).unwrap();
    assert_eq!(crate::support::text_of(&tool, "{}"), r#"{"text":"7"}"#);
}

#[test]
fn a_tool_made_at_run_time_passes_the_same_checks() {
    let mut spec = spec();
    spec.input = Shape::raw(json!({"type": "string"}));
    assert_eq!(
        errors(spec.clone()),
        [
            "[tool.input-not-object] a tool's input is a struct: its schema is not of type object (the input of pay-tool)"
        ]
    );
    spec.input = Shape::raw(json!({"type": "object", "properties": {"a": {"not": {}}}}));
    let told = "[tool.schema-invalid] at #/properties/a: the keyword \"not\" is not supported (the input of pay-tool)";
    assert_eq!(errors(spec), [told]);
}

// CONTRACT T3
#[test]
fn the_definition_hash_changes_with_all_that_a_model_sees_and_with_nothing_else() {
    let hash = |spec: ToolSpec| {
        bind(Arc::new(Declared(spec)), &Services::new())
            .unwrap()
            .definition_hash()
    };
    let right = hash(spec());
    assert_eq!(
        hash(ToolSpec {
            timeout: Duration::from_secs(1),
            ..spec()
        }),
        right
    );
    assert_ne!(
        hash(ToolSpec {
            description: "Pays!".into(),
            ..spec()
        }),
        right
    );
    assert_ne!(
        hash(ToolSpec {
            name: "pay2-tool".into(),
            ..spec()
        }),
        right
    );
    let input = Shape::raw(json!({"type": "object"}));
    assert_ne!(hash(ToolSpec { input, ..spec() }), right);
}
