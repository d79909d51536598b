//! The machine's table, walked cell by cell, and its clocks.

use std::time::Duration;

use funduq_contract::Identity;

use super::*;

const KEY_SEED: [u8; 32] = [1; 32];

fn key() -> PublicKey {
    Identity::from_seed(&KEY_SEED).public_key()
}

fn stranger() -> PublicKey {
    Identity::from_seed(&[2; 32]).public_key()
}

fn run(name: &str) -> RunId {
    name.parse().unwrap()
}

fn link() -> LinkId {
    LinkId::new(1)
}

fn secs(seconds: u64) -> Moment {
    Duration::from_secs(seconds)
}

fn event(json: &str) -> Result<RelayedEvent, Box<MalformedEvent>> {
    RelayedEvent::parse(json).map_err(Box::new)
}

fn text() -> Result<RelayedEvent, Box<MalformedEvent>> {
    event(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#)
}

fn finished() -> Result<RelayedEvent, Box<MalformedEvent>> {
    event(r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#)
}

/// A machine under test, with the time and the effects of the last message in short words.
struct Bench {
    thread: Thread,
    now: Moment,
}

impl Bench {
    fn new() -> Self {
        Self { thread: Thread::new(CoreSettings::default(), key()), now: Moment::ZERO }
    }

    fn tell(&mut self, message: Message) -> Vec<String> {
        let mut effects = Vec::new();
        self.thread.handle(self.now, message, &mut effects);
        effects.iter().map(words).collect()
    }

    fn at(&mut self, now: Moment) -> &mut Self {
        self.now = now;
        self
    }

    fn open(&mut self, name: &str) -> Vec<String> {
        self.tell(Message::Open { run: run(name), exempt: false })
    }

    fn verdict(&mut self, name: &str, attempt: u32, verdict: Verdict) -> Vec<String> {
        self.tell(Message::Verdict { key: key(), run: run(name), attempt, verdict })
    }

    fn report(
        &mut self,
        name: &str,
        number: u64,
        event: Result<RelayedEvent, Box<MalformedEvent>>,
    ) -> Vec<String> {
        self.tell(Message::Event { key: key(), run: run(name), number, event })
    }

    /// A bench whose run `r` is in the state of a column of the table.
    fn with(state: &str) -> Self {
        let mut bench = Self::new();
        if state == "gone" {
            return bench;
        }
        bench.open("r");
        match state {
            "arriving" => {}
            "recording" => {
                bench.tell(Message::Slot(Slot::Granted { link: link() }));
            }
            "queued" => {
                bench.tell(Message::Slot(Slot::Full));
                bench.tell(Message::Recorded { run: run("r") });
            }
            "offering" | "running" => {
                bench.tell(Message::Slot(Slot::Granted { link: link() }));
                bench.tell(Message::Recorded { run: run("r") });
                if state == "running" {
                    bench.verdict("r", 1, Verdict::Accepted);
                }
            }
            other => panic!("no state {other}"),
        }
        bench
    }
}

fn words(effect: &Effect) -> String {
    match effect {
        Effect::AskSlot(Asking::InTurn) => "ask".into(),
        Effect::AskSlot(Asking::Ahead) => "ask-ahead".into(),
        Effect::AskSlot(Asking::AfterChange) => "ask-after-change".into(),
        Effect::DropSlotRequest => "drop-request".into(),
        Effect::ReleaseSlot => "release".into(),
        Effect::Record { run, as_status } => format!("record {run} {}", as_status.as_str()),
        Effect::Full { run } => format!("full {run}"),
        Effect::Offer { run, attempt, .. } => format!("offer {run} {attempt}"),
        Effect::Status { run, status } => format!("status {run} {}", status.as_str()),
        Effect::Append { run, event } => format!("append {run} {}", event.type_name()),
        Effect::Settle { run, settlement } => {
            let reason = settlement.reason.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
            format!("settle {run} {}{reason}", settlement.status.as_str())
        }
        Effect::AskCancel { run } => format!("ask-cancel {run}"),
        Effect::Suspend { run } => format!("suspend {run}"),
        Effect::Repeated { run } => format!("repeated {run}"),
        Effect::Refused { run, why: Refusal::NotHeld } => format!("refused {run}"),
        Effect::Refused { run, why: Refusal::Gap { expected, got } } => format!("gap {run} {expected} {got}"),
        Effect::Count(fault) => format!("count {fault:?}"),
        Effect::Cancelled { run, answer } => format!("cancelled {run} {answer:?}"),
    }
}

/// The columns of the module's table, and what each message does in them.
#[test]
fn the_table_of_states_and_messages_holds() {
    let columns = ["arriving", "recording", "queued", "offering", "running", "gone"];
    type Row = (&'static str, fn() -> Message, [&'static str; 6]);
    let rows: [Row; 17] = [
        (
            "Slot granted",
            || Message::Slot(Slot::Granted { link: link() }),
            ["record r offering", "release", "status r offering, offer r 1", "release", "release", "release"],
        ),
        ("Slot full", || Message::Slot(Slot::Full), ["record r queued", "", "", "", "", ""]),
        (
            "Slot unserved",
            || Message::Slot(Slot::Unserved),
            ["record r failed, drop-request", "", "", "", "", ""],
        ),
        ("Recorded", || Message::Recorded { run: run("r") }, ["", "offer r 1", "", "", "", ""]),
        ("RecordFailed", || Message::RecordFailed { run: run("r") }, ["", "release", "", "", "", ""]),
        (
            "Verdict accepted",
            || Message::Verdict { key: key(), run: run("r"), attempt: 1, verdict: Verdict::Accepted },
            ["refused r", "refused r", "refused r", "status r running", "", "refused r"],
        ),
        (
            "Verdict declined",
            || Message::Verdict { key: key(), run: run("r"), attempt: 1, verdict: Verdict::Declined },
            [
                "refused r",
                "refused r",
                "refused r",
                "count Misdeclared, status r queued, release, ask-after-change",
                "refused r",
                "refused r",
            ],
        ),
        (
            "Verdict refused",
            || Message::Verdict {
                key: key(),
                run: run("r"),
                attempt: 1,
                verdict: Verdict::Refused { reason: "no".into() },
            },
            ["refused r", "refused r", "refused r", "settle r failed no, release", "refused r", "refused r"],
        ),
        (
            "Verdict of a stranger",
            || Message::Verdict { key: stranger(), run: run("r"), attempt: 1, verdict: Verdict::Accepted },
            ["refused r"; 6],
        ),
        (
            "OfferFailed",
            || Message::OfferFailed { run: run("r"), attempt: 1 },
            ["", "", "", "status r queued, ask-ahead, release", "", ""],
        ),
        (
            "Event",
            || Message::Event { key: key(), run: run("r"), number: 1, event: text() },
            [
                "refused r",
                "refused r",
                "refused r",
                "refused r",
                "append r TEXT_MESSAGE_CONTENT",
                "refused r",
            ],
        ),
        (
            "Event of a stranger",
            || Message::Event { key: stranger(), run: run("r"), number: 1, event: text() },
            ["refused r"; 6],
        ),
        (
            "Finish",
            || Message::Finish { key: key(), run: run("r") },
            ["", "", "", "", "settle r failed provider_stream_ended_without_finishing, release", ""],
        ),
        (
            "Cancel",
            || Message::Cancel { run: run("r") },
            [
                "cancelled r Asked",
                "cancelled r Asked",
                "settle r cancelled, cancelled r Settled, drop-request",
                "ask-cancel r, settle r cancelled, release, cancelled r Settled",
                "status r cancelling, ask-cancel r, cancelled r Asked",
                "cancelled r NotLive",
            ],
        ),
        (
            "LinkGone",
            || Message::LinkGone { link: link() },
            ["", "release", "", "status r queued, ask-ahead, release", "", ""],
        ),
        (
            "StoreFailed",
            || Message::StoreFailed { run: run("r") },
            ["", "", "", "", "settle r failed record_unavailable, release", ""],
        ),
        (
            "Shutdown",
            || Message::Shutdown,
            [
                "suspend r, drop-request",
                "release",
                "suspend r, drop-request",
                "settle r failed funduq_shutdown, release",
                "settle r failed funduq_shutdown, release",
                "",
            ],
        ),
    ];
    for (name, message, expected) in rows {
        for (column, expected) in columns.iter().zip(expected) {
            let effects = Bench::with(column).tell(message()).join(", ");
            assert_eq!(effects, expected, "{name} while the run is {column}");
        }
    }
}

#[test]
fn an_agent_that_nobody_serves_fails_the_run_at_the_door() {
    let mut bench = Bench::new();
    assert_eq!(bench.open("r"), ["ask"]);
    assert_eq!(bench.tell(Message::Slot(Slot::Unserved)), ["record r failed", "drop-request"]);
    assert!(bench.thread.is_idle());
}

#[test]
fn runs_of_a_thread_are_offered_in_order_and_a_turn_in_progress_holds_nothing() {
    let mut bench = Bench::with("running");
    assert_eq!(bench.open("s"), ["ask"]);
    assert_eq!(bench.tell(Message::Slot(Slot::Granted { link: link() })), ["record s offering"]);
}

#[test]
fn the_next_offer_waits_for_the_answer_to_the_last() {
    let mut bench = Bench::with("queued");
    assert_eq!(bench.open("s"), ["record s queued"]);
    bench.tell(Message::Recorded { run: run("s") });
    assert_eq!(bench.tell(Message::Slot(Slot::Granted { link: link() })), ["status r offering", "offer r 1"]);
    assert_eq!(bench.verdict("r", 1, Verdict::Accepted), ["status r running", "ask"]);
    assert_eq!(bench.tell(Message::Slot(Slot::Granted { link: link() })), ["status s offering", "offer s 1"]);
}

#[test]
fn the_ninth_waiting_run_is_refused_and_an_answer_is_not() {
    let mut bench = Bench::with("queued");
    for at in 1..8 {
        let name = format!("q{at}");
        assert_eq!(bench.open(&name), [format!("record {name} queued")]);
    }
    assert_eq!(bench.open("ninth"), ["full ninth"]);
    assert_eq!(bench.tell(Message::Open { run: run("answer"), exempt: true }), ["record answer queued"]);
}

#[test]
fn a_lapsed_offer_is_taken_back_and_a_late_answer_matches_nothing() {
    let mut bench = Bench::with("offering");
    assert_eq!(bench.thread.next_deadline(), Some(secs(5)));
    assert_eq!(
        bench.at(secs(5)).tell(Message::Tick),
        ["count Unanswered", "status r queued", "ask-ahead", "release"]
    );
    assert_eq!(bench.tell(Message::Slot(Slot::Granted { link: link() })), ["status r offering", "offer r 2"]);
    assert_eq!(bench.verdict("r", 1, Verdict::Accepted), ["refused r"]);
    assert_eq!(bench.verdict("r", 2, Verdict::Accepted), ["status r running"]);
}

#[test]
fn three_lapses_fail_the_run() {
    let mut bench = Bench::with("offering");
    for second in [5, 10] {
        bench.at(secs(second)).tell(Message::Tick);
        bench.tell(Message::Slot(Slot::Granted { link: link() }));
    }
    assert_eq!(
        bench.at(secs(15)).tell(Message::Tick),
        ["count Unanswered", "ask-cancel r", "settle r failed provider_did_not_answer", "release"]
    );
}

#[test]
fn a_queued_run_waits_45_seconds_for_somebody_to_serve_it() {
    let mut bench = Bench::with("queued");
    bench.at(secs(100)).tell(Message::Slot(Slot::Unserved));
    assert_eq!(bench.thread.next_deadline(), Some(secs(145)));
    // Somebody came and went: the wait begins anew.
    bench.at(secs(140)).tell(Message::Slot(Slot::Full));
    bench.at(secs(141)).tell(Message::Slot(Slot::Unserved));
    assert_eq!(bench.at(secs(185)).tell(Message::Tick), Vec::<String>::new());
    assert_eq!(
        bench.at(secs(186)).tell(Message::Tick),
        ["settle r failed no_provider_took_it", "drop-request"]
    );
}

#[test]
fn a_declined_run_pauses_longer_each_time_and_stays_the_head() {
    let mut bench = Bench::with("offering");
    let mut pauses = Vec::new();
    for attempt in 1..=7 {
        bench.verdict("r", attempt, Verdict::Declined);
        let due = bench.thread.next_deadline().unwrap();
        pauses.push((due - bench.now).as_millis());
        assert_eq!(bench.at(due).tell(Message::Tick), ["ask"]);
        bench.tell(Message::Slot(Slot::Granted { link: link() }));
    }
    assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 5000, 5000]);
}

