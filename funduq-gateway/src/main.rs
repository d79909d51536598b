//! The binary `funduq`.

/// A crowd that has gone leaves nothing behind: what it took goes back to the system within seconds. The system's own
/// allocator, glibc's at least, keeps it for as long as the process lives.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    funduq_gateway::cli::main()
}
