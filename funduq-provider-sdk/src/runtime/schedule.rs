//! Which accepted run starts when: turns per thread, places under the capacity. No clock, no task, no lock.

use std::collections::{HashMap, VecDeque};

use funduq_contract::{AgentName, RunId, ThreadId};

use super::capacity::Capacity;

/// One conversation with one agent: where turns are taken one at a time.
pub(crate) type Lane = (AgentName, ThreadId);

/// What became of a run that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// There is a place: its agent starts at once.
    Start,
    /// It is held and starts when [`Schedule::left`] names it.
    Wait,
    /// There is no room for it.
    Full,
}

/// How a run takes its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// After the runs before it in its lane.
    InLane(Lane),
    /// Whenever there is a place.
    Free,
    /// Beside a run in flight that it speaks to: at once, whatever is running, since waiting
    /// for the place of the very run it addresses would make it too late.
    Beside,
}

#[derive(Debug)]
struct Entry {
    turn: Turn,
    stage: Stage,
    /// Whether funduq still counts the run as held.
    counted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    InLane,
    Ready,
    Running,
}

#[derive(Debug)]
pub(crate) struct Schedule {
    capacity: Capacity,
    entries: HashMap<RunId, Entry>,
    counted: usize,
    running: usize,
    /// The lanes that are taken, each with the runs behind the one whose turn it is.
    lanes: HashMap<Lane, VecDeque<RunId>>,
    ready: VecDeque<RunId>,
}