#[test]
fn a_terminal_event_settles_at_once_and_later_reports_are_refused() {
    let mut bench = Bench::with("running");
    assert_eq!(bench.report("r", 1, finished()), ["append r RUN_FINISHED", "settle r completed", "release"]);
    assert_eq!(bench.report("r", 2, text()), ["refused r"]);
    assert_eq!(bench.tell(Message::Finish { key: key(), run: run("r") }), Vec::<String>::new());
}

#[test]
fn each_terminal_event_has_its_status() {
    let cancelled = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#;
    let error = r#"{"type":"RUN_ERROR","message":"no"}"#;
    for (json, cancel, status) in [
        (cancelled, false, "cancelled"),
        (error, false, "failed"),
        (error, true, "cancelled"),
        (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#, true, "completed"),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"later"}}"#,
            false,
            "completed",
        ),
    ] {
        let mut bench = Bench::with("running");
        if cancel {
            bench.tell(Message::Cancel { run: run("r") });
        }
        let effects = bench.report("r", 1, event(json));
        assert_eq!(effects[1], format!("settle r {status}"), "{json}");
    }
}

#[test]
fn duplicates_are_dropped_and_told_of_and_a_gap_is_refused() {
    let mut bench = Bench::with("running");
    bench.report("r", 1, text());
    assert_eq!(bench.report("r", 1, text()), ["repeated r"]);
    assert_eq!(bench.report("r", 3, text()), ["gap r 2 3"]);
    assert_eq!(bench.report("r", 2, text()), ["append r TEXT_MESSAGE_CONTENT"]);
}

