//! Connections: stalled, broken, too talkative, abandoned; and keys and names found wrong before any of it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use leasehold_models::{
    Dialect, Endpoint, Message, ModelError, ModelRequest, OpenModelError, Providers, Retry,
};
use leasehold_types::{AbortReason, Signal};

use crate::server::{Server, http};
use crate::support::{
    KEY, LIMITS, TestClock, call, exchange, model, model_on, permit, providers, simple,
};

const HALF: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\": [";
/// A hang shows as a failure instead of a test that never ends; no passing test waits for it.
const HANGS: Duration = Duration::from_secs(60);

// BAD INPUT 22
#[tokio::test]
async fn an_answer_that_stalls_ends_at_the_limit_and_closes_the_connection() {
    let server = Server::start().await;
    let model = model_on(Dialect::OpenAi, &server, TestClock(Some(LIMITS.idle)));
    let (request, signal) = (simple(), Signal::root());
    let (result, seen) = tokio::join!(model.chat(permit(), &request, &signal), server.answer(HALF));
    let error = result.unwrap_err();
    assert_eq!(error, ModelError::Stalled { after: LIMITS.idle });
    assert_eq!(
        (error.retry(), error.may_have_been_billed()),
        (Retry::After(None), true)
    );
    assert_eq!(seen.rest().await, 0, "HTTP-1");
}

#[tokio::test]
async fn a_provider_that_never_begins_or_never_ends_its_answer_is_given_up() {
    for limit in [LIMITS.headers, LIMITS.body] {
        let server = Server::start().await;
        let model = model_on(Dialect::Anthropic, &server, TestClock(Some(limit)));
        let (request, signal) = (simple(), Signal::root());
        let call = model.chat(permit(), &request, &signal);
        let serve = async {
            server.answer(HALF).await.rest().await;
        };
        let result = match select(call, std::pin::pin!(serve)).await {
            Either::Left((result, _)) => result,
            Either::Right(((), call)) => call.await,
        };
        assert_eq!(result, Err(ModelError::Stalled { after: limit }));
    }
}

// CASE 87
#[tokio::test]
async fn dropping_a_call_closes_its_connection_before_and_within_the_answer() {
    for begun in [&b""[..], HALF] {
        let server = Server::start().await;
        let model = model(Dialect::OpenAi, &server);
        let (request, signal) = (simple(), Signal::root());
        let call = model.chat(permit(), &request, &signal);
        let Either::Right((seen, call)) = select(call, std::pin::pin!(server.answer(begun))).await
        else {
            panic!("the call waits for the rest of the answer");
        };
        drop(call);
        let rest = tokio::time::timeout(HANGS, seen.rest()).await;
        assert_eq!(rest, Ok(0), "HTTP-1: the server sees the end");
    }
}

// CASE 87
#[tokio::test]
async fn an_aborted_signal_ends_the_call_with_its_reason_and_closes_the_connection() {
    let server = Server::start().await;
    let model = model(Dialect::Gemini, &server);
    let (request, signal) = (simple(), Signal::root());
    let reason = AbortReason::Cancelled {
        by: "dana".to_owned(),
    };
    let abort = async {
        let seen = server.answer(HALF).await;
        signal.abort(reason.clone());
        seen
    };
    let (result, seen) = tokio::join!(model.chat(permit(), &request, &signal), abort);
    let error = result.unwrap_err();
    assert_eq!(error, ModelError::Aborted(reason));
    assert!(error.may_have_been_billed());
    assert_eq!(tokio::time::timeout(HANGS, seen.rest()).await, Ok(0));
}

#[tokio::test]
async fn an_aborted_signal_sends_nothing() {
    let server = Server::start().await;
    let signal = Signal::root();
    signal.abort(AbortReason::Stopped("drain".to_owned()));
    let request = simple();
    let result = model(Dialect::OpenAi, &server)
        .chat(permit(), &request, &signal)
        .await;
    assert!(matches!(result, Err(ModelError::Aborted(_))), "{result:?}");
    assert!(server.is_quiet());
}

// BAD INPUT 22
#[tokio::test]
async fn an_answer_over_the_bound_is_cut_off_and_not_asked_for_again() {
    let long = format!(
        r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#,
        "x".repeat(5_000)
    );
    let endless = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n{}\r\n",
        "x".repeat(5_000)
    );
    for answer in [http(200, &[], &long), endless.into_bytes()] {
        let (result, _) = exchange(Dialect::OpenAi, &simple(), &answer).await;
        let error = result.unwrap_err();
        assert_eq!(error, ModelError::AnswerTooLarge { max: 4_096 }, "HTTP-2");
        assert_eq!(error.retry(), Retry::Never);
    }
}

