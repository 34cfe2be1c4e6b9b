use leasehold_models::{Model, ModelRequest, ask};

struct NotAPermit;

async fn call(model: &dyn Model, request: &ModelRequest) {
    let signal = leasehold_types::Signal::root();
    let _answer = ask(model, NotAPermit, request, &signal).await;
}

fn main() {}
