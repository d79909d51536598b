//! A record that fails for a while: the runs it hits end with a clear reason, others live, and it recovers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use funduq_agui::RelayedEvent;
use funduq_contract::{AgentAddress, AgentName, FunduqPort, PublicKey, RunId, ThreadId, Verdict};
use funduq_core::{
    AgentRecord, CancelAnswer, Change, CoreSettings, DoorError, Funduq, MemoryStore, NotServing, Run,
    RunStatus, Store, StoreError, Thread, ThreadMessage, WaitingRun, Write,
};

use crate::bench::{Bench, FINISHED, input, json, rest, started, types};
use crate::scripted::Heard;

/// A record that refuses the writes of one run, or of all, while it is told to.
struct Faulty {
    inner: MemoryStore,
    broken: AtomicBool,
    /// Only the events of runs whose events hold this text; empty for every write.
    only: &'static str,
}

impl Faulty {
    fn refuses(&self, write: &Write) -> bool {
        let holds = |events: &[RelayedEvent]| events.iter().any(|event| event.json().contains(self.only));
        self.broken.load(Ordering::SeqCst)
            && match write {
                _ if self.only.is_empty() => true,
                Write::Append { events, .. } => holds(events),
                Write::Settle(settle) => holds(&settle.events),
                _ => false,
            }
    }
}

impl Store for Faulty {
    fn commit(&self, group: &[Write]) -> Vec<Result<(), StoreError>> {
        let one = |write: &Write| match self.refuses(write) {
            true => Err(StoreError::Unavailable("the disk is full".into())),
            false => self.inner.commit(std::slice::from_ref(write)).remove(0),
        };
        group.iter().map(one).collect()
    }
    fn is_instant(&self) -> bool {
        true
    }
    fn health(&self) -> Result<(), StoreError> {
        match self.broken.load(Ordering::SeqCst) {
            true => Err(StoreError::Unavailable("the disk is full".into())),
            false => Ok(()),
        }
    }
    fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
        self.inner.thread(id)
    }
    fn children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.inner.children(id, limit)
    }
    fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        self.inner.run(id)
    }
    fn runs(&self, thread: &ThreadId, skip: usize, limit: usize) -> Result<Vec<Run>, StoreError> {
        self.inner.runs(thread, skip, limit)
    }
    fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError> {
        self.inner.lineage(root)
    }
    fn waiting(&self, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError> {
        self.inner.waiting(thread)
    }
    fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.inner.messages(thread, after, limit)
    }
    fn latest_messages(
        &self,
        thread: &ThreadId,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.inner.latest_messages(thread, limit, bytes)
    }
    fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<RelayedEvent>, StoreError> {
        self.inner.events(run, after, limit)
    }
    fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        self.inner.agents()
    }
    fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
        self.inner.agent(address)
    }
    fn llm_offerings(&self) -> Result<Vec<(PublicKey, AgentName)>, StoreError> {
        self.inner.llm_offerings()
    }
    fn unfinished(&self) -> Result<Vec<Run>, StoreError> {
        self.inner.unfinished()
    }
}

fn with_fault<F: Future<Output = ()>>(only: &'static str, test: impl FnOnce(Bench, Arc<Faulty>) -> F) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(Faulty { inner: MemoryStore::new(), broken: AtomicBool::new(false), only });
        let bench = Bench::start(store.clone(), CoreSettings::default()).await;
        test(bench, store).await;
    });
}

#[test]
fn a_run_whose_events_cannot_be_written_fails_and_its_neighbour_lives() {
    with_fault("poison", |bench, store| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut hit = bench.ask(&agent, "a", "x").await.unwrap();
        let mut spared = bench.ask(&agent, "b", "y").await.unwrap();
        for _ in 0..2 {
            let run = provider.offer().await.run.run_id;
            bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
            bench.report(link, &run, 1, &started("r")).await;
        }
        store.broken.store(true, Ordering::SeqCst);
        let (hit_run, spared_run) = (hit.run_id().clone(), spared.run_id().clone());
        bench.report(link, &hit_run, 2, r#"{"type":"CUSTOM","name":"poison","value":1}"#).await;
        bench.report(link, &spared_run, 2, FINISHED).await;
        assert_eq!(types(&mut spared).await, ["RUN_STARTED", "RUN_FINISHED"]);
        let events = rest(&mut hit).await;
        assert_eq!(events.len(), 2, "what was not recorded is not shown");
        assert_eq!(json(&events[1])["code"], "record_unavailable");
        let stored = bench.funduq.run(&hit_run).await.unwrap().unwrap();
        assert_eq!((stored.status, stored.last_event), (RunStatus::Failed, 2));
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
    });
}

