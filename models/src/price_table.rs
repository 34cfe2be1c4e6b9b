//! The built-in prices, to be read beside the providers' public price pages. Holds no logic.
//!
//! Where a page lists a promotion that ends, the regular price stands here.
//! Where a provider writes to its cache by itself and charges for it, input carries that rate.
//! So a price here errs on the high side.

use crate::Price;

/// The month of the newest copies of the pages that were read.
pub(crate) const READ_IN: &str = "2026-10";

/// Micro-units for a million tokens: input, cached input, output; then the same above a length of input.
#[rustfmt::skip]
pub(crate) const BUILT_IN: &[(&str, Price)] = &[
    // Anthropic, <https://platform.claude.com/docs/en/about-claude/pricing>.
    ("anthropic/claude-fable-5-1", Price::per_million(10_000_000, 250_000, 50_000_000)),
    ("anthropic/claude-fable-5", Price::per_million(10_000_000, 1_000_000, 50_000_000)),
    ("anthropic/claude-haiku-4-5", Price::per_million(1_000_000, 100_000, 5_000_000)),
    ("anthropic/claude-haiku-5-5", Price::per_million(100_000, 10_000, 500_000).above(100_000, 500_000, 50_000, 2_500_000)),
    ("anthropic/claude-opus-4-1", Price::per_million(15_000_000, 1_500_000, 75_000_000)),
    ("anthropic/claude-opus-4-5", Price::per_million(5_000_000, 500_000, 25_000_000)),
    ("anthropic/claude-opus-4-6", Price::per_million(5_000_000, 500_000, 25_000_000)),
    ("anthropic/claude-opus-4-7", Price::per_million(5_000_000, 500_000, 25_000_000)),
    ("anthropic/claude-opus-4-8", Price::per_million(5_000_000, 500_000, 25_000_000)),
    ("anthropic/claude-opus-5", Price::per_million(5_000_000, 500_000, 25_000_000)),
    ("anthropic/claude-opus-5-5", Price::per_million(4_000_000, 200_000, 20_000_000)),
    ("anthropic/claude-sonnet-4-5", Price::per_million(3_000_000, 300_000, 15_000_000)),
    ("anthropic/claude-sonnet-4-6", Price::per_million(3_000_000, 300_000, 15_000_000)),
    ("anthropic/claude-sonnet-5", Price::per_million(2_000_000, 200_000, 10_000_000)),
    ("anthropic/claude-sonnet-5-5", Price::per_million(2_000_000, 200_000, 10_000_000)),
    // Gemini, <https://ai.google.dev/gemini-api/docs/pricing>, the paid tier, text.
    ("gemini/gemini-2.5-flash", Price::per_million(300_000, 30_000, 2_500_000)),
    ("gemini/gemini-2.5-flash-lite", Price::per_million(100_000, 10_000, 400_000)),
    ("gemini/gemini-2.5-pro", Price::per_million(1_250_000, 125_000, 10_000_000).above(200_000, 2_500_000, 250_000, 15_000_000)),
    ("gemini/gemini-3.1-pro-preview", Price::per_million(2_000_000, 200_000, 12_000_000).above(200_000, 4_000_000, 400_000, 18_000_000)),
    ("gemini/gemini-3.5-flash", Price::per_million(1_500_000, 150_000, 9_000_000)),
    ("gemini/gemini-3.5-flash-lite", Price::per_million(300_000, 30_000, 2_500_000)),
    ("gemini/gemini-3.8-flash", Price::per_million(1_500_000, 150_000, 7_500_000)),
    ("gemini/gemini-4-hydrogen", Price::per_million(1_500_000, 75_000, 7_500_000)),
    ("gemini/gemini-4-neon", Price::per_million(3_000_000, 150_000, 15_000_000)),
    // OpenAI, <https://developers.openai.com/api/docs/pricing>, standard processing.
    ("openai/gpt-4.1", Price::per_million(2_000_000, 500_000, 8_000_000)),
    ("openai/gpt-4.1-mini", Price::per_million(400_000, 100_000, 1_600_000)),
    ("openai/gpt-4.1-nano", Price::per_million(100_000, 25_000, 400_000)),
    ("openai/gpt-4o", Price::per_million(2_500_000, 1_250_000, 10_000_000)),
    ("openai/gpt-4o-mini", Price::per_million(150_000, 75_000, 600_000)),
    ("openai/gpt-5", Price::per_million(1_250_000, 125_000, 10_000_000)),
    ("openai/gpt-5-mini", Price::per_million(250_000, 25_000, 2_000_000)),
    ("openai/gpt-5-nano", Price::per_million(50_000, 5_000, 400_000)),
    ("openai/gpt-5.1", Price::per_million(1_250_000, 125_000, 10_000_000)),
    ("openai/gpt-5.2", Price::per_million(1_750_000, 175_000, 14_000_000)),
    ("openai/gpt-5.4", Price::per_million(2_500_000, 250_000, 15_000_000).above(272_000, 5_000_000, 500_000, 22_500_000)),
    ("openai/gpt-5.4-mini", Price::per_million(750_000, 75_000, 4_500_000)),
    ("openai/gpt-5.4-nano", Price::per_million(200_000, 20_000, 1_250_000)),
    ("openai/gpt-5.5", Price::per_million(5_000_000, 500_000, 30_000_000).above(272_000, 10_000_000, 1_000_000, 45_000_000)),
    ("openai/gpt-5.6-sol", Price::per_million(6_250_000, 500_000, 30_000_000).above(272_000, 12_500_000, 1_000_000, 45_000_000)),
    ("openai/gpt-6.2-astra", Price::per_million(10_000_000, 400_000, 40_000_000).above(272_000, 20_000_000, 800_000, 60_000_000)),
    ("openai/gpt-6.2-sol", Price::per_million(2_500_000, 100_000, 10_000_000).above(272_000, 5_000_000, 200_000, 15_000_000)),
    // Ollama runs on one's own machine and sends no bill.
    ("ollama/*", Price::FREE),
];
