//! What callers ask, are told and see.

use funduq_contract::RunId;
use funduq_core::{CancelAnswer, DoorError, NotServing, RunStatus, StoreError};

use super::{Answer, Model, State, ThreadModel, Utterance};

impl Model {
    /// A new thread, whose id funduq will say.
    pub(crate) fn new_thread(&mut self, agent: usize) -> usize {
        self.threads.push(ThreadModel { id: None, agent, minting: None, runs: Vec::new() });
        self.threads.len() - 1
    }

    /// A request that is posted now.
    pub(crate) fn posted(&mut self, thread: usize, answers: Option<usize>, addressed: bool) -> usize {
        self.touch();
        let at = self.utterances.len();
        self.note(|| format!("u{at} is said on t{thread}, answering {answers:?}"));
        let runs: Vec<_> = self.threads[thread].runs.clone();
        let (mut least, mut most) = (0, 0);
        for run in runs {
            self.advance(run);
            let lapsing = self.deadline(run).is_some_and(|due| due <= self.now());
            let given_up = self.may_be_given_up(run);
            let run = &self.runs[run];
            let waits = matches!(run.state, State::Waiting | State::Offered { .. });
            least += usize::from(waits && !run.unsure && !lapsing && !given_up);
            most += usize::from(run.is_live() && (waits || run.unsure));
        }
        let on_their_way =
            self.utterances.iter().filter(|other| other.thread == thread && other.answer == Answer::Pending);
        most += on_their_way.count();
        self.utterances.push(Utterance {
            thread,
            at: self.now(),
            process: self.process,
            answers,
            addressed,
            answer: Answer::Pending,
            unwritten: false,
            waiting: (least, most),
        });
        at
    }

    /// A request became a run, as its caller hears.
    pub(crate) fn accepted(&mut self, utterance: usize, id: &RunId) -> Option<usize> {
        self.note(|| format!("u{utterance} is accepted"));
        let Some(run) = self.run_of(id) else {
            self.violate(format!("u{utterance} is accepted before it is in the record"));
            return None;
        };
        let said = &mut self.utterances[utterance];
        said.answer = Answer::Run(run);
        let (least, _) = said.waiting;
        let exempt = said.answers.is_some();
        if self.runs[run].utterance != utterance {
            self.violate(format!("u{utterance} is told that it is r{run}, which is another's"));
        }
        if least >= self.clocks.queue && !exempt && self.runs[run].row != RunStatus::Failed {
            self.violate(format!("u{utterance} is accepted while {least} runs of its thread wait"));
        }
        Some(run)
    }

    /// A request was refused at the door.
    pub(crate) fn refused(&mut self, utterance: usize, error: &DoorError) {
        self.note(|| format!("u{utterance} is refused: {}", error.code()));
        self.reach(error.code());
        self.utterances[utterance].answer = Answer::Refused;
        let said = &self.utterances[utterance];
        let agent = &self.agents[self.threads[said.thread].agent];
        let fits = match error {
            DoorError::AgentNotFound(_) => !agent.registered || said.unwritten,
            DoorError::ThreadQueueFull { .. } => {
                said.answers.is_none() && said.waiting.1 >= self.clocks.queue
            }
            DoorError::AlreadyAnswered(_) => {
                said.answers.is_some_and(|asked| self.runs[asked].answered_by.is_some())
            }
            DoorError::NotServing(NotServing::Stopping) => self.stopping,
            DoorError::Store(StoreError::Unavailable(_)) => true,
            _ => false,
        };
        if !fits {
            self.violate(format!("u{utterance} is refused: {error}"));
        }
        if self.runs.iter().any(|run| run.utterance == utterance) {
            self.violate(format!("u{utterance} is refused and in the record"));
        }
    }

    /// A resume was answered without a run.
    pub(crate) fn said_without_a_run(&mut self, utterance: usize) {
        self.note(|| format!("u{utterance} answers nothing"));
        self.reach("a resume that answers nothing");
        self.utterances[utterance].answer = Answer::Refused;
        let answers = self.utterances[utterance].answers;
        if let Some(asked) = answers
            && self.runs[asked].answered_by.is_none()
        {
            self.violate(format!("u{utterance} is told that the ask of r{asked} is not open"));
        }
    }

    /// The answer to a cancel.
    pub(crate) fn cancel_answered(&mut self, run: usize, answer: CancelAnswer) {
        self.note(|| format!("the cancel of r{run} is {answer:?}"));
        if answer == CancelAnswer::Settled {
            self.runs[run].told_cancelled = true;
            if self.runs[run].row != RunStatus::Cancelled {
                self.violate(format!("a caller hears that r{run} is cancelled before the record says so"));
            }
        }
    }

    /// A caller sees an event.
    pub(crate) fn saw(&mut self, run: usize, due: u64, number: u64, json: &str) {
        self.note(|| format!("a caller sees event {number} of r{run}"));
        if number != due {
            self.violate(format!("a caller sees event {number} of r{run} where {due} is due"));
        }
        let recorded = usize::try_from(number).ok().and_then(|number| self.runs[run].events.get(number - 1));
        if recorded.is_none_or(|recorded| &**recorded != json) {
            self.violate(format!(
                "a caller sees event {number} of r{run}, which the record does not have so"
            ));
        }
    }

    /// A caller's stream is over, after it gave the events up to `seen`.
    pub(crate) fn stream_ended(&mut self, run: usize, seen: u64, suspended: bool) {
        self.note(|| format!("a caller's stream of r{run} ends after {seen}, suspended: {suspended}"));
        if suspended {
            self.reach("a stream that is suspended");
        }
        let ended = self.runs[run].row.is_terminal() && seen == self.runs[run].events.len() as u64;
        let fits = if suspended { self.stopping && !ended } else { ended };
        if !fits {
            let (row, held) = (self.runs[run].row.as_str(), self.runs[run].events.len());
            self.violate(format!("a stream of r{run} ends after {seen} of {held} events while it is {row}"));
        }
    }

    /// A subscriber hears of a run's status.
    pub(crate) fn announced(&mut self, id: &RunId, status: RunStatus) {
        let Some(run) = self.run_of(id) else {
            return self.violate(format!("a run is announced {} that is not in the record", status.as_str()));
        };
        let row = self.runs[run].row;
        if status.is_terminal() && row != status {
            self.violate(format!("r{run} is announced {} while it is {}", status.as_str(), row.as_str()));
        }
    }
}
