//! Simulated callers: they open runs, answer asks, cancel, read at their own pace, leave and come back.

use std::sync::PoisonError;

use funduq_agui::{RawObject, RelayedInput};
use funduq_contract::{ADDRESSED_RUN_ID, RunId, ThreadId};
use funduq_core::{AguiStream, DoorError, Funduq, NotServing};
use tokio::task::JoinHandle;

use crate::model::{Answer, Model, Shared, State};
use crate::world::{Arrivals, World, once};

/// How long a caller waits after a failed read, in milliseconds.
const AGAIN: u64 = 20;

/// The one caller of a run.
pub(crate) struct Caller {
    pub(crate) run: usize,
    pub(crate) place: Place,
}

pub(crate) enum Place {
    /// It reads what comes when it comes.
    Eager(JoinHandle<()>),
    /// It reads when the scheduler says so.
    Slow {
        stream: Box<AguiStream>,
        seen: u64,
        suspended: bool,
    },
    Away,
}

impl World {
    pub(crate) async fn open(&mut self, funduq: &Funduq) {
        let known: Vec<_> = {
            let model = self.model.lock();
            (0..model.threads.len()).filter(|at| model.threads[*at].id.is_some()).collect()
        };
        let thread = if known.len() < self.plan.threads && (known.is_empty() || self.rng.percent(30)) {
            let agents = self.model.lock().agents.len() as u64;
            let agent = self.rng.below(agents) as usize;
            if self.rng.percent(25) {
                return self.mint_thread(funduq, agent).await;
            }
            self.model.lock().new_thread(agent)
        } else {
            *self.rng.pick(&known).expect("without a thread a new one was taken")
        };
        let live: Vec<_> = {
            let model = self.model.lock();
            let runs = model.threads[thread].runs.iter();
            runs.filter(|run| model.runs[**run].is_live()).map(|run| model.runs[*run].id.clone()).collect()
        };
        let addressed = if self.rng.percent(15) { self.rng.pick(&live).cloned() } else { None };
        self.say(funduq, thread, None, addressed, &[]).await;
    }

    /// A client wants its thread's id beforehand.
    async fn mint_thread(&mut self, funduq: &Funduq, agent: usize) {
        let address = {
            let mut model = self.model.lock();
            let process = model.process;
            if model.threads.iter().any(|thread| thread.minting == Some(process)) {
                return;
            }
            let thread = model.new_thread(agent);
            model.threads[thread].minting = Some(process);
            model.agents[agent].address.clone()
        };
        let door = funduq.agui();
        let model = self.model.clone();
        tokio::spawn(async move {
            if door.create_thread(&address).await.is_err() {
                for thread in &mut model.lock().threads {
                    thread.minting = None;
                }
            }
        });
    }

    /// Answers an ask, or what was one, or what never was.
    pub(crate) async fn resume(&mut self, funduq: &Funduq) {
        let asking: Vec<_> = {
            let model = self.model.lock();
            let ended = |run: &usize| model.runs[*run].state == State::Ended;
            (0..model.runs.len()).filter(ended).filter(|run| !model.runs[*run].asks.is_empty()).collect()
        };
        let Some(&asked) = self.rng.pick(&asking) else { return };
        let (thread, asks, answered) = {
            let model = self.model.lock();
            let run = &model.runs[asked];
            (run.thread, run.asks.clone(), run.answered_by.is_some())
        };
        if self.rng.percent(15) {
            return self.say(funduq, thread, None, None, &["never".to_owned()]).await;
        }
        if !answered || self.rng.percent(20) {
            self.say(funduq, thread, Some(asked), None, &asks).await;
        }
    }

    async fn say(
        &mut self,
        funduq: &Funduq,
        thread: usize,
        answers: Option<usize>,
        addressed: Option<RunId>,
        asks: &[String],
    ) {
        let (utterance, agent, id) = {
            let mut model = self.model.lock();
            let utterance = model.posted(thread, answers, addressed.is_some());
            let agent = model.agents[model.threads[thread].agent].address.clone();
            (utterance, agent, model.threads[thread].id.clone())
        };
        let input = input(utterance, id.as_ref(), addressed.as_ref(), asks);
        let door = funduq.agui();
        let mut call = Box::pin(async move { door.run(&agent, input, None).await });
        match once(call.as_mut()).await {
            Some(answer) => answered(&self.model, utterance, answer, &self.arrivals),
            None => {
                let (model, arrivals) = (self.model.clone(), self.arrivals.clone());
                tokio::spawn(async move { answered(&model, utterance, call.await, &arrivals) });
            }
        }
    }

