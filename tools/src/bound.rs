//! Result bounds: how much of a result's text a model reads.
//!
//! - BOUND-1: the kept part is a prefix of the text, never longer than the bound, and ends between characters.

use std::fmt;

use leasehold_types::Size;

/// The bound where nobody set one: 128 KB.
pub const BUILT_IN_BOUND: Size = Size::bytes(128 << 10);

/// How far back from the bound a cut looks for whitespace, in bytes.
const LOOK_BACK: usize = 256;

/// Where a text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of the whole text.
    pub total: usize,
    /// Bytes that are kept, from the start.
    pub kept: usize,
}

impl Cut {
    /// Where a text longer than `bound` is cut; none where it fits.
    ///
    /// Before the last space, tab or line break in the final 256 bytes of the bound, else at the bound, never inside a character.
    #[must_use]
    pub fn of(text: &str, bound: Size) -> Option<Self> {
        let bound = usize::try_from(bound.as_bytes()).unwrap_or(usize::MAX);
        if text.len() <= bound {
            return None;
        }
        let from = bound.saturating_sub(LOOK_BACK);
        let tail = text.as_bytes().get(from..bound).unwrap_or_default();
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let kept = match tail.iter().rposition(is_space) {
            Some(at) => from + at,
            None => text.floor_char_boundary(bound),
        };
        let total = text.len();
        Some(Self { total, kept })
    }
}

impl fmt::Display for Cut {
    /// The marker that follows the kept part, and any masking of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, kept) = (Thousands(self.total), Thousands(self.kept));
        write!(
            f,
            "\n[result truncated: {total} bytes, the first {kept} kept]"
        )
    }
}

/// The text a model reads: whole, or cut and marked; and whether it was cut. The marker comes on top of the bound.
#[must_use]
pub fn bound(text: String, bound: Size) -> (String, bool) {
    let Some(cut) = Cut::of(&text, bound) else {
        return (text, false);
    };
    let mut text = text;
    text.truncate(cut.kept);
    text.push_str(&cut.to_string());
    (text, true)
}

/// A bound that applies to a tool, and who set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultBound {
    /// The bound.
    pub size: Size,
    /// Who set it.
    pub source: BoundSource,
}

/// Who set a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundSource {
    /// The tool itself.
    Own,
    /// The workflow of this name.
    Workflow(String),
    /// The application.
    Application,
    /// Nobody.
    BuiltIn,
}

impl ResultBound {
    /// The tool's own, else the workflow's, else the application's, else 128 KB.
    #[must_use]
    pub fn resolve(
        own: Option<Size>,
        workflow: Option<(&str, Size)>,
        application: Option<Size>,
    ) -> Self {
        let own = own.map(|size| (size, BoundSource::Own));
        let (size, source) = own
            .or_else(|| workflow.map(|(name, size)| (size, BoundSource::Workflow(name.to_owned()))))
            .or_else(|| application.map(|size| (size, BoundSource::Application)))
            .unwrap_or((BUILT_IN_BOUND, BoundSource::BuiltIn));
        Self { size, source }
    }
}

impl fmt::Display for ResultBound {
    /// Writes `64 KB (desk)`, `256 KB (own)`, `128 KB (built-in)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            BoundSource::Own => "own",
            BoundSource::Workflow(name) => name,
            BoundSource::Application => "application",
            BoundSource::BuiltIn => "built-in",
        };
        write!(f, "{} ({source})", self.size)
    }
}

/// A number with a comma between each three digits.
struct Thousands(usize);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::kilobytes;

    #[track_caller]
    fn check(text: &str, bytes: u64, right: &str) {
        assert_eq!(bound(text.to_owned(), Size::bytes(bytes)).0, right);
    }

    // CONTRACT T10
    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let text = "x".repeat(1_048_587);
        let (cut, is_truncated) = bound(text, kilobytes(256));
        assert!(is_truncated);
        assert!(cut.ends_with("x\n[result truncated: 1,048,587 bytes, the first 262,144 kept]"));
        assert_eq!(cut.find('\n'), Some(262_144));
    }

    // CONTRACT T10
    #[test]
    fn the_cut_is_before_whitespace_at_the_bound_or_between_characters() {
        let marked = |kept: &str, total: usize| {
            format!(
                "{kept}\n[result truncated: {total} bytes, the first {} kept]",
                kept.len()
            )
        };
        check("12345", 5, "12345");
        check("123456", 5, &marked("12345", 6));
        check("12 456", 5, &marked("12", 6));
        check("1\t3\n56", 5, &marked("1\t3", 6));
        check("12345 7", 5, &marked("12345", 7));
        check("1234é", 5, &marked("1234", 6));
        check("é", 1, &marked("", 2));
        check(" 23", 2, &marked("", 3));
        let far = format!("1 {}", "x".repeat(300));
        check(&far, 300, &marked(&far[..300], 302));
        let near = format!("1 {}", "x".repeat(300));
        check(&near, 257, &marked("1", 302));
        check(&near, 258, &marked(&near[..258], 302));
    }

    // CONTRACT T10, T14
    #[test]
    fn the_nearest_bound_applies_and_says_where_it_came_from() {
        let resolve = |own: Option<u32>, workflow: Option<u32>, application: Option<u32>| {
            let workflow = workflow.map(|size| ("desk", kilobytes(size)));
            ResultBound::resolve(own.map(kilobytes), workflow, application.map(kilobytes))
                .to_string()
        };
        assert_eq!(resolve(Some(256), Some(64), Some(1)), "256 KB (own)");
        assert_eq!(resolve(None, Some(64), Some(1)), "64 KB (desk)");
        assert_eq!(resolve(None, None, Some(1)), "1 KB (application)");
        assert_eq!(resolve(None, None, None), "128 KB (built-in)");
    }
}