impl Schedule {
    pub(crate) fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            entries: HashMap::new(),
            counted: 0,
            running: 0,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
        }
    }

    pub(crate) fn admit(&mut self, run: RunId, turn: Turn) -> Admission {
        if self.counted >= self.capacity.held_limit() {
            return Admission::Full;
        }
        let stage = match &turn {
            Turn::Beside => Stage::Running,
            Turn::Free => self.place(&run),
            Turn::InLane(lane) => match self.lanes.get_mut(lane) {
                Some(behind) => {
                    behind.push_back(run.clone());
                    Stage::InLane
                }
                None => {
                    self.lanes.insert(lane.clone(), VecDeque::new());
                    self.place(&run)
                }
            },
        };
        self.counted += 1;
        self.entries.insert(run, Entry { turn, stage, counted: true });
        if stage == Stage::Running { Admission::Start } else { Admission::Wait }
    }

    /// Whether the run's agent has been started and has not returned.
    pub(crate) fn is_running(&self, run: &RunId) -> bool {
        self.entries.get(run).is_some_and(|entry| entry.stage == Stage::Running)
    }

    /// The run has ended for funduq, though its agent may still be tidying up: it takes no
    /// room any more, so that the offer which its end sets free is not declined.
    pub(crate) fn over(&mut self, run: &RunId) {
        if let Some(entry) = self.entries.get_mut(run)
            && entry.counted
        {
            entry.counted = false;
            self.counted -= 1;
        }
    }

    /// The run's agent returned, or the run was given up before its turn. Answers the runs to start now.
    pub(crate) fn left(&mut self, run: &RunId) -> Vec<RunId> {
        self.over(run);
        let Some(entry) = self.entries.remove(run) else { return Vec::new() };
        match entry.stage {
            Stage::InLane => {}
            Stage::Ready => self.ready.retain(|waiting| waiting != run),
            Stage::Running if entry.turn == Turn::Beside => {}
            Stage::Running => self.running -= 1,
        }
        if let Turn::InLane(lane) = &entry.turn {
            self.leave_lane(lane, run, entry.stage);
        }
        self.fill()
    }

    fn leave_lane(&mut self, lane: &Lane, run: &RunId, stage: Stage) {
        let Some(behind) = self.lanes.get_mut(lane) else { return };
        if stage == Stage::InLane {
            behind.retain(|waiting| waiting != run);
            return;
        }
        match behind.pop_front() {
            None => {
                self.lanes.remove(lane);
            }
            Some(next) => {
                if let Some(entry) = self.entries.get_mut(&next) {
                    entry.stage = Stage::Ready;
                }
                self.ready.push_back(next);
            }
        }
    }

    /// Running if there is a place, else at the end of those that wait for one.
    fn place(&mut self, run: &RunId) -> Stage {
        if self.running < self.capacity.running_limit() {
            self.running += 1;
            return Stage::Running;
        }
        self.ready.push_back(run.clone());
        Stage::Ready
    }

    fn fill(&mut self) -> Vec<RunId> {
        let mut starting = Vec::new();
        while self.running < self.capacity.running_limit() {
            let Some(next) = self.ready.pop_front() else { break };
            if let Some(entry) = self.entries.get_mut(&next) {
                entry.stage = Stage::Running;
                self.running += 1;
                starting.push(next);
            }
        }
        starting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> RunId {
        id.parse().unwrap()
    }

    fn lane(thread: &str) -> Turn {
        Turn::InLane(("a".parse().unwrap(), thread.parse().unwrap()))
    }

    #[test]
    fn a_lane_gives_one_turn_at_a_time_in_arrival_order() {
        let mut schedule = Schedule::new(Capacity::unlimited());
        assert_eq!(schedule.admit(run("1"), lane("t")), Admission::Start);
        assert_eq!(schedule.admit(run("2"), lane("t")), Admission::Wait);
        assert_eq!(schedule.admit(run("3"), lane("t")), Admission::Wait);
        assert_eq!(schedule.admit(run("4"), lane("other")), Admission::Start);
        assert_eq!(schedule.left(&run("1")), [run("2")]);
        assert_eq!(schedule.left(&run("2")), [run("3")]);
        assert_eq!(schedule.left(&run("3")), []);
        assert!(schedule.lanes.len() == 1, "a lane is gone when nothing is in it");
    }

    #[test]
    fn a_full_queue_admits_nothing_and_an_ended_run_makes_room_before_its_agent_returns() {
        let mut schedule = Schedule::new(Capacity::max_concurrent_runs(1).queue(1));
        assert_eq!(schedule.admit(run("1"), Turn::Free), Admission::Start);
        assert_eq!(schedule.admit(run("2"), Turn::Free), Admission::Wait);
        assert_eq!(schedule.admit(run("3"), Turn::Free), Admission::Full);
        schedule.over(&run("1"));
        assert_eq!(schedule.admit(run("3"), Turn::Free), Admission::Wait);
        assert_eq!(schedule.left(&run("1")), [run("2")]);
        assert_eq!(schedule.left(&run("2")), [run("3")]);
        assert_eq!(schedule.left(&run("3")), []);
        assert_eq!((schedule.counted, schedule.running), (0, 0));
    }

    #[test]
    fn a_run_given_up_while_it_waits_leaves_no_trace() {
        let mut schedule = Schedule::new(Capacity::max_concurrent_runs(1).queue(9));
        schedule.admit(run("1"), lane("t"));
        schedule.admit(run("2"), lane("t"));
        schedule.admit(run("3"), lane("u"));
        assert_eq!(schedule.left(&run("2")), [], "from the middle of its lane");
        assert_eq!(schedule.left(&run("3")), [], "from the queue for a place");
        assert_eq!(schedule.left(&run("1")), []);
        assert!(schedule.entries.is_empty() && schedule.lanes.is_empty() && schedule.ready.is_empty());
        assert_eq!((schedule.counted, schedule.running), (0, 0));
    }

    #[test]
    fn an_interjection_does_not_wait_for_the_place_of_the_run_it_addresses() {
        let mut schedule = Schedule::new(Capacity::max_concurrent_runs(1).queue(1));
        assert_eq!(schedule.admit(run("1"), lane("t")), Admission::Start);
        assert_eq!(schedule.admit(run("2"), Turn::Beside), Admission::Start);
        assert_eq!(schedule.left(&run("2")), []);
        assert_eq!(schedule.running, 1);
    }
}
