//! What the scheduler does to providers, links, the record and time.

use std::time::Duration;

use funduq_contract::Verdict;
use funduq_core::Funduq;

use crate::model::Model;
use crate::plan::Step;
use crate::store::Fault;
use crate::wire::{Call, Line};
use crate::world::World;

impl World {
    pub(crate) async fn step(&mut self, funduq: &Funduq, step: Step) {
        let key = self.rng.below(self.providers.len() as u64) as usize;
        match step {
            Step::Open => self.open(funduq).await,
            Step::Resume => self.resume(funduq).await,
            Step::Cancel => self.cancel(funduq).await,
            Step::Read => self.read().await,
            Step::Leave => self.leave(),
            Step::Return => self.come_back(funduq).await,
            Step::Attach => {
                if self.providers[key].link.is_none() || self.rng.percent(10) {
                    self.attach(funduq, key).await;
                    if self.rng.percent(90) {
                        let whole = self.rng.percent(85);
                        self.register(key, whole);
                    }
                }
            }
            Step::Register => {
                let whole = self.rng.percent(60);
                self.register(key, whole);
            }
            Step::Drop => self.drop_link(funduq, key).await,
            Step::Notice => self.notice(funduq, key),
            Step::Look => {
                for _ in 0..self.rng.within(1, 3) {
                    self.providers[key].look(&self.model);
                }
            }
            Step::Send => self.send(key),
            Step::Stray => {
                if let Some(label) = self.some_work(key) {
                    self.providers[key].stray(label);
                }
            }
            Step::Owed => self.answer_late(key),
            Step::WrongKey => self.speak_for_another(key),
            Step::Forget => self.providers[key].forget(),
            Step::Evict => {
                let public = self.providers[key].identity.public_key();
                funduq.detach_all_for(&public);
                self.model.lock().link_gone(key);
                Model::look_at_roster(&self.model, funduq);
            }
            Step::Delete => {
                let name = self.providers[key].names[0].clone();
                self.providers[key].say(Call::Delete(name));
            }
            Step::Fault => {
                let runs = self.model.lock().runs.len() as u64;
                let fault = match self.rng.below(4) {
                    0 => Fault::Writes,
                    1 => Fault::Everything,
                    2 if runs > 0 => Fault::Run(self.rng.below(runs) as usize),
                    _ => Fault::Some(self.rng.within(10, 60)),
                };
                self.store.set_fault(fault);
            }
            Step::Heal => self.store.set_fault(Fault::None),
            Step::Pass => {
                let longest = self.rng.weigh(&[(5, 3), (5, 200), (3, 3000), (2, 15_000)]);
                let millis = self.rng.within(1, longest);
                self.pass(funduq, millis).await;
            }
            Step::Deadline => self.jump(funduq).await,
            Step::Kill | Step::Shutdown => {}
        }
    }

    async fn pass(&mut self, funduq: &Funduq, millis: u64) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        self.check_quiet(funduq);
    }

    /// To the next instant at which something runs out, a moment before it or a moment after.
    async fn jump(&mut self, funduq: &Funduq) {
        let (deadlines, now) = {
            let model = self.model.lock();
            (model.deadlines(), model.now())
        };
        let Some(&due) = deadlines.first() else { return };
        let at = due + self.rng.below(3);
        if at > now + 1 {
            self.pass(funduq, at - 1 - now).await;
        }
    }

    pub(crate) async fn attach(&mut self, funduq: &Funduq, key: usize) {
        self.providers[key].attach(funduq, &self.model).await;
    }

    /// Publishes the whole roster, or a part of it.
    pub(crate) fn register(&mut self, key: usize, whole: bool) {
        let provider = &self.providers[key];
        let mut names = provider.names.clone();
        if !whole {
            names.truncate(self.rng.below(names.len() as u64) as usize);
        }
        provider.say(Call::Register(names));
    }

    async fn drop_link(&mut self, funduq: &Funduq, key: usize) {
        match self.rng.below(4) {
            // Ended in order, after all that was said.
            0 => {
                self.providers[key].say(Call::Close);
                tokio::task::yield_now().await;
                self.providers[key].link = None;
            }
            1 => {
                if let Some(link) = self.providers[key].hang_up(Line::Down) {
                    self.providers[key].lost.push(link);
                    self.notice(funduq, key);
                }
            }
            2 => {
                let lost = self.providers[key].hang_up(Line::Silent);
                self.providers[key].lost.extend(lost);
            }
            _ => {
                let lost = self.providers[key].hang_up(Line::Down);
                self.providers[key].lost.extend(lost);
            }
        }
    }

    /// The host notices that a connection ended, perhaps long after it was replaced.
    fn notice(&mut self, funduq: &Funduq, key: usize) {
        if self.providers[key].lost.is_empty() {
            return;
        }
        let link = self.providers[key].lost.remove(0);
        let public = self.providers[key].identity.public_key();
        funduq.detach_provider(&public, link);
        let mut model = self.model.lock();
        if model.links[key] == Some(link) {
            model.link_gone(key);
        }
        drop(model);
        Model::look_at_roster(&self.model, funduq);
    }

    pub(crate) fn notice_all(&mut self, funduq: &Funduq, key: usize) {
        let public = self.providers[key].identity.public_key();
        self.providers[key].lost.clear();
        funduq.detach_all_for(&public);
        self.model.lock().link_gone(key);
        Model::look_at_roster(&self.model, funduq);
    }

    fn some_work(&mut self, key: usize) -> Option<usize> {
        let labels: Vec<_> = self.providers[key].work.keys().copied().collect();
        // The latest are the likeliest to be alive.
        let latest = &labels[labels.len().saturating_sub(4)..];
        self.rng.pick(latest).copied()
    }

    fn send(&mut self, key: usize) {
        let provider = &self.providers[key];
        let labels: Vec<_> = provider
            .work
            .values()
            .filter(|work| work.accepted && !work.done && (!work.gone || work.label.is_multiple_of(7)))
            .map(|work| work.label)
            .collect();
        if let Some(label) = self.rng.pick(&labels).copied() {
            let count = self.rng.within(1, 4);
            self.providers[key].send(label, count);
        }
    }

    /// An answer that a provider had put off.
    fn answer_late(&mut self, key: usize) {
        let provider = &mut self.providers[key];
        let Some(work) = provider.work.values_mut().find(|work| !work.owed.is_empty()) else { return };
        let (attempt, verdict) = work.owed.remove(0);
        work.accepted |= verdict == Verdict::Accepted;
        let call = Call::Answer(work.id.clone(), attempt, verdict);
        provider.say(call);
    }

    /// A provider speaks about a run that is offered to another.
    fn speak_for_another(&mut self, key: usize) {
        let others: Vec<_> = {
            let model = self.model.lock();
            let live = (0..model.runs.len()).filter(|run| model.runs[*run].is_live());
            let others = live.filter(|run| model.key_of(*run) != key);
            others.map(|run| (model.runs[run].id.clone(), model.runs[run].attempt)).collect()
        };
        let Some((run, attempt)) = self.rng.pick(&others).cloned() else { return };
        let verdict = match self.rng.below(3) {
            0 => Verdict::Accepted,
            1 => Verdict::Declined,
            _ => Verdict::Refused { reason: "not mine".into() },
        };
        let call = if self.rng.percent(70) { Call::Answer(run, attempt, verdict) } else { Call::Finish(run) };
        self.providers[key].say(call);
    }
}