    /// A caller comes before funduq has started.
    pub(crate) async fn knock_too_early(&mut self, funduq: &Funduq) {
        let agent = self.model.lock().agents[0].address.clone();
        let input = input(usize::MAX, None, None, &[]);
        let answer = funduq.agui().run(&agent, input, None).await;
        if !matches!(answer, Err(DoorError::NotServing(NotServing::NotStarted))) {
            self.model.lock().violate("work is accepted before the start".into());
        }
    }

    pub(crate) async fn cancel(&mut self, funduq: &Funduq) {
        let choice = {
            let model = self.model.lock();
            let all: Vec<_> = (0..model.runs.len()).collect();
            let live: Vec<_> = all.iter().copied().filter(|run| model.runs[*run].is_live()).collect();
            let among = if live.is_empty() || self.rng.percent(10) { all } else { live };
            self.rng.pick(&among).map(|run| {
                let found = &model.runs[*run];
                (*run, found.id.clone(), model.agents[found.agent].address.clone())
            })
        };
        let Some((run, id, agent)) = choice else { return };
        let relay = funduq.clone();
        let mut call = Box::pin(async move { relay.cancel_run(&agent, &id, RawObject::new()).await });
        match once(call.as_mut()).await {
            Some(Ok(answer)) => self.model.lock().cancel_answered(run, answer),
            Some(Err(_)) => {}
            None => {
                // It was posted just now.
                self.model.lock().cancel_posted(run);
                let model = self.model.clone();
                tokio::spawn(async move {
                    if let Ok(answer) = call.await {
                        model.lock().cancel_answered(run, answer);
                    }
                });
            }
        }
    }

    /// Gives the streams that came to their callers.
    pub(crate) fn collect_arrivals(&mut self) {
        let arrived = std::mem::take(&mut *self.arrivals.lock().unwrap_or_else(PoisonError::into_inner));
        for (run, stream) in arrived {
            let place = self.place(run, stream, 0);
            self.callers.push(Caller { run, place });
        }
    }

    fn place(&mut self, run: usize, stream: AguiStream, seen: u64) -> Place {
        match self.rng.below(10) {
            0..=5 => Place::Eager(tokio::spawn(follow(self.model.clone(), stream, run, seen))),
            6..=8 => Place::Slow { stream: Box::new(stream), seen, suspended: false },
            _ => Place::Away,
        }
    }

    /// A slow caller reads a little.
    pub(crate) async fn read(&mut self) {
        let slow: Vec<_> = (0..self.callers.len())
            .filter(|at| matches!(self.callers[*at].place, Place::Slow { .. }))
            .collect();
        let Some(&at) = self.rng.pick(&slow) else { return };
        for _ in 0..self.rng.within(1, 4) {
            let run = self.callers[at].run;
            let Place::Slow { stream, seen, suspended } = &mut self.callers[at].place else { return };
            let next = match self.rng.percent(50) {
                true => stream.next_ready().map(|event| Ok(Some(event))),
                false => once(stream.next()).await,
            };
            match next {
                Some(Ok(Some(event))) => see(&self.model, run, seen, suspended, &event),
                Some(Ok(None)) => {
                    self.model.lock().stream_ended(run, *seen, *suspended);
                    self.callers[at].place = Place::Away;
                }
                Some(Err(_)) | None => {}
            }
        }
    }

    pub(crate) fn leave(&mut self) {
        let all: Vec<_> = (0..self.callers.len()).collect();
        let Some(&at) = self.rng.pick(&all) else { return };
        if let Place::Eager(task) = &self.callers[at].place {
            task.abort();
        }
        self.callers[at].place = Place::Away;
    }

