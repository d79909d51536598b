//! One seed: its processes one after another on one record, each a runtime of its own on a paused clock.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use funduq_contract::{AgentAddress, AgentName, Identity};
use funduq_core::{AguiStream, Change, Funduq, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use crate::callers::Caller;
use crate::model::{Clocks, Model, Shared};
use crate::plan::{Ending, Plan, Step};
use crate::prng::Rng;
use crate::provider::Provider;
use crate::store::{Fault, SimStore};

/// Everything of a seed that outlives a process of funduq.
pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) plan: Plan,
    pub(crate) model: Shared,
    pub(crate) store: Arc<SimStore>,
    pub(crate) providers: Vec<Provider>,
    pub(crate) callers: Vec<Caller>,
    /// Streams of runs that doors have just handed out.
    pub(crate) arrivals: Arrivals,
    pub(crate) steps: u32,
    shutdown: Option<JoinHandle<()>>,
}

pub(crate) type Arrivals = Arc<Mutex<Vec<(usize, AguiStream)>>>;

/// What comes after a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Process,
    Nothing,
}

impl World {
    pub(crate) fn new(seed: u64, traced: bool) -> Self {
        let mut rng = Rng::new(seed);
        let plan = Plan::new(&mut rng);
        let names: Vec<AgentName> =
            (0..plan.agents_per_key).map(|at| format!("agent{at}").parse().unwrap()).collect();
        let identities: Vec<_> =
            (1..).take(plan.rooms.len()).map(|at| Identity::from_seed(&[at; 32])).collect();
        let keys: Vec<_> = identities.iter().map(Identity::public_key).collect();
        let agents = keys.iter().enumerate().flat_map(|(key, public)| {
            names.iter().map(move |name| (key, AgentAddress::new(*public, name.clone())))
        });
        let model =
            Shared::new(Model::new(Clocks::of(&plan.settings), keys.clone(), agents.collect(), traced));
        let store = Arc::new(SimStore::new(model.clone(), plan.slowest_commit, rng.fork()));
        let providers = identities.into_iter().zip(&plan.rooms).enumerate();
        let providers = providers
            .map(|(key, (identity, room))| Provider::new(key, identity, names.clone(), *room, rng.fork()))
            .collect();
        let steps = plan.steps;
        let arrivals = Arrivals::default();
        Self { rng, plan, model, store, providers, callers: Vec::new(), arrivals, steps, shutdown: None }
    }

    /// Runs the seed to its end.
    pub(crate) fn run(mut self) -> Self {
        loop {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            let model = self.model.clone();
            let next;
            (self, next) = runtime.block_on(async {
                // As a task, so that it takes turns with core's tasks.
                let ended = tokio::spawn(self.process()).await.unwrap();
                // Until here some of them may have had another turn.
                model.lock().died();
                ended
            });
            drop(runtime);
            self.lose_the_process();
            if next == Next::Nothing {
                return self;
            }
        }
    }

    async fn process(mut self) -> (Self, Next) {
        self.model.lock().boot();
        let identity = self.plan.with_identity.then(|| Identity::from_seed(&[9; 32]));
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        let funduq = Funduq::new(self.plan.settings.clone(), identity, store);
        tokio::spawn(watch(funduq.clone(), self.model.clone()));
        let mut tries = 0;
        while funduq.start().await.is_err() {
            self.knock_too_early(&funduq).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            tries += 1;
            if self.is_lost() {
                return (self, Next::Nothing);
            }
            if tries > 3 || self.rng.percent(40) {
                self.store.set_fault(Fault::None);
            }
        }
        self.model.lock().started();
        for key in 0..self.providers.len() {
            if self.rng.percent(70) {
                self.attach(&funduq, key).await;
                self.register(key, true);
            }
        }
        let next = self.live(&funduq).await;
        (self, next)
    }

    /// Everything that led to the process that is gone leads nowhere.
    fn lose_the_process(&mut self) {
        self.callers_lose_their_process();
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for provider in &mut self.providers {
            provider.process_died();
        }
        self.shutdown = None;
    }

