//! Endpoints: a provider's name, its address, the protocol it speaks, and the name of the variable with its key.

use reqwest::Url;

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's own chat completions.
    OpenAi,
    /// What others make of OpenAI's chat completions: Ollama, vLLM, OpenRouter and many more.
    OpenAiCompatible,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// Where models are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    provider: String,
    dialect: Dialect,
    base_url: String,
    key_env: Option<String>,
}

impl Endpoint {
    /// An endpoint that speaks `dialect` at `base_url`, the address up to and without `/chat/completions`, `/messages` or `/models`.
    #[must_use]
    pub fn new(provider: impl Into<String>, dialect: Dialect, base_url: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            dialect,
            base_url: base_url.into(),
            key_env: None,
        }
    }

    /// The same with a key: the name of the environment variable that holds it.
    #[must_use]
    pub fn key_env(mut self, name: impl Into<String>) -> Self {
        self.key_env = Some(name.into());
        self
    }

    /// The endpoints that need no base URL. Addresses and variable names are the ones the providers document.
    pub(crate) fn built_in() -> [Self; 5] {
        let at = |provider: &str, dialect, base_url: &str| Self::new(provider, dialect, base_url);
        let compatible = Dialect::OpenAiCompatible;
        [
            at(
                "anthropic",
                Dialect::Anthropic,
                "https://api.anthropic.com/v1",
            )
            .key_env("ANTHROPIC_API_KEY"),
            at(
                "gemini",
                Dialect::Gemini,
                "https://generativelanguage.googleapis.com/v1beta",
            )
            .key_env("GEMINI_API_KEY"),
            at("ollama", compatible, "http://127.0.0.1:11434/v1"),
            at("openai", Dialect::OpenAi, "https://api.openai.com/v1").key_env("OPENAI_API_KEY"),
            at("openrouter", compatible, "https://openrouter.ai/api/v1")
                .key_env("OPENROUTER_API_KEY"),
        ]
    }

    /// The name a model's name begins with.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// The protocol it speaks.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The name of the environment variable with its key.
    #[must_use]
    pub fn key_name(&self) -> Option<&str> {
        self.key_env.as_deref()
    }

    /// The address to ask `model` at; `None` where the base URL cannot be used.
    pub(crate) fn url(&self, model: &str) -> Option<Url> {
        let mut url = Url::parse(&self.base_url).ok()?;
        let web = matches!(url.scheme(), "http" | "https") && url.has_host();
        let user = !url.username().is_empty() || url.password().is_some();
        if !web || user || url.query().is_some() || url.fragment().is_some() {
            return None;
        }
        let tail = match self.dialect {
            Dialect::OpenAi | Dialect::OpenAiCompatible => {
                ["chat", "completions"].map(str::to_owned)
            }
            Dialect::Anthropic => ["messages".to_owned(), String::new()],
            Dialect::Gemini => ["models".to_owned(), format!("{model}:generateContent")],
        };
        url.path_segments_mut()
            .ok()?
            .pop_if_empty()
            .extend(tail.iter().filter(|segment| !segment.is_empty()));
        Some(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dialect: Dialect, base: &str, expected: Option<&str>) {
        let url = Endpoint::new("x", dialect, base).url("a model/b");
        assert_eq!(url.as_ref().map(Url::as_str), expected, "{base}");
    }

    #[test]
    fn a_base_url_is_completed_and_a_model_name_stays_one_segment() {
        let compatible = Dialect::OpenAiCompatible;
        let chat = Some("http://h:1/v1/chat/completions");
        check(compatible, "http://h:1/v1", chat);
        check(compatible, "http://h:1/v1/", chat);
        check(Dialect::Anthropic, "https://h", Some("https://h/messages"));
        let gemini = "https://h/v1beta/models/a%20model%2Fb:generateContent";
        check(Dialect::Gemini, "https://h/v1beta", Some(gemini));
    }

    #[test]
    fn a_base_url_with_credentials_or_a_query_is_refused() {
        for base in [
            "",
            "h/v1",
            "ftp://h/v1",
            "https://u:p@h/v1",
            "https://h/v1?key=1",
            "https://h#a",
        ] {
            check(Dialect::OpenAi, base, None);
        }
    }
}
