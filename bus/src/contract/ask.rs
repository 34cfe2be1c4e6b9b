//! Contract cases about asks and answers, in fair weather.

use futures_util::future::{join, join_all};
use leasehold_types::milliseconds;

use super::{Case, Fixture, PATIENCE, good, next_text, text_of};
use crate::{Bus, Delivery, Headers, Message, Reply};

/// Answers a delivery with `text`, if it wants an answer.
pub(super) async fn answer(bus: &dyn Bus, delivery: &Delivery, text: &str) {
    let to = good(delivery.reply_to.clone().ok_or("no answer is wanted"));
    let headers = good(Headers::default().with("kind", "answer"));
    good(bus.respond(to, text.as_bytes().into(), headers).await);
}

fn text_in(reply: &Reply) -> Option<String> {
    match reply {
        Reply::Answered(delivery) => Some(text_of(delivery)),
        Reply::NoResponders | Reply::TimedOut => None,
    }
}

/// One question, one answer, with headers.
pub async fn an_ask_is_answered_by_whom_it_was_sent_to(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut asked = case.hear(case.filter("ask.pod.boot")).await;
    let respond = async {
        let question = good(asked.next().await.ok_or("ended"));
        assert_eq!(text_of(&question), "who?");
        answer(&*case.receiver, &question, "me").await;
    };
    let (reply, ()) = join(case.ask(&["ask", "pod", "boot"], "who?"), respond).await;
    assert_eq!(text_in(&reply).as_deref(), Some("me"));
    if let Reply::Answered(delivery) = reply {
        assert_eq!(delivery.headers.value("kind"), Some("answer"));
    }
}

/// BUS-3, with a hundred questions open at once and answered in reverse.
pub async fn answers_reach_the_ask_they_belong_to(fixture: &dyn Fixture) {
    const ASKS: usize = 100;
    let case = Case::of(fixture);
    let mut asked = case.hear(case.filter("ask.>")).await;
    let texts: Vec<String> = (0..ASKS).map(|number| format!("q{number}")).collect();
    let asks = texts
        .iter()
        .map(|text| case.ask(&["ask", "pod", "boot"], text));
    let respond = async {
        let mut questions = vec![];
        while questions.len() < ASKS {
            questions.push(good(asked.next().await.ok_or("ended")));
        }
        for question in questions.iter().rev() {
            let text = format!("answer to {}", text_of(question));
            answer(&*case.receiver, question, &text).await;
        }
    };
    let (replies, ()) = join(join_all(asks), respond).await;
    for (question, reply) in texts.iter().zip(replies) {
        let expected = format!("answer to {question}");
        assert_eq!(text_in(&reply), Some(expected), "BUS-3");
    }
}

/// Told at once, without waiting for the timeout: no time passes here.
pub async fn an_ask_that_nobody_hears_says_so(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let elsewhere = case.hear(case.filter("ask.other.>")).await;
    let reply = case.ask(&["ask", "pod", "boot"], "who?").await;
    assert_eq!(reply, Reply::NoResponders);
    drop(elsewhere);
    case.fixture.settle().await;
    let reply = case.ask(&["ask", "other", "boot"], "who?").await;
    assert_eq!(reply, Reply::NoResponders);
}

/// BUS-4: an answer after the end reaches nobody, the next ask included.
pub async fn an_ask_without_an_answer_ends_by_its_timeout(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut asked = case.hear(case.filter("ask.>")).await;
    let pass = async {
        case.fixture.settle().await;
        case.fixture.pass(PATIENCE + milliseconds(1)).await;
    };
    let (reply, ()) = join(case.ask(&["ask", "pod", "boot"], "first"), pass).await;
    assert_eq!(reply, Reply::TimedOut, "BUS-4");
    let late = good(asked.next().await.ok_or("ended"));
    let respond = async {
        let second = good(asked.next().await.ok_or("ended"));
        answer(&*case.receiver, &late, "too late").await;
        answer(&*case.receiver, &second, "in time").await;
    };
    let (reply, ()) = join(case.ask(&["ask", "pod", "boot"], "second"), respond).await;
    assert_eq!(text_in(&reply).as_deref(), Some("in time"), "BUS-3");
}

/// A handler that hears a repeated question answers twice; the asker goes on with one answer.
pub async fn the_first_of_two_answers_counts(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut asked = case.hear(case.filter("ask.>")).await;
    let respond = async {
        let question = good(asked.next().await.ok_or("ended"));
        answer(&*case.receiver, &question, "one").await;
        answer(&*case.receiver, &question, "two").await;
    };
    let (reply, ()) = join(case.ask(&["ask", "pod", "boot"], "who?"), respond).await;
    assert_eq!(text_in(&reply).as_deref(), Some("one"));
    case.publish(&["ask", "pod", "boot"], "end").await;
    assert_eq!(
        next_text(&mut *asked).await,
        "end",
        "no answer comes back as a question"
    );
}

/// What `reply` says, for cases under faults.
pub(super) fn answered_text(reply: &Reply) -> Option<String> {
    text_in(reply)
}

/// A question to one instance, as a message.
pub(super) fn question(case: &Case<'_>, text: &str) -> Message {
    Message::new(case.subject(&["ask", "pod", "boot"]), text.as_bytes())
}
