//! Roles and channels: exactly one way to ask in every environment, and roles that fit their tools.

use leasehold::prelude::*;
use leasehold::{Role, ToolSpec};
use leasehold_actors::Channels as _;
use leasehold_tools::{Approval, ApprovalRole, Approves, RoleForm, RoleInfo};
use leasehold_types::{Answerer, Effect};

use crate::support::{
    Made, ParcelConfirmation, Refund, RefundApproval, agent, errors, refund_card, refused,
    send_parcel, shop,
};

const HERE: &str = "leasehold/tests/suite/channels.rs";

fn desk() -> App {
    shop().agent(agent("a").tool(refund_card))
}

// CONTRACT P2, T8
#[test]
fn a_role_without_a_channel_is_missed_in_each_environment_and_not_only_in_the_chosen_one() {
    let app = desk()
        .environment("development")
        .environment("staging")
        .environment("production")
        .channel_in::<RefundApproval>("development", Terminal);
    let missing = |environment: &str| {
        format!(
            "[di.missing-implementation] nobody is asked for refund-approval-channel in {environment}: refund-card-tool waits for it"
        )
    };
    refused(&app, &[&missing("staging"), &missing("production")]);
    assert!(app.assemble(Some("development")).is_err());
    refused(&desk(), &[&missing("development")]);
}

// CONTRACT P2
#[test]
fn two_channels_of_a_role_in_one_environment_are_refused_with_both_lines() {
    let app = desk()
        .channel_in::<RefundApproval>("production", Terminal)
        .channel::<RefundApproval>(AutoReject);
    let told = errors(&app);
    let right = format!(
        "[di.ambiguous-implementation] refund-approval-channel has two channels in production, given at {HERE} and at {HERE}: keep one"
    );
    assert_eq!(told, [right]);
}

// CONTRACT P2
#[test]
fn each_environment_asks_in_its_own_way() {
    let app = desk()
        .channel_in::<RefundApproval>("development", Terminal)
        .channel_in::<RefundApproval>("production", AutoReject);
    assert_eq!(app.environments(), ["development", "production"]);
    let name = |environment: &str| {
        let assembly = app.assemble(Some(environment)).unwrap();
        let channel = assembly.channel("refund-approval-channel").unwrap();
        channel.name().to_owned()
    };
    assert_eq!(
        (name("development"), name("production")),
        ("terminal".into(), "auto-reject".into())
    );
    let assembly = app.assemble(None).unwrap();
    assert!(assembly.channel("other-channel").is_none());
}

#[test]
fn a_channel_for_an_environment_that_is_not_declared_is_refused() {
    let app = desk()
        .environment("production")
        .channel_in::<RefundApproval>("production", Terminal)
        .channel_in::<RefundApproval>("prodution", Terminal);
    let right = format!(
        "[environment.unknown] there is no environment \"prodution\" (the channel of refund-approval-channel at {HERE}): the application has production"
    );
    assert_eq!(errors(&app), [right]);
}

// CONTRACT P1
#[test]
fn a_role_that_the_owner_answers_needs_no_channel() {
    let app = shop().agent(agent("a").tool(send_parcel));
    let assembly = app.assemble(None).unwrap();
    let channel = assembly.channel("parcel-confirmation-channel").unwrap();
    assert_eq!(channel.name(), "thread-owner");
    let own = app
        .channel::<ParcelConfirmation>(Terminal)
        .assemble(None)
        .unwrap();
    assert_eq!(
        own.channel("parcel-confirmation-channel").unwrap().name(),
        "terminal"
    );
}

/// A role as a program writes it without the attribute.
struct ByHand;

impl Role for ByHand {
    fn info() -> RoleInfo {
        RoleInfo {
            name: "refund-approval-channel",
            description: "Approves something else.",
            answered_by: Answerer::Channel,
            form: RoleForm::approves::<Refund>(),
        }
    }
}

impl ApprovalRole for ByHand {
    type Input = Refund;
}
impl Approves<Refund> for ByHand {}

struct Nameless;

impl Role for Nameless {
    fn info() -> RoleInfo {
        RoleInfo {
            name: "refunds",
            description: " ",
            answered_by: Answerer::Channel,
            form: RoleForm::asks::<Refund, Refund>(),
        }
    }
}

impl ApprovalRole for Nameless {
    type Input = Refund;
}
impl Approves<Refund> for Nameless {}

fn approved(approval: Approval, spec: ToolSpec) -> Made {
    let mut spec = spec;
    spec.approval = Some(approval);
    Made(spec)
}

// CONTRACT P1, T8
#[test]
fn a_tool_made_at_run_time_whose_input_its_role_does_not_approve_is_refused() {
    let tool = approved(
        Approval::by::<RefundApproval, Refund>(),
        ToolSpec::new("x-tool", "Does something.", Effect::Write),
    );
    let app = shop()
        .channel::<RefundApproval>(Terminal)
        .agent(agent("a").tool(tool));
    let told = errors(&app);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("[channel.wrong-tool] refund-approval-channel approves "),
        "{told:?}"
    );
    assert!(
        told[0].contains(&format!("and x-tool at {HERE} has another input")),
        "{told:?}"
    );
}

// CONTRACT P1, T8
// BAD INPUT 31
#[test]
fn a_role_that_asks_has_no_name_for_its_kind_and_no_description_is_refused_as_an_approval() {
    let spec = ToolSpec::new("x-tool", "Does something.", Effect::Write).takes::<Input<Refund>>();
    let tool = approved(Approval::by::<Nameless, Refund>(), spec);
    let app = shop()
        .channel::<Nameless>(Terminal)
        .agent(agent("a").tool(tool));
    let told = errors(&app);
    let codes = [
        "[name.kind-suffix] \"refunds\" on a channel: name it \"refunds-channel\"",
        "[channel.role-form] refunds asks a question, and x-tool at ",
        "[name.kind-suffix] \"refunds\" on a channel: name it \"refunds-channel\"",
        "[channel.missing-description] refunds at ",
    ];
    for code in codes {
        assert!(
            told.iter().any(|told| told.starts_with(code)),
            "{code}: {told:#?}"
        );
    }
}

// BAD INPUT 31
#[test]
fn two_roles_of_one_name_are_refused_with_both_lines() {
    let app = desk().channel::<ByHand>(Terminal);
    let right = format!(
        "[name.duplicate] two roles are called \"refund-approval-channel\", at {HERE} and at {HERE}: give one of them another name"
    );
    assert_eq!(errors(&app), [right]);
}