    async fn live(&mut self, funduq: &Funduq) -> Next {
        while self.steps > 0 && !self.is_lost() {
            self.steps -= 1;
            let step = self.rng.weigh(&self.plan.weights.clone());
            match step {
                Step::Kill => return Next::Process,
                Step::Shutdown => self.begin_shutdown(funduq),
                step => self.step(funduq, step).await,
            }
            self.let_others_run().await;
            self.collect_arrivals();
            self.check_places(funduq);
            if self.shutdown.as_ref().is_some_and(JoinHandle::is_finished) {
                self.check_stopped(funduq);
                return Next::Process;
            }
        }
        if self.shutdown.is_some() {
            self.finish_shutdown(funduq).await;
            return Next::Process;
        }
        self.come_to_rest(funduq).await;
        Next::Nothing
    }

    /// Whether something went wrong already.
    pub(crate) fn is_lost(&self) -> bool {
        self.model.lock().violation().is_some() || crate::panics::seen()
    }

    fn begin_shutdown(&mut self, funduq: &Funduq) {
        if self.shutdown.is_some() {
            return;
        }
        let deadline = Duration::from_secs(self.rng.weigh(&[(2, 0), (2, 3), (1, 30)]));
        let mut model = self.model.lock();
        model.note(|| format!("the host shuts down, within {deadline:?}"));
        model.stopping = true;
        drop(model);
        let funduq = funduq.clone();
        self.shutdown = Some(tokio::spawn(async move { funduq.shutdown(deadline).await }));
    }

    async fn finish_shutdown(&mut self, funduq: &Funduq) {
        self.store.set_fault(Fault::None);
        for _ in 0..100 {
            if self.shutdown.as_ref().is_none_or(JoinHandle::is_finished) {
                return self.check_stopped(funduq);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        self.model.lock().violate("a shutdown does not return".into());
    }

    /// Time goes on until nothing is left to happen.
    async fn come_to_rest(&mut self, funduq: &Funduq) {
        self.model.lock().note(|| "coming to rest".to_owned());
        self.store.set_fault(Fault::None);
        if self.plan.ending == Ending::Deserted {
            for key in 0..self.providers.len() {
                self.providers[key].hang_up(crate::wire::Line::Down);
                self.notice_all(funduq, key);
            }
        }
        for round in 0..1000 {
            if self.is_lost() {
                return;
            }
            self.collect_arrivals();
            if self.plan.ending == Ending::Served {
                self.serve_well(funduq, round).await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            self.check_quiet(funduq);
            if self.model.lock().is_at_rest() {
                self.collect_arrivals();
                tokio::time::sleep(Duration::from_millis(300)).await;
                return self.check_end(funduq).await;
            }
        }
        let left = self.model.lock().left();
        self.model.lock().violate(format!("never at rest: {left}"));
    }

    /// Every provider does what it should.
    async fn serve_well(&mut self, funduq: &Funduq, round: u32) {
        for key in 0..self.providers.len() {
            let online = self.model.lock().is_served(key);
            self.providers[key].well_behaved = true;
            if self.providers[key].link.is_none() || round == 0 {
                self.attach(funduq, key).await;
                self.register(key, true);
            } else if !online && round.is_multiple_of(4) {
                self.register(key, true);
            }
            let provider = &mut self.providers[key];
            while provider.is_busy() {
                provider.look(&self.model);
            }
            if round % 5 == 4 {
                provider.probe();
            }
            let labels: Vec<_> = provider
                .work
                .values()
                .filter(|work| work.accepted && !work.gone)
                .map(|work| work.label)
                .collect();
            for label in labels {
                provider.send(label, 100);
            }
        }
    }

    /// Gives core's tasks the time that the next step leaves them: none at all, a few turns, or all they can use at this
    /// instant.
    async fn let_others_run(&mut self) {
        match self.rng.below(10) {
            0..=2 => {}
            3..=5 => {
                for _ in 0..self.rng.within(1, 4) {
                    Turn::default().await;
                }
            }
            _ => {
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

/// Sees changes as a host would.
async fn watch(funduq: Funduq, model: Shared) {
    let mut changes = funduq.on_change();
    loop {
        match changes.recv().await {
            Ok(Change::Run { run, status, .. }) => model.lock().announced(&run, status),
            Ok(Change::LlmRoster { .. }) => {}
            Ok(Change::Roster { .. }) | Err(RecvError::Lagged(_)) => Model::look_at_roster(&model, &funduq),
            Err(RecvError::Closed) => return,
        }
    }
}

/// One turn for every task that is ready: unlike `yield_now`, which waits until none is.
#[derive(Default)]
struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Polls a future once.
pub(crate) async fn once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}
