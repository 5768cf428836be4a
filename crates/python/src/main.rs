//! The program `mapstack-python`: see the library.

use std::process::ExitCode;

const HELP: &str = "\
mapstack-python runs Mako and Python templates for the command mapstack, which starts it.
Put it beside mapstack, on the path, or name it in MAPSTACK_PYTHON.";

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let served = match argument.as_deref() {
        #[cfg(unix)]
        Some("--serve") => mapstack_python::serve(false),
        #[cfg(unix)]
        Some("--serve-all") => mapstack_python::serve(true),
        Some("--once") => mapstack_python::serve_once(),
        Some("--version") => {
            println!("mapstack-python {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        Some("--help") => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mapstack-python: {error}");
            ExitCode::FAILURE
        }
    }
}
