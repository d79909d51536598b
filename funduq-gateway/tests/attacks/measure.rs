//! What a process holds, and what it says of itself.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::{Instant, sleep};

use crate::support::{SOON, clients};

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

/// A gateway's page of metrics, and the one connection over which it is asked for again and again: a new one for each look
/// would be counted too, for as long as the last one is on its way out.
pub(crate) struct Page {
    url: String,
    client: reqwest::Client,
}

impl Page {
    pub(crate) fn of(url: &str) -> Self {
        let client = clients().pool_max_idle_per_host(1).pool_idle_timeout(None).build().unwrap();
        Self { url: format!("{url}/metrics"), client }
    }

    /// What it says of a figure.
    pub(crate) async fn figure(&self, name: &str) -> usize {
        let page = self.client.get(&self.url).send().await.unwrap().text().await.unwrap();
        let said = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        said.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }

    /// Looks again and again until it says so much.
    pub(crate) async fn until_figure_is(&self, name: &str, wanted: usize) {
        let until = Instant::now() + SOON;
        loop {
            let now = self.figure(name).await;
            if now == wanted {
                return;
            }
            assert!(Instant::now() < until, "{name} is {now}, and {wanted} is waited for");
            sleep(LOOK_AGAIN).await;
        }
    }
}
