//! Subjects and filters under any text: encoding is injective, reading is exact, matching is by parts.

use leasehold_bus::{FilterPart, Subject, SubjectError, SubjectFilter};
use leasehold_types::Tenant;
use proptest::prelude::*;

fn of(tenant: &str, parts: &[&str]) -> Result<Subject, SubjectError> {
    Subject::new(&Tenant::new(tenant), parts)
}

#[track_caller]
fn check(tenant: &str, parts: &[&str], expected: &str) {
    assert_eq!(of(tenant, parts).unwrap().as_str(), expected);
}

// RELIABILITY SEC3
#[test]
fn ids_are_encoded_never_pasted() {
    check("acme", &["live", "a-B_9"], "lh.acme.live.a-B_9");
    check("acme", &["live", "a.b"], "lh.acme.live.a%2Eb");
    check("acme", &["live", "*"], "lh.acme.live.%2A");
    check("acme", &["live", ">"], "lh.acme.live.%3E");
    check("acme", &["live", "a b"], "lh.acme.live.a%20b");
    check("acme", &["live", "a/../b"], "lh.acme.live.a%2F%2E%2E%2Fb");
    check("acme", &["live", "\0\r\n"], "lh.acme.live.%00%0D%0A");
    check("acme", &["live", "%2E"], "lh.acme.live.%252E");
    check("é", &["live", "a"], "lh.%C3%A9.live.a");
    check("a.live", &["b"], "lh.a%2Elive.b");
}

// RELIABILITY SEC3
#[test]
fn empty_and_long_parts_are_refused_at_the_limit() {
    let (at, past) = ("x".repeat(128), "x".repeat(129));
    assert!(of("acme", &[&at]).is_ok());
    let long = |place, bytes| Err(SubjectError::PartTooLong { place, bytes });
    assert_eq!(of("acme", &["live", &past]), long(2, 129));
    assert_eq!(of(&past, &["live"]), long(0, 129));
    assert_eq!(of("acme", &[&"x".repeat(10 * 1_024)]), long(1, 10_240));
    let empty = |place| Err(SubjectError::PartEmpty { place });
    assert_eq!(of("", &["live"]), empty(0));
    assert_eq!(of("acme", &["live", ""]), empty(2));
    assert_eq!(of("acme", &[]), empty(1));
    // Encoded, each sign takes three bytes: two parts fit, three do not.
    let signs = ".".repeat(128);
    assert!(of("acme", &[&signs, &signs]).is_ok());
    let whole = of("acme", &[&signs, &signs, &signs]);
    assert_eq!(whole, Err(SubjectError::TooLong { bytes: 7 + 3 * 385 }));
}

#[test]
fn a_tenant_named_as_stored_letters_are_is_refused() {
    let reserved = SubjectError::TenantReserved("in".into());
    assert_eq!(of("in", &["3", "tree"]), Err(reserved));
    assert!(of("inn", &["3", "tree"]).is_ok());
}

// BAD INPUT 58
#[test]
fn a_text_that_no_subject_is_written_as_is_refused() {
    for text in [
        "",
        "lh",
        "lh.",
        "lh.acme",
        "lh.acme.",
        "lh..live",
        "LH.acme.live",
        "lh.acme.li ve",
        "lh.acme.live.*",
        "lh.acme.>",
        "lh.acme.%2",
        "lh.acme.%2e",
        "lh.acme.%41",
        "lh.acme.%FF",
        "lh.acme.é",
        "lh.in.3.tree",
        "$JS.API.INFO",
        "_INBOX.x",
        "lh.acme.a\r\nb",
    ] {
        assert!(Subject::parse(text).is_err(), "{text:?}");
    }
    let long = format!("lh.acme{}", ".x".repeat(509));
    assert_eq!(
        Subject::parse(&long),
        Err(SubjectError::TooLong { bytes: 1_025 })
    );
}

