//! The program `mapstack`.

fn main() -> std::process::ExitCode {
    mapstack_cli::main()
}
