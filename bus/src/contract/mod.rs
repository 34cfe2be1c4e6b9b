//! The contract suite of buses: what every backend holds in fair weather, and what also under loss.
//!
//! A backend implements [`Fixture`] and expands [`crate::bus_contract_tests!`]; each case is then a test of its own.
//! The tag above a case names what each of these tests proves.

#![expect(
    clippy::missing_panics_doc,
    reason = "a contract case fails as a test fails"
)]

mod ask;
mod delivery;
mod safety;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use leasehold_types::{BoxFuture, ComponentName, Tenant, seconds};

use crate::{
    Bus, Delivery, Message, QueueGroup, Reply, Subject, SubjectFilter, SubscribeOptions,
    Subscription,
};

pub use ask::*;
pub use delivery::*;
pub use safety::*;

/// One backend under test.
pub trait Fixture: Send + Sync {
    /// The bus, by one connection.
    fn bus(&self) -> Arc<dyn Bus>;
    /// The same bus by another connection.
    fn other(&self) -> Arc<dyn Bus>;
    /// A tenant nobody else uses.
    fn tenant(&self) -> Tenant;
    /// Another such tenant, on the same bus.
    fn other_tenant(&self) -> Tenant;
    /// Lets time pass on the clock that asks time out by.
    fn pass(&self, time: Duration) -> BoxFuture<'_, ()>;
    /// Ends when all that was published has arrived, or was lost.
    fn settle(&self) -> BoxFuture<'_, ()>;
}

/// How long the cases wait for answers that come.
pub const PATIENCE: Duration = seconds(10);

/// The ends of one case.
struct Case<'a> {
    fixture: &'a dyn Fixture,
    sender: Arc<dyn Bus>,
    receiver: Arc<dyn Bus>,
    tenant: Tenant,
}

impl<'a> Case<'a> {
    fn of(fixture: &'a dyn Fixture) -> Self {
        Self {
            fixture,
            sender: fixture.bus(),
            receiver: fixture.other(),
            tenant: fixture.tenant(),
        }
    }

    fn subject(&self, parts: &[&str]) -> Subject {
        good(Subject::new(&self.tenant, parts))
    }

    /// A filter of this tenant, from the text after it.
    fn filter(&self, rest: &str) -> SubjectFilter {
        let root = self.subject(&["x"]);
        let root = root.as_str().trim_end_matches('x');
        good(SubjectFilter::parse(&format!("{root}{rest}")))
    }

    async fn hear(&self, filter: SubjectFilter) -> Box<dyn Subscription> {
        self.hear_by(filter, SubscribeOptions::alone()).await
    }

    async fn hear_by(
        &self,
        filter: SubjectFilter,
        options: SubscribeOptions,
    ) -> Box<dyn Subscription> {
        good(self.receiver.subscribe(filter, options).await)
    }

    async fn publish(&self, parts: &[&str], text: &str) {
        let message = Message::new(self.subject(parts), text.as_bytes());
        good(self.sender.publish(message).await);
    }

    async fn ask(&self, parts: &[&str], text: &str) -> Reply {
        let message = Message::new(self.subject(parts), text.as_bytes());
        good(self.sender.request(message, PATIENCE).await)
    }
}

fn group(name: &str) -> QueueGroup {
    QueueGroup::named(good(ComponentName::new(name)))
}

fn room_for(count: usize) -> NonZeroUsize {
    good(NonZeroUsize::new(count).ok_or("no room"))
}

fn text_of(delivery: &Delivery) -> String {
    String::from_utf8_lossy(&delivery.payload).into_owned()
}

/// The next message's text.
async fn next_text(subscription: &mut dyn Subscription) -> String {
    let delivery = subscription.next().await;
    text_of(&good(delivery.ok_or("the subscription ended")))
}

/// The texts up to the one that says `end`, which the case publishes last.
async fn texts_until(subscription: &mut dyn Subscription, end: &str) -> Vec<String> {
    let mut texts = vec![];
    loop {
        let text = next_text(subscription).await;
        if text == end {
            return texts;
        }
        texts.push(text);
    }
}

/// All that waits in a subscription, after the bus has settled.
async fn heard(
    fixture: &dyn Fixture,
    subscription: &mut dyn Subscription,
) -> Vec<(Subject, String)> {
    fixture.settle().await;
    let mut heard = vec![];
    loop {
        let nothing_more = Box::pin(fixture.settle());
        match select(subscription.next(), nothing_more).await {
            Either::Left((Some(delivery), _)) => {
                let text = text_of(&delivery);
                heard.push((delivery.subject, text));
            }
            Either::Left((None, _)) | Either::Right(_) => return heard,
        }
    }
}

#[expect(clippy::panic, reason = "a contract case fails as a test fails")]
fn good<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("expected success, got {error:?}"),
    }
}

/// Expands to one test for each case of the contract: `run` drives a future to its end, `make` gives a [`Fixture`].
///
/// `fair` has all cases; `lossy` those that hold however many messages are lost, repeated or reordered.
#[macro_export]
macro_rules! bus_contract_tests {
    (fair, $run:path, $make:path) => {
        $crate::bus_contract_tests! { @each $run, $make,
            a_message_reaches_each_subscription_whose_filter_matches
            messages_of_one_publisher_arrive_in_order
            each_message_reaches_one_member_of_a_group_and_everybody_alone
            what_does_not_fit_is_dropped_and_counted
            a_subscription_that_was_dropped_takes_no_message
            any_bytes_and_headers_arrive_as_sent
            a_message_over_the_limit_is_refused_and_one_at_it_is_not
            ids_with_signs_of_the_bus_reach_their_own_subject_only
            an_ask_is_answered_by_whom_it_was_sent_to
            answers_reach_the_ask_they_belong_to
            an_ask_that_nobody_hears_says_so
            an_ask_without_an_answer_ends_by_its_timeout
            the_first_of_two_answers_counts
        }
        $crate::bus_contract_tests! { lossy, $run, $make }
    };
    (lossy, $run:path, $make:path) => {
        $crate::bus_contract_tests! { @each $run, $make,
            nothing_arrives_that_was_not_sent_to_a_matching_subject
            no_filter_hears_another_tenant
            an_answer_is_one_to_its_own_question_or_none
        }
    };
    (@each $run:path, $make:path, $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                $run($crate::contract::$case(&$make()));
            }
        )*
    };
}
