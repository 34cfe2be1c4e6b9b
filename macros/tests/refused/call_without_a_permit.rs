use leasehold::{BoundTool, CallFrame, CallOutcome, invoke};

struct NotAPermit;

async fn call(tool: &BoundTool, frame: CallFrame) -> CallOutcome {
    invoke(NotAPermit, tool, "{}", frame).await
}

fn main() {}
