//! The binary `funduq`.

fn main() -> std::process::ExitCode {
    funduq_gateway::cli::main()
}