#[test]
fn a_malformed_event_ends_its_run() {
    let mut bench = Bench::with("running");
    let effects = bench.report("r", 1, event(r#"{"type":"TEXT_MESSAGE_START"}"#));
    assert_eq!(effects, ["settle r failed malformed_event", "release"]);
}

#[test]
fn the_grace_ends_when_the_key_registers_again() {
    let mut bench = Bench::with("running");
    bench.at(secs(1)).tell(Message::LinkGone { link: link() });
    assert_eq!(bench.thread.next_deadline(), Some(secs(11)));
    bench.at(secs(10)).tell(Message::Registered { link: link() });
    assert_eq!(bench.at(secs(12)).tell(Message::Tick), Vec::<String>::new());
    assert_eq!(bench.report("r", 1, text()), ["append r TEXT_MESSAGE_CONTENT"]);
}

#[test]
fn a_grace_that_passes_fails_what_the_key_held() {
    let mut bench = Bench::with("running");
    bench.at(secs(1)).tell(Message::LinkGone { link: link() });
    assert_eq!(
        bench.at(secs(11)).tell(Message::Tick),
        ["count Abandoned", "settle r failed provider_left_holding_it", "release"]
    );
}

#[test]
fn a_cancel_that_was_asked_of_a_lost_link_is_asked_again() {
    let mut bench = Bench::with("running");
    bench.tell(Message::Cancel { run: run("r") });
    bench.tell(Message::LinkGone { link: link() });
    assert_eq!(bench.tell(Message::Registered { link: link() }), ["ask-cancel r"]);
    assert_eq!(bench.tell(Message::Finish { key: key(), run: run("r") }), ["settle r cancelled", "release"]);
}

#[test]
fn a_run_accepted_long_ago_is_counted_once_and_goes_on() {
    let mut bench = Bench::with("running");
    let due = secs(30 * 60);
    assert_eq!(bench.thread.next_deadline(), Some(due));
    assert_eq!(bench.at(due).tell(Message::Tick), ["count Undelivered"]);
    assert_eq!(bench.thread.next_deadline(), None);
    assert_eq!(bench.report("r", 1, text()), ["append r TEXT_MESSAGE_CONTENT"]);
}

#[test]
fn a_cancel_before_the_row_is_written_settles_when_it_is() {
    let mut bench = Bench::with("recording");
    bench.tell(Message::Cancel { run: run("r") });
    assert_eq!(bench.tell(Message::Recorded { run: run("r") }), ["settle r cancelled", "release"]);
}

#[test]
fn a_restored_run_is_offered_like_any_other() {
    let mut bench = Bench::new();
    let mut effects = Vec::new();
    bench.thread.restore(Moment::ZERO, run("r"), &mut effects);
    assert_eq!(effects.iter().map(words).collect::<Vec<_>>(), ["ask"]);
    assert_eq!(bench.tell(Message::Slot(Slot::Granted { link: link() })), ["status r offering", "offer r 1"]);
}

#[test]
fn a_run_behind_a_declined_one_that_left_waits_for_no_change() {
    let mut bench = Bench::with("offering");
    bench.open("s");
    bench.tell(Message::Recorded { run: run("s") });
    bench.verdict("r", 1, Verdict::Declined);
    let effects = bench.tell(Message::Cancel { run: run("r") });
    assert_eq!(effects, ["settle r cancelled", "cancelled r Settled", "ask"]);
}

#[test]
fn a_grant_that_is_lost_while_the_row_is_written_leaves_the_run_queued() {
    let mut bench = Bench::with("recording");
    assert_eq!(bench.tell(Message::LinkGone { link: link() }), ["release"]);
    assert_eq!(bench.tell(Message::Recorded { run: run("r") }), ["status r queued", "ask"]);
}

#[test]
fn a_run_whose_row_is_on_its_way_when_funduq_stops_is_accepted_and_stays_queued() {
    let mut bench = Bench::with("recording");
    assert_eq!(bench.tell(Message::Shutdown), ["release"]);
    assert_eq!(bench.tell(Message::Recorded { run: run("r") }), ["status r queued", "suspend r"]);
    assert!(bench.thread.is_idle());
}

#[test]
fn the_late_news_of_an_older_links_loss_begins_no_grace() {
    let mut bench = Bench::with("running");
    bench.tell(Message::Registered { link: LinkId::new(2) });
    bench.at(secs(1)).tell(Message::LinkGone { link: link() });
    assert_eq!(bench.at(secs(60)).tell(Message::Tick), Vec::<String>::new());
    bench.tell(Message::LinkGone { link: LinkId::new(2) });
    assert_eq!(bench.thread.next_deadline(), Some(secs(70)));
}
