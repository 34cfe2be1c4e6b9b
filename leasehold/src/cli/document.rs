//! What `--output json` prints: each document has a `schema` number, and fields as in `view.rs`.

use serde::Serialize;

use super::view::{DecidedView, ExecutionRow, ExecutionView, PauseView, SCHEMA};

/// A document: its schema and its one field.
#[derive(Debug, Serialize)]
pub(super) struct Document<T: Serialize> {
    schema: u32,
    #[serde(flatten)]
    body: T,
}

const fn document<T: Serialize>(body: T) -> Document<T> {
    Document {
        schema: SCHEMA,
        body,
    }
}

/// Executions, the newest first; `of` says how many there are where some were left out.
pub(super) fn executions(rows: &[ExecutionRow], of: Option<u64>) -> Document<impl Serialize> {
    #[derive(Serialize)]
    struct Body<'a> {
        executions: &'a [ExecutionRow],
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out_of: Option<u64>,
    }
    document(Body {
        executions: rows,
        left_out_of: of,
    })
}

/// Open pauses, the oldest first.
pub(super) fn approvals(pauses: &[PauseView], of: Option<u64>) -> Document<impl Serialize> {
    #[derive(Serialize)]
    struct Body<'a> {
        approvals: &'a [PauseView],
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out_of: Option<u64>,
    }
    document(Body {
        approvals: pauses,
        left_out_of: of,
    })
}

/// One execution.
pub(super) const fn execution(view: &ExecutionView) -> Document<&ExecutionView> {
    document(view)
}

/// What became of a decision.
pub(super) const fn decided(view: &DecidedView) -> Document<&DecidedView> {
    document(view)
}

/// Anything else.
pub(super) const fn other<T: Serialize>(body: T) -> Document<T> {
    document(body)
}
