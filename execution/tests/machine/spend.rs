//! Budgets: reserved before a step, settled after it, and never under-reported.

use leasehold_execution::Plan;
use leasehold_execution::Record;
use leasehold_execution::record::{CallPlan, Outcome};
use leasehold_models::{Price, StopReason};
use leasehold_types::Money;

use crate::bench::{Bench, check};
use crate::desk::plan;
use crate::script::call;

/// Model calls are free; each call of `paid` and `charge` reserves 10.
fn budget(micros: u64) -> Plan {
    let mut plan = plan();
    plan.budget = Some(Money::from_micros(micros));
    plan
}

/// A model call reserves some hundreds, and little is left.
fn dear(micros: u64) -> Plan {
    let mut plan = budget(micros);
    plan.price = Some(Price::per_million(1_000_000, 1_000_000, 1_000_000));
    plan
}

fn booked(bench: &Bench) -> (u64, u64) {
    let (settled, possible, _) = bench.machine.spent();
    (settled.micros(), possible.micros())
}

// CONTRACT S5, S7
// CASE 116
#[test]
fn of_twenty_parallel_calls_with_budget_for_three_three_run() {
    let mut bench = Bench::new(budget(35));
    let calls = (0..20).map(|_| call(":paid")).collect();
    bench.answer("", calls, StopReason::ToolCalls);
    let Record::ModelAnswered(body) = &bench.last.entries[0].record else {
        panic!("{}", bench.trace());
    };
    let refused = body.calls.iter().filter(|call| match &call.plan {
        CallPlan::Refuse { message, .. } => {
            message.contains("[budget.exceeded] BudgetExceededError")
        }
        CallPlan::Run | CallPlan::Queue | CallPlan::Ask => false,
    });
    assert_eq!(refused.count(), 17);
    assert_eq!(bench.last.steps.len(), 3);
}

// CONTRACT S7
#[test]
fn an_exhausted_budget_ends_it_before_the_model_is_asked_and_the_spend_is_kept() {
    let mut bench = Bench::new(dear(2_000));
    bench.costs = 1_500;
    bench.run("calls a:read");
    bench.costs = 0;
    bench.run("ok a");
    assert_eq!(bench.trace(), "finished a ok, ended budget-exceeded");
    assert_eq!(booked(&bench), (1_500, 0));
    let Outcome::BudgetExceeded { error } = bench.outcome() else {
        panic!("{:?}", bench.outcome());
    };
    assert!(
        error.starts_with("[budget.exceeded] BudgetExceededError: "),
        "{error}"
    );
    let first = Bench::new(dear(100));
    assert_eq!(
        first.trace(),
        "claimed, ended budget-exceeded",
        "the first call too"
    );
}

// CONTRACT S1
// CASE 116
#[test]
fn a_model_without_a_price_is_refused_under_a_money_budget_and_only_there() {
    let mut plan = budget(1_000_000);
    plan.price = None;
    let bench = Bench::new(plan.clone());
    let Outcome::Failed { error } = bench.outcome() else {
        panic!("{:?}", bench.outcome());
    };
    assert!(error.starts_with("[model.price-unknown] "), "{error}");
    plan.budget = None;
    check(
        "without a budget",
        plan,
        "says done",
        "answered 1, ended completed",
    );
}

// CONTRACT S5
#[test]
fn a_call_is_judged_by_what_its_model_call_cost_and_not_by_what_was_reserved_for_it() {
    // Some 944 are reserved for the model call: beside them the 10 of the call would not fit.
    let mut bench = Bench::new(dear(950));
    assert_eq!(bench.trace(), "claimed, model 1.1, > ask 1.1");
    let reserved = bench.machine.ledger().held("model 1").micros();
    assert!(
        (941..=950).contains(&reserved),
        "the test's own premise: {reserved}"
    );
    bench.run("calls a:paid");
    assert_eq!(bench.trace(), "answered 1, > run a.1");
}

