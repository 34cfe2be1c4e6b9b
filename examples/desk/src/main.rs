//! The support desk: its own binary is its command line, and `desk demo` shows what happens when it is killed.
//!
//! `desk [--data DIRECTORY] [--model NAME] <command>`; without a command, the demonstration.

mod app;
mod demo;
mod script;
mod shop;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::shop::Shop;
use crate::tools::AfterPayment;

/// What the desk takes before the command.
struct Options {
    data: Option<PathBuf>,
    model: String,
    after: AfterPayment,
    /// The command with its arguments.
    rest: Vec<OsString>,
}

fn options(arguments: impl Iterator<Item = OsString>) -> Options {
    let mut options = Options {
        data: None,
        model: script::NAME.to_owned(),
        after: AfterPayment::GoOn,
        rest: vec![],
    };
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--data") => options.data = arguments.next().map(PathBuf::from),
            Some("--model") => {
                let model = arguments.next().unwrap_or_default();
                options.model = model.to_string_lossy().into_owned();
            }
            Some("--kill-after-payment") => options.after = AfterPayment::Kill,
            _ => options.rest.push(argument),
        }
    }
    options
}

fn main() -> ExitCode {
    let options = options(std::env::args_os().skip(1));
    if options.rest.first().is_none_or(|command| command == "demo") {
        return demo::run(&options.data.unwrap_or_else(|| PathBuf::from("desk-demo")));
    }
    let data = options.data.unwrap_or_else(|| PathBuf::from("desk-data"));
    let shop = match Shop::with_samples(data.join("shop")) {
        Ok(shop) => shop,
        Err(error) => {
            use std::io::Write as _;
            let _closed = writeln!(std::io::stderr(), "{error}");
            return ExitCode::FAILURE;
        }
    };
    let app = app::app(shop, &options.model, options.after);
    if options
        .rest
        .first()
        .is_some_and(|command| command == demo::DECIDE)
    {
        let reference = options
            .rest
            .get(1)
            .map(|word| word.to_string_lossy())
            .unwrap_or_default();
        return demo::decide(app, &reference);
    }
    app.main_with(command(options.rest, &data))
}

/// The command as the application's command line takes it: with the store's place, and `run` with the one agent there is.
fn command(rest: Vec<OsString>, data: &std::path::Path) -> Vec<OsString> {
    let mut arguments = vec![OsString::from("desk")];
    let named = rest.get(1).is_some_and(|word| word == "support");
    let is_run = rest.first().is_some_and(|word| word == "run");
    let mut rest = rest.into_iter();
    arguments.extend(rest.next());
    if is_run && !named {
        arguments.push("support".into());
    }
    arguments.extend(rest);
    arguments.push("--store".into());
    arguments.push(data.join("store").into());
    arguments
}