#[tokio::test]
async fn a_long_error_page_is_read_only_as_far_as_needed() {
    let page = http(500, &[], &"x".repeat(200_000));
    let (result, _) = exchange(Dialect::OpenAi, &simple(), &page).await;
    assert_eq!(result, Err(ModelError::Server { status: 500 }));
}

#[tokio::test]
async fn an_error_whose_body_stalls_is_still_that_error() {
    let server = Server::start().await;
    let model = model_on(Dialect::OpenAi, &server, TestClock(Some(LIMITS.idle)));
    let (request, signal) = (simple(), Signal::root());
    let half = b"HTTP/1.1 429 X\r\nretry-after: 3\r\ncontent-length: 1000\r\n\r\n{";
    let (result, _seen) =
        tokio::join!(model.chat(permit(), &request, &signal), server.answer(half));
    let retry_after = Some(Duration::from_secs(3));
    assert_eq!(result, Err(ModelError::RateLimited { retry_after }));
}

// CASE 103
#[tokio::test]
async fn a_broken_connection_is_told_with_the_phase_it_broke_in() {
    let server = Server::start().await;
    let broken = model(Dialect::OpenAi, &server);
    let (request, signal) = (simple(), Signal::root());
    let serve = async {
        drop(server.request().await);
    };
    let (result, ()) = tokio::join!(broken.chat(permit(), &request, &signal), serve);
    let error = result.unwrap_err();
    assert!(
        error.to_string().starts_with("[model.transport] "),
        "{error}"
    );
    assert!(error.may_have_been_billed(), "it had been sent");
    assert!(server.is_quiet(), "one call, one request");

    drop(server);
    let error = broken.chat(permit(), &request, &signal).await.unwrap_err();
    assert!(
        error.to_string().starts_with("[model.transport] "),
        "{error}"
    );
    assert!(!error.may_have_been_billed(), "nobody was there: {error:?}");
    assert_eq!(error.retry(), Retry::After(None));
}

// CONTRACT A5
// CASE 100
#[tokio::test]
async fn a_conversation_with_a_call_without_result_is_not_sent() {
    let server = Server::start().await;
    let calls = Message::Assistant {
        text: "".into(),
        calls: [call("a", None, "{}")].into(),
        echo: None,
    };
    let request = ModelRequest::new("", vec![Message::user("hi"), calls]);
    let signal = Signal::root();
    let result = model(Dialect::OpenAi, &server)
        .chat(permit(), &request, &signal)
        .await;
    assert!(
        matches!(result, Err(ModelError::HistoryInvalid(_))),
        "{result:?}"
    );
    assert!(server.is_quiet());
}

#[tokio::test]
async fn a_missing_or_unusable_key_is_told_by_the_name_of_its_variable() {
    let server = Server::start().await;
    for key in [None, Some(""), Some("sk-canary-7\n")] {
        let source = move |_name: &str| key.map(str::to_owned);
        let endpoint = Endpoint::new("here", Dialect::OpenAi, server.base_url()).key_env("A_KEY");
        let model = Providers::new(Arc::new(TestClock(None)), Arc::new(source))
            .unwrap()
            .endpoint(endpoint)
            .open("here/m-1")
            .unwrap();
        let (request, signal) = (simple(), Signal::root());
        let error = model.chat(permit(), &request, &signal).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "[model.key-missing] A_KEY holds no usable key: set the environment variable"
        );
    }
    assert!(server.is_quiet());
}

#[tokio::test]
async fn models_are_opened_by_name_without_network_and_keys() {
    let providers = providers(Dialect::OpenAi, "http://user:pw@h/", TestClock(None));
    let model = providers.open("anthropic/claude-sonnet-5").unwrap();
    assert_eq!(model.name(), "anthropic/claude-sonnet-5");
    assert!(
        model.estimate(&simple()).money.is_some(),
        "its price is built in"
    );
    assert_eq!(
        providers.key_env("anthropic/x"),
        Ok(Some("ANTHROPIC_API_KEY"))
    );
    assert_eq!(providers.key_env("ollama/x"), Ok(None));
    let shown = format!("{providers:?} {model:?}");
    assert!(!shown.contains(KEY), "PROVIDER-2");

    let error = |name| providers.open(name).err().unwrap();
    assert!(matches!(error("gpt-5"), OpenModelError::Name(_)));
    assert!(matches!(
        error("here/m"),
        OpenModelError::BaseUrlInvalid { .. }
    ));
    let unknown = error("azure/gpt-5").to_string();
    assert!(
        unknown.starts_with("[model.provider-unknown] \"azure/gpt-5\""),
        "{unknown}"
    );
    assert!(
        unknown.contains("anthropic, gemini, here, ollama, openai, openrouter"),
        "{unknown}"
    );
}
