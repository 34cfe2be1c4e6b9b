//! Contract cases about publishing and subscribing, in fair weather.

use super::{Case, Fixture, good, group, heard, next_text, room_for, texts_until};
use crate::{BusError, Headers, Message, SubjectFilter, SubscribeOptions};

/// BUS-1, over exact and wild filters.
pub async fn a_message_reaches_each_subscription_whose_filter_matches(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let sent = [
        ["live", "a"].as_slice(),
        &["live", "b"],
        &["cancel", "a"],
        &["live"],
    ];
    let heard_by = [
        ("live.a", vec!["live/a"]),
        ("live.*", vec!["live/a", "live/b"]),
        ("live.>", vec!["live/a", "live/b"]),
        ("*.a", vec!["live/a", "cancel/a"]),
        (">", vec!["live/a", "live/b", "cancel/a", "live"]),
        ("*", vec!["live"]),
        ("nothing.>", vec![]),
    ];
    let mut hearing = vec![];
    for (filter, expected) in heard_by {
        let subscription = case.hear(case.filter(filter)).await;
        hearing.push((filter, expected, subscription));
    }
    for parts in sent {
        case.publish(parts, &parts.join("/")).await;
    }
    for (filter, expected, mut subscription) in hearing {
        let heard = heard(fixture, &mut *subscription).await;
        let texts: Vec<String> = heard.into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, expected, "BUS-1: {filter}");
    }
}

/// What a server with one connection does; nothing above the bus may rest on it.
pub async fn messages_of_one_publisher_arrive_in_order(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut subscription = case.hear(case.filter("bell.*")).await;
    let sent: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    for text in &sent {
        case.publish(&["bell", "7"], text).await;
    }
    case.publish(&["bell", "7"], "end").await;
    assert_eq!(texts_until(&mut *subscription, "end").await, sent);
    assert_eq!(subscription.dropped(), 0);
}

/// Two members of one group share, a second group and a lone subscription hear all.
pub async fn each_message_reaches_one_member_of_a_group_and_everybody_alone(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let keepers = || SubscribeOptions::in_group(group("keepers"));
    let auditors = SubscribeOptions::in_group(group("auditors"));
    let mut first = case.hear_by(case.filter("bell.7"), keepers()).await;
    let mut second = case.hear_by(case.filter("bell.*"), keepers()).await;
    let mut auditor = case.hear_by(case.filter("bell.*"), auditors).await;
    let mut alone = case.hear(case.filter("bell.*")).await;
    let sent: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    for text in &sent {
        case.publish(&["bell", "7"], text).await;
    }
    for text in &sent {
        assert_eq!(next_text(&mut *alone).await, *text);
        assert_eq!(next_text(&mut *auditor).await, *text);
    }
    let mut shared = heard(fixture, &mut *first).await;
    let by_second = heard(fixture, &mut *second).await;
    assert!(
        shared.len() >= 10 && by_second.len() >= 10,
        "both take part"
    );
    shared.extend(by_second);
    let mut shared: Vec<u32> = shared
        .iter()
        .filter_map(|(_, text)| text.parse().ok())
        .collect();
    shared.sort_unstable();
    assert_eq!(shared, (0..100).collect::<Vec<u32>>(), "each exactly once");
}

/// BUS-2: the oldest stay, the publisher does not wait, the loss is counted.
pub async fn what_does_not_fit_is_dropped_and_counted(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let options = SubscribeOptions::alone().with_capacity(room_for(3));
    let mut subscription = case.hear_by(case.filter("live.*"), options).await;
    for number in 0..5 {
        case.publish(&["live", "a"], &number.to_string()).await;
    }
    case.fixture.settle().await;
    for number in 0..3 {
        assert_eq!(next_text(&mut *subscription).await, number.to_string());
    }
    assert_eq!(subscription.dropped(), 2, "BUS-2");
    case.publish(&["live", "a"], "after").await;
    assert_eq!(next_text(&mut *subscription).await, "after");
}

/// Interest ends with the subscription: a member that left its group takes no message with it.
pub async fn a_subscription_that_was_dropped_takes_no_message(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    for filter in ["live.a", "live.*"] {
        let keepers = || SubscribeOptions::in_group(group("keepers"));
        let leaving = case.hear_by(case.filter(filter), keepers()).await;
        let mut staying = case.hear_by(case.filter(filter), keepers()).await;
        drop(leaving);
        case.fixture.settle().await;
        let sent: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        for text in &sent {
            case.publish(&["live", "a"], text).await;
        }
        let heard = heard(fixture, &mut *staying).await;
        let texts: Vec<String> = heard.into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, sent, "{filter}");
    }
}

/// The bus reads neither.
pub async fn any_bytes_and_headers_arrive_as_sent(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut subscription = case.hear(case.filter("live.*")).await;
    let every_byte: Vec<u8> = (0..=255).collect();
    let headers = Headers::default().with("traceparent", "00-ab: ~cd");
    let headers = good(headers.and_then(|headers| headers.with("v", "")));
    for payload in [every_byte, vec![]] {
        let message = Message::new(case.subject(&["live", "a"]), payload);
        let message = message.with_headers(headers.clone());
        good(case.sender.publish(message.clone()).await);
        let delivery = good(subscription.next().await.ok_or("ended"));
        assert_eq!(delivery.payload, message.payload);
        assert_eq!(delivery.headers, headers);
        assert_eq!(
            (delivery.subject, delivery.reply_to),
            (message.subject, None)
        );
    }
}

/// The limit is of payload and headers together.
// BAD INPUT 56
pub async fn a_message_over_the_limit_is_refused_and_one_at_it_is_not(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut subscription = case.hear(case.filter("live.*")).await;
    let headers = good(Headers::default().with("a", "b"));
    let sized = |bytes: usize| {
        let payload = vec![b'x'; bytes - headers.bytes()];
        Message::new(case.subject(&["live", "a"]), payload).with_headers(headers.clone())
    };
    let bytes = Message::BYTES_MAX + 1;
    let refused = Err(BusError::TooLarge { bytes });
    assert_eq!(case.sender.publish(sized(bytes)).await, refused);
    good(case.sender.publish(sized(Message::BYTES_MAX)).await);
    let delivery = good(subscription.next().await.ok_or("ended"));
    assert_eq!(delivery.payload.len(), Message::BYTES_MAX - headers.bytes());
}

/// An id may hold anything: it is written, not pasted.
// RELIABILITY SEC3
pub async fn ids_with_signs_of_the_bus_reach_their_own_subject_only(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let ids = [
        "a.b",
        "*",
        ">",
        "a b",
        "a",
        "b",
        "\0",
        "\r\nPUB x",
        "é",
        "%2A",
        "../x",
    ];
    let mut hearing = vec![];
    for id in ids {
        let filter = SubjectFilter::exactly(&case.subject(&["live", id]));
        hearing.push((id, case.hear(filter).await));
    }
    for id in ids {
        case.publish(&["live", id], id).await;
        case.publish(&["live", id], "end").await;
    }
    for (id, mut subscription) in hearing {
        assert_eq!(texts_until(&mut *subscription, "end").await, [id]);
    }
}
