//! What a process holds, and what it says of itself.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::{Instant, sleep};

use crate::support::{SOON, client};

/// How long it is between two looks.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(20);

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
        sleep(LOOK_AGAIN).await;
    }
}

/// What a gateway's page of metrics says of a figure.
pub(crate) async fn figure(url: &str, name: &str) -> usize {
    let page = client().get(format!("{url}/metrics")).send().await.unwrap().text().await.unwrap();
    let said = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    said.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
}

/// Looks again and again until it says so much.
pub(crate) async fn until_figure_is(url: &str, name: &str, wanted: usize) {
    let until = Instant::now() + SOON;
    loop {
        let now = figure(url, name).await;
        if now == wanted {
            return;
        }
        assert!(Instant::now() < until, "{name} is {now}, and {wanted} is waited for");
        sleep(LOOK_AGAIN).await;
    }
}