#[test]
fn an_end_that_cannot_be_written_is_written_when_the_record_is_back() {
    with_fault("", |bench, store| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        assert_eq!(stream.next().await.unwrap().unwrap().event.type_name(), "RUN_STARTED");
        store.broken.store(true, Ordering::SeqCst);
        bench.report(link, &run, 2, FINISHED).await;
        let early = tokio::time::timeout(std::time::Duration::from_secs(30), stream.next()).await;
        assert!(early.is_err(), "an end that is not recorded is not shown");
        store.broken.store(false, Ordering::SeqCst);
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
        assert_eq!(bench.funduq.run(&run).await.unwrap().unwrap().status, RunStatus::Completed);
    });
}

#[test]
fn a_run_that_cannot_be_opened_is_refused_and_the_next_one_works() {
    with_fault("", |bench, store| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        store.broken.store(true, Ordering::SeqCst);
        let error = bench.ask(&agent, "a", "x").await.unwrap_err();
        assert_eq!(error, DoorError::Store(StoreError::Unavailable("the disk is full".into())));
        assert!(error.retry_after().is_some());
        assert!(bench.funduq.health().await.record.is_err());
        store.broken.store(false, Ordering::SeqCst);
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
        bench.ask(&agent, "a", "x").await.unwrap();
        provider.offer().await;
    });
}

#[test]
fn a_start_that_fails_accepts_nothing_takes_up_nothing_and_may_be_tried_again() {
    with_fault("", |bench, store| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        let held = bench.ask(&agent, "a", "x").await.unwrap();
        provider.offer().await;
        let queued = bench.ask(&agent, "b", "y").await.unwrap().run_id().clone();
        drop((bench, held));
        store.broken.store(true, Ordering::SeqCst);
        let funduq = Funduq::new(CoreSettings::default(), None, store.clone());
        for _ in 0..2 {
            assert!(funduq.start().await.is_err());
            let refused = funduq.agui().run(&agent, input("c", "z"), None).await.unwrap_err();
            assert_eq!(refused, DoorError::NotServing(NotServing::NotStarted));
        }
        store.broken.store(false, Ordering::SeqCst);
        funduq.start().await.unwrap();
        funduq.start().await.unwrap();
        let bench = Bench { funduq, store, settings: CoreSettings::default() };
        let (provider, link, _) = bench.serving(None).await;
        assert_eq!(provider.offer().await.run.run_id, queued);
        bench.funduq.answer(link, &queued, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &queued, 1, FINISHED).await;
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert!(!provider.heard().iter().any(|heard| matches!(heard, Heard::Offer(_))), "taken up once");
        assert_eq!(bench.funduq.health().await.live_runs, 0);
    });
}

#[test]
fn a_claim_that_cannot_be_written_fails_its_run() {
    with_fault("", |bench, store| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        store.broken.store(true, Ordering::SeqCst);
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        store.broken.store(false, Ordering::SeqCst);
        let events = rest(&mut stream).await;
        assert_eq!(json(events.last().unwrap())["code"], "record_unavailable");
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
    });
}

#[test]
fn what_is_not_recorded_is_neither_announced_nor_said_to_be_settled() {
    with_fault("", |bench, store| async move {
        let (provider, _, agent) = bench.serving(None).await;
        let stream = bench.ask(&agent, "a", "x").await.unwrap();
        provider.offer().await;
        let mut changes = bench.funduq.on_change();
        store.broken.store(true, Ordering::SeqCst);
        let cancel = bench.funduq.cancel_run(&agent, stream.run_id(), Default::default());
        tokio::pin!(cancel);
        let early = tokio::time::timeout(std::time::Duration::from_secs(30), &mut cancel).await;
        assert!(early.is_err(), "a restart now would offer the run again");
        assert!(changes.try_recv().is_err());
        store.broken.store(false, Ordering::SeqCst);
        assert_eq!(cancel.await, Ok(CancelAnswer::Settled));
        let Change::Run { status, .. } = changes.recv().await.unwrap() else { panic!("of the run") };
        assert_eq!(status, RunStatus::Cancelled);
    });
}
