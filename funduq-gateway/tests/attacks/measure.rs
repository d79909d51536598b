//! What a process holds.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::{Instant, sleep};

use crate::support::SOON;

/// In memory, in MiB.
pub(crate) fn memory_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    resident.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// Descriptors.
pub(crate) fn descriptors_of(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

/// Lets this process, and those that it starts, open so many descriptors.
///
/// # Panics
/// Where the system does not let it: less than what is promised would prove nothing.
pub(crate) fn make_room(descriptors: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    assert!(
        maximum.is_none_or(|maximum| maximum >= descriptors),
        "this test needs {descriptors} descriptors and the system lets a process have {maximum:?}: raise its hard limit \
         (ulimit -Hn)"
    );
    if current.is_some_and(|current| current < descriptors) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(descriptors), maximum }).unwrap();
    }
}

/// Looks again and again until a figure is no more than so much.
pub(crate) async fn falls_to<T: PartialOrd + std::fmt::Display>(
    what: &str,
    most: T,
    figure: impl Fn() -> T,
) -> T {
    let until = Instant::now() + SOON;
    loop {
        let now = figure();
        if now <= most {
            return now;
        }
        assert!(Instant::now() < until, "{what}: {now} are left, and at most {most} should be");
        sleep(Duration::from_millis(20)).await;
    }
}
