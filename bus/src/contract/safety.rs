//! Contract cases that hold however many messages are lost, repeated or reordered.

use std::collections::BTreeSet;

use futures_util::future::{Either, join, select};
use leasehold_types::milliseconds;

use super::ask::{answer, answered_text, question};
use super::{Case, Fixture, PATIENCE, good, heard, text_of};
use crate::{FilterPart, Message, Subject, SubjectFilter};

/// BUS-1: lost and doubled is allowed, invented and misdirected is not.
pub async fn nothing_arrives_that_was_not_sent_to_a_matching_subject(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let filter = case.filter("live.*");
    let mut subscription = case.hear(filter.clone()).await;
    let mut sent = BTreeSet::new();
    for number in 0..500 {
        let parts: &[&str] = match number % 3 {
            0 => &["live", "a"],
            1 => &["live", "b"],
            _ => &["cancel", "a"],
        };
        let text = number.to_string();
        case.publish(parts, &text).await;
        sent.insert((case.subject(parts), text));
    }
    let heard = heard(fixture, &mut *subscription).await;
    assert!(
        heard.len() > 100,
        "{} of 333: the bus delivers nearly nothing",
        heard.len()
    );
    for (subject, text) in heard {
        assert!(filter.matches(&subject), "BUS-1: {subject}");
        assert!(sent.contains(&(subject, text)), "BUS-1");
    }
}

/// FILTER-1, with the widest filter there is.
pub async fn no_filter_hears_another_tenant(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let widest = good(SubjectFilter::new(&case.tenant, &[FilterPart::Rest]));
    let mut subscription = case.hear(widest).await;
    let foreign = good(Subject::new(&fixture.other_tenant(), &["live", "a"]));
    for _ in 0..100 {
        let message = Message::new(foreign.clone(), b"foreign".as_slice());
        good(case.sender.publish(message).await);
        case.publish(&["live", "a"], "own").await;
    }
    let heard = heard(fixture, &mut *subscription).await;
    assert!(heard.len() > 20, "the bus delivers nearly nothing");
    assert!(heard.iter().all(|(_, text)| text == "own"), "FILTER-1");
}

/// BUS-3, BUS-4: each ask ends, with its own answer or with none, though questions come twice.
pub async fn an_answer_is_one_to_its_own_question_or_none(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut asked = case.hear(case.filter("ask.>")).await;
    let mut answered = 0;
    for number in 0..100 {
        let text = format!("q{number}");
        let ask = case.sender.request(question(&case, &text), PATIENCE);
        let respond = async {
            // Two rounds: a question that is repeated, or whose answer is lost, is asked again by the bus.
            for _ in 0..2 {
                for _ in 0..2 {
                    let nothing_more = Box::pin(fixture.settle());
                    if let Either::Left((Some(delivery), _)) =
                        select(asked.next(), nothing_more).await
                    {
                        let text = format!("answer to {}", text_of(&delivery));
                        answer(&*case.receiver, &delivery, &text).await;
                    }
                }
                fixture.settle().await;
                fixture.pass(PATIENCE + milliseconds(1)).await;
                fixture.settle().await;
            }
        };
        let (reply, ()) = join(ask, respond).await;
        if let Some(answer) = answered_text(&good(reply)) {
            assert_eq!(answer, format!("answer to {text}"), "BUS-3");
            answered += 1;
        }
    }
    assert!(
        answered > 20,
        "{answered} of 100: the bus answers nearly nothing"
    );
}
