//! Asking the person at the terminal.
//!
//! - ANSWER-1: only a word that says so approves; what is unclear is asked again, and in the end left open.

use tokio::io::BufReader;

use super::control::{Line, read_line};
use super::error::CliError;
use super::out::Out;
use super::request::Say;
use super::view::{About, PauseView};
use leasehold_types::BoxFuture;

/// The most bytes of one line at the terminal.
const LINE_BYTES_MAX: usize = 64 * 1_024;
/// How often something unclear is asked again.
const TRIES_MAX: u32 = 3;

/// Whoever types.
pub(super) trait Typist: Send {
    /// The next line; none where nobody types any more.
    fn line(&mut self) -> BoxFuture<'_, Option<String>>;
}

/// The person at the standard input.
#[derive(Debug)]
pub(super) struct Terminal(BufReader<tokio::io::Stdin>);

impl Terminal {
    /// The standard input.
    pub(super) fn standard() -> Self {
        Self(BufReader::new(tokio::io::stdin()))
    }
}

impl Typist for Terminal {
    fn line(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            match read_line(&mut self.0, LINE_BYTES_MAX).await {
                Ok(Line::Whole(line)) => Some(String::from_utf8_lossy(&line).trim().to_owned()),
                Ok(Line::TooLong | Line::Closed) | Err(_) => None,
            }
        })
    }
}

/// Asks for a decision about a pause that was shown. None: it is left open.
///
/// # Errors
/// The terminal is gone.
pub(super) async fn decision(
    pause: &PauseView,
    typist: &mut dyn Typist,
    out: &mut Out,
) -> Result<Option<Say>, CliError> {
    if pause.about == About::Input {
        out.ask("say (nothing: later) > ")?;
        let text = typist.line().await.filter(|text| !text.is_empty());
        return Ok(text.map(|text| Say::Message { text }));
    }
    let question = match pause.about {
        About::Uncertain => "repeat the call? [y]es, [n]o, [l]ater > ",
        About::Approval | About::Input => "approve? [y]es, [n]o, [e]dit the arguments, [l]ater > ",
    };
    for _ in 0..TRIES_MAX {
        out.ask(question)?;
        let Some(word) = typist.line().await else {
            return Ok(None);
        };
        match word.to_lowercase().as_str() {
            "y" | "yes" | "approve" => return Ok(Some(Say::Approve { arguments: None })),
            "n" | "no" | "reject" => {
                out.ask("why? (the model reads it) > ")?;
                let reason = typist.line().await.unwrap_or_default();
                return Ok(Some(Say::Reject { reason }));
            }
            "e" | "edit" if pause.about == About::Approval => {
                if let Some(say) = edited(typist, out).await? {
                    return Ok(Some(say));
                }
            }
            "l" | "later" => return Ok(None),
            _ => out.note("that is neither yes nor no")?,
        }
    }
    Ok(None)
}

async fn edited(typist: &mut dyn Typist, out: &mut Out) -> Result<Option<Say>, CliError> {
    out.ask("arguments, as one line of JSON > ")?;
    let Some(text) = typist.line().await else {
        return Ok(None);
    };
    match checked_arguments(&text) {
        Ok(()) => Ok(Some(Say::Approve {
            arguments: Some(text),
        })),
        Err(error) => {
            out.note(&crate::escape::line(&error.to_string()))?;
            Ok(None)
        }
    }
}

/// Whether a text can be arguments at all; whether they are the tool's is the tool's to say.
///
/// # Errors
/// It is no JSON object.
pub(super) fn checked_arguments(text: &str) -> Result<(), CliError> {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text)
        .map(|_| ())
        .map_err(|error| CliError::ArgumentsInvalid(error.to_string()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::out::tests::kept;
    use crate::cli::view::AnswererView;
    use crate::cli::when::When;
    use leasehold_types::{ExecutionId, PauseRef, Timestamp, TreeId};

    /// Types these lines.
    pub(in crate::cli) struct Script(pub(in crate::cli) Vec<&'static str>);
    impl Typist for Script {
        fn line(&mut self) -> BoxFuture<'_, Option<String>> {
            let next = (!self.0.is_empty()).then(|| self.0.remove(0).to_owned());
            Box::pin(std::future::ready(next))
        }
    }

    fn pause(about: About) -> PauseView {
        PauseView {
            pause: PauseRef {
                execution: ExecutionId::root(TreeId::from_u128(1)),
                number: 1,
            },
            about,
            role: None,
            answerer: AnswererView::Channel,
            agent: "support".to_owned(),
            owner: "dana".to_owned(),
            call_id: None,
            idempotency_key: None,
            tool: None,
            effect: None,
            arguments: None,
            why: None,
            model_said: None,
            digest: String::new(),
            asked_at: When(Timestamp::default()),
            expires_at: None,
            undeliverable: false,
        }
    }

    async fn said(about: About, lines: &[&'static str]) -> Option<Say> {
        let (mut out, _, _) = kept();
        decision(&pause(about), &mut Script(lines.to_vec()), &mut out)
            .await
            .unwrap()
    }

    // CONTRACT P7
    // BAD INPUT 50
    #[tokio::test]
    async fn what_is_unclear_is_asked_again_and_never_approves() {
        let approve = Some(Say::Approve { arguments: None });
        let reject = |reason: &str| {
            Some(Say::Reject {
                reason: reason.to_owned(),
            })
        };
        let cases: [(&[&str], Option<Say>); 8] = [
            (&["y"], approve.clone()),
            (&["YES"], approve.clone()),
            (&["yes... no wait", "yes"], approve.clone()),
            (&["", "ja", "ok"], None),
            (&[], None),
            (&["n", "too much"], reject("too much")),
            (&["no"], reject("")),
            (&["l", "y"], None),
        ];
        for (lines, say) in cases {
            assert_eq!(
                said(About::Approval, lines).await,
                say,
                "ANSWER-1: {lines:?}"
            );
        }
    }

    // CONTRACT P7
    #[tokio::test]
    async fn arguments_are_edited_as_json_or_asked_for_again() {
        let arguments = Some(r#"{"cents":1}"#.to_owned());
        let lines = ["e", "[1]", "e", r#"{"cents":1}"#];
        assert_eq!(
            said(About::Approval, &lines).await,
            Some(Say::Approve { arguments })
        );
        let uncertain = said(About::Uncertain, &["e", r#"{"cents":1}"#, "l"]).await;
        assert_eq!(
            uncertain, None,
            "a call that may have run keeps its arguments"
        );
    }

    #[tokio::test]
    async fn an_agent_that_waits_for_a_message_gets_one_or_none() {
        let text = "And A-1043?".to_owned();
        assert_eq!(
            said(About::Input, &["And A-1043?"]).await,
            Some(Say::Message { text })
        );
        assert_eq!(said(About::Input, &[""]).await, None);
    }
}