#[test]
fn a_filter_names_its_tenant_and_ends_at_the_rest() {
    for text in [
        "lh.acme.>",
        "lh.acme.*",
        "lh.acme.live.*.x",
        "lh.acme.*.>",
        "lh.a%2Eb.live",
    ] {
        assert_eq!(SubjectFilter::parse(text).unwrap().as_str(), text);
    }
    for text in [
        "",
        ">",
        "lh.>",
        "lh.*.live",
        "lh.*.>",
        "lh.acme",
        "lh.acme.>.x",
        "lh.acme.a*",
        "lh.acme.>>",
        "lh.acme..",
        "lh.in.>",
        "xx.acme.>",
    ] {
        assert!(SubjectFilter::parse(text).is_err(), "FILTER-1: {text:?}");
    }
    let star = SubjectFilter::new(&Tenant::new("acme"), &[FilterPart::Is("*")]).unwrap();
    assert!(
        star.is_exact(),
        "a part that says * is a text, not a wildcard"
    );
    assert!(!star.matches(&of("acme", &["a"]).unwrap()));
}

/// Matching by definition, over parts that were never joined.
fn matches(filter: &[FilterPart<'_>], parts: &[&str]) -> bool {
    match (filter, parts) {
        ([FilterPart::Rest], [_, ..]) | ([], []) => true,
        ([FilterPart::Any, filter @ ..], [_, parts @ ..]) => matches(filter, parts),
        ([FilterPart::Is(is), filter @ ..], [part, parts @ ..]) => {
            is == part && matches(filter, parts)
        }
        _ => false,
    }
}

fn filter_part() -> impl Strategy<Value = FilterPart<'static>> {
    prop_oneof![
        Just(FilterPart::Is("a")),
        Just(FilterPart::Is("*")),
        Just(FilterPart::Is("a.b")),
        Just(FilterPart::Any),
        Just(FilterPart::Rest),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // RELIABILITY SEC3
    #[test]
    fn different_parts_give_different_subjects_and_each_reads_back(
        one in prop::collection::vec("\\PC{1,12}|[.*> %a]{1,4}|\\x00", 1..4),
        two in prop::collection::vec("\\PC{1,12}|[.*> %a]{1,4}|\\x00", 1..4),
    ) {
        let subject = |parts: &[String]| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            of("acme", &parts).unwrap()
        };
        let (first, second) = (subject(&one), subject(&two));
        prop_assert_eq!(first == second, one == two, "SUBJECT-2");
        prop_assert_eq!(&Subject::parse(first.as_str()).unwrap(), &first);
        prop_assert_eq!(first.as_str().split('.').count(), one.len() + 2);
        prop_assert_eq!(first.tenant(), Tenant::new("acme"));
        prop_assert!(!first.as_str().contains(|sign: char| "*> ".contains(sign) || sign.is_control()));
    }

    // BAD INPUT 56
    #[test]
    fn any_text_is_refused_or_reads_as_itself(text in "\\PC{0,40}|(lh\\.)?[a.%0-9*>A-F]{0,20}") {
        if let Ok(subject) = Subject::parse(&text) {
            prop_assert_eq!(subject.as_str(), &text);
        }
        if let Ok(filter) = SubjectFilter::parse(&text) {
            prop_assert_eq!(filter.as_str(), &text);
        }
    }

    #[test]
    fn a_filter_matches_as_its_parts_do(
        filter in prop::collection::vec(filter_part(), 1..4),
        parts in prop::collection::vec(prop::sample::select(vec!["a", "b", "*", ">", "a.b"]), 1..5),
    ) {
        let tenant = Tenant::new("acme");
        if let Ok(written) = SubjectFilter::new(&tenant, &filter) {
            let subject = Subject::new(&tenant, &parts).unwrap();
            prop_assert_eq!(written.matches(&subject), matches(&filter, &parts));
            let elsewhere = Subject::new(&Tenant::new("other"), &parts).unwrap();
            prop_assert!(!written.matches(&elsewhere), "FILTER-1");
        }
    }
}