    /// A caller comes back with the number of an event, or comes a second time.
    pub(crate) async fn come_back(&mut self, funduq: &Funduq) {
        let all: Vec<_> = (0..self.model.lock().runs.len()).collect();
        let Some(&run) = self.rng.pick(&all) else { return };
        let (id, agent, events, live) = {
            let model = self.model.lock();
            let found = &model.runs[run];
            let agent = model.agents[found.agent].address.clone();
            (found.id.clone(), agent, found.events.len() as u64, found.is_live())
        };
        let after = self.rng.below(events + 1);
        let at = match self.callers.iter().position(|caller| caller.run == run) {
            Some(at) => at,
            None => {
                self.callers.push(Caller { run, place: Place::Away });
                self.callers.len() - 1
            }
        };
        let reading = match &self.callers[at].place {
            Place::Eager(task) => !task.is_finished(),
            Place::Slow { .. } => true,
            Place::Away => false,
        };
        let answer = once(funduq.agui().replay(&agent, &id, after)).await.expect("a memory is read at once");
        match answer {
            Ok(stream) if reading && live && self.must_have_one_stream(run) => {
                drop(stream);
                self.model.lock().violate(format!("r{run} has two live streams"));
            }
            Ok(stream) if !reading => {
                self.model.lock().note(|| format!("a caller of r{run} comes back after {after}"));
                let place = self.place(run, stream, after);
                self.callers[at].place = place;
            }
            Ok(_) => {}
            // The door's own stream, or one whose reader has just been stopped.
            Err(DoorError::StreamTaken(_)) => {}
            Err(DoorError::Store(_)) => {}
            Err(error) => self.model.lock().violate(format!("r{run} cannot be read again: {error}")),
        }
    }

    /// Whether a second stream of the run must be refused while there is one.
    fn must_have_one_stream(&self, run: usize) -> bool {
        let model = self.model.lock();
        !model.stopping && !model.runs[run].row.is_terminal()
    }

    pub(crate) fn callers_lose_their_process(&mut self) {
        for caller in &mut self.callers {
            caller.place = Place::Away;
        }
    }
}

/// What the door said, at the moment that it said it.
fn answered(model: &Shared, utterance: usize, answer: Result<AguiStream, DoorError>, arrivals: &Arrivals) {
    let mut stream = match answer {
        Ok(stream) => stream,
        Err(error) => return model.lock().refused(utterance, &error),
    };
    let is_run = model.lock().run_of(stream.run_id()).is_some();
    if !is_run && let Some(first) = stream.next_ready().filter(|first| first.number.is_none()) {
        let mut types = vec![first.event.type_name().to_owned()];
        while let Some(next) = stream.next_ready() {
            types.push(next.event.type_name().to_owned());
        }
        let mut model = model.lock();
        if types != ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_ERROR"] {
            model.violate(format!("an answer without a run says {types:?}"));
        }
        return model.said_without_a_run(utterance);
    }
    let run = model.lock().accepted(utterance, stream.run_id());
    if let Some(run) = run {
        arrivals.lock().unwrap_or_else(PoisonError::into_inner).push((run, stream));
    }
}

async fn follow(model: Shared, mut stream: AguiStream, run: usize, mut seen: u64) {
    let mut suspended = false;
    loop {
        match stream.next().await {
            Ok(Some(event)) => see(&model, run, &mut seen, &mut suspended, &event),
            Ok(None) => return model.lock().stream_ended(run, seen, suspended),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(AGAIN)).await,
        }
    }
}

fn see(model: &Shared, run: usize, seen: &mut u64, suspended: &mut bool, event: &funduq_core::AguiEvent) {
    match event.number {
        Some(number) => {
            model.lock().saw(run, *seen + 1, number, event.event.json());
            *seen += 1;
        }
        None => *suspended = true,
    }
}

fn input(
    utterance: usize,
    thread: Option<&ThreadId>,
    addressed: Option<&RunId>,
    asks: &[String],
) -> RelayedInput {
    let thread = thread.map_or("the-clients-own", |thread| thread.as_str());
    let mut json = format!(
        r#"{{"threadId":"{thread}","runId":"the-clients","messages":[{{"id":"u{utterance}","role":"user","content":"hello"}}]"#
    );
    if let Some(addressed) = addressed {
        json.push_str(&format!(r#","forwardedProps":{{"{ADDRESSED_RUN_ID}":"{addressed}"}}"#));
    }
    if !asks.is_empty() {
        let entry = |ask: &String| format!(r#"{{"interruptId":"{ask}","status":"resolved","payload":1}}"#);
        let entries: Vec<_> = asks.iter().map(entry).collect();
        json.push_str(&format!(r#","resume":[{}]"#, entries.join(",")));
    }
    json.push('}');
    RelayedInput::parse(json.as_bytes()).unwrap()
}

impl Model {
    /// Whether every request has an answer and every run has ended.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.utterances.iter().all(|said| said.answer != Answer::Pending)
            && !self.runs.iter().any(|run| run.is_live())
    }
}