/// What a script books as certain and as possible spend.
#[track_caller]
fn check_booked(name: &str, script: &str, costs: u64, expected: (u64, u64)) {
    let mut bench = Bench::new(budget(1_000));
    for command in script.split("; ") {
        bench.costs = if command.starts_with("calls") {
            0
        } else {
            costs
        };
        bench.run(command);
    }
    assert_eq!(booked(&bench), expected, "{name}");
}

// CONTRACT S5
// RELIABILITY FX5
#[test]
fn what_a_call_did_not_tell_of_its_reservation_stays_booked_as_possible() {
    check_booked("it told all", "calls a:paid; ok a", 4, (4, 0));
    check_booked("it timed out", "calls a:paid; timeout a", 4, (4, 6));
    check_booked("it panicked", "calls a:paid; panic a", 0, (0, 10));
    check_booked(
        "it told more than was reserved",
        "calls a:paid; timeout a",
        14,
        (14, 0),
    );
    check_booked("its owner died", "calls a:paid; crash", 0, (0, 10));
    check_booked("and died again", "calls a:paid; crash; crash", 0, (0, 20));
    check_booked("nobody knows", "calls a:charge; unknown a", 3, (3, 7));
    check_booked(
        "and it runs again",
        "calls a:charge; unknown a; approve 1; ok a",
        3,
        (6, 7),
    );
    check_booked(
        "and it does not",
        "calls a:charge; unknown a; reject 1 no",
        3,
        (3, 7),
    );
    check_booked(
        "it failed and runs again",
        "calls a:paid; retry a; ok a",
        4,
        (8, 0),
    );
    check_booked(
        "it was cancelled while its owner was gone",
        "calls a:paid; cancel; crash",
        0,
        (0, 10),
    );
    check_booked("a model call that may be billed", "model-dies", 0, (0, 0));
}

// CONTRACT S5
#[test]
fn a_repeated_call_is_reserved_anew_and_refused_where_the_budget_does_not_cover_it() {
    let refused = "claimed, finished a budgetexceeded, model 2.1, > ask 2.1";
    check("a read", budget(15), "calls a:paid; crash", refused);
    let covered = "claimed, intended a.2 recovered, > run a.2";
    check(
        "a read that is covered",
        budget(20),
        "calls a:paid; crash",
        covered,
    );
    let uncertain = "claimed, finished a uncertain, model 2.1, > ask 2.1";
    check(
        "what may have had an effect",
        budget(15),
        "calls a:charge; crash",
        uncertain,
    );
    let one = "claimed, intended a.2 recovered, finished b budgetexceeded, > run a.2";
    check("one of two", budget(30), "calls a:paid b:paid; crash", one);
    let mut narrow = budget(15);
    narrow.limits.parallel_calls = 1;
    let next = "claimed, finished a budgetexceeded, intended b.2 recovered, > run b.2";
    check(
        "it makes room for the next",
        narrow,
        "calls a:paid b:read; crash",
        next,
    );
    let mut bench = Bench::new(budget(15));
    bench.run("calls a:paid");
    bench.costs = 6;
    bench.run("retry a");
    assert_eq!(
        bench.trace(),
        "finished a error, model 2.1, > ask 2.1",
        "6 and 10 are too much"
    );
}

// CONTRACT S5
#[test]
fn an_answer_that_comes_after_its_attempt_was_given_up_is_booked_and_not_told() {
    let mut bench = Bench::new(budget(1_000));
    bench.run("model-fails; wait 1");
    assert_eq!(bench.trace(), "model 1.2, > ask 1.2");
    bench.late_answer(1, 1, 9);
    assert_eq!(bench.trace(), "late model");
    assert_eq!(booked(&bench).0, 9);
    bench.late_answer(7, 1, 9);
    assert_eq!(bench.trace(), "");
    bench.run("says done");
    assert_eq!(bench.trace(), "answered 1, ended completed");
}
