//! Completions that nobody reads: others of the same link go on, memory is bounded, and nothing is lost without a word.

use std::time::Duration;

use funduq_contract::{
    CancelCompletion, Chunk, CompletionEnd, CompletionId, ConnectedLlmProvider, LinkId, LlmPort, PortError,
    RawJson,
};
use funduq_core::{CompletionEnding, CompletionStream, CoreSettings, KyokError};
use tokio::time::{Instant, sleep, timeout};

use crate::bench::{Bench, on_every_store_with};
use crate::kyok::{Bound, Lender, bound, lend, now};

/// How much may be unread here, of one and in all.
const EACH: usize = 10_000;
const ALL: usize = 24_000;
/// What one chunk of these tests is.
const SIZE: usize = 1_000;

fn on_small_queues<F: Future<Output = ()>>(test: impl Fn(Bench) -> F) {
    let settings =
        CoreSettings { completion_unread_bytes: EACH, unread_bytes: ALL, ..CoreSettings::default() };
    on_every_store_with(settings, test);
}

/// A call, and its id as the provider knows it.
async fn call(bench: &Bench, bound: &Bound, lender: &Lender) -> (CompletionStream, CompletionId) {
    let stream = bound.call(bench, &bound.agent, now()).await.unwrap();
    (stream, lender.last().completion.completion_id)
}

/// The chunk with a number.
fn text(number: usize) -> String {
    format!("\"{number:0>width$}\"", width = SIZE - 2)
}

async fn say(bench: &Bench, link: LinkId, id: &CompletionId, number: usize) -> Result<(), PortError> {
    let chunk = RawJson::new(text(number)).unwrap();
    bench.funduq.chunk(link, Chunk { completion_id: id.clone(), chunk }).await
}

async fn end(bench: &Bench, link: LinkId, id: &CompletionId) {
    bench.funduq.end(link, CompletionEnd { completion_id: id.clone() }).await.unwrap();
}

/// Says chunks until one is not taken at once; answers with how many were. It must hold up the link.
async fn fill(bench: &Bench, link: LinkId, id: &CompletionId) -> usize {
    for number in 0.. {
        if timeout(Duration::from_millis(1), say(bench, link, id, number)).await.is_err() {
            return number;
        }
    }
    unreachable!()
}

/// Reads to the end; answers with how many chunks there were, each the next.
async fn read(stream: &mut CompletionStream) -> usize {
    let mut count = 0;
    while let Some(chunk) = stream.next().await.unwrap() {
        assert_eq!(chunk.get(), text(count));
        count += 1;
    }
    count
}

fn ended(bench: &Bench, ending: CompletionEnding) -> u64 {
    let figures = bench.funduq.figures();
    figures.completions.ended.iter().find(|(is, _)| *is == ending).unwrap().1
}

#[test]
fn one_that_nobody_reads_holds_up_no_other_of_its_link_and_is_told_so() {
    on_small_queues(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let (mut unread, its_id) = call(&bench, &bound, &lender).await;
        let (mut other, id) = call(&bench, &bound, &lender).await;
        let began = Instant::now();
        for number in 0..100 {
            let _taken_or_given_up = say(&bench, link, &its_id, number).await;
            say(&bench, link, &id, number).await.unwrap();
            assert_eq!(other.next().await.unwrap().unwrap().get(), text(number));
            assert!(bench.funduq.figures().completions.unread_bytes <= EACH + 2 * SIZE);
        }
        end(&bench, link, &id).await;
        assert_eq!(other.next().await.unwrap(), None);
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing was waited for");
        let told = lender.cancelled.lock().unwrap().clone();
        assert_eq!(told, [CancelCompletion { completion_id: its_id.clone() }]);
        assert!(matches!(say(&bench, link, &its_id, 0).await, Err(PortError::Invalid(_))));
        assert_eq!(unread.next().await, Err(KyokError::AgentTooSlow));
        assert_eq!(unread.next().await, Ok(None));
        let completions = bench.funduq.figures().completions;
        assert_eq!((completions.live, completions.unread_bytes), (0, 0));
        assert_eq!(ended(&bench, CompletionEnding::AgentTooSlow), 1);
        assert_eq!(ended(&bench, CompletionEnding::Completed), 1);
        assert_eq!(ended(&bench, CompletionEnding::AgentLeft), 0);
        assert_eq!(
            bench.funduq.llm_quality(&lender.public_key()).failed,
            0,
            "it is no fault of the provider's"
        );
    });
}

#[test]
fn what_is_within_the_bound_waits_for_a_late_reader_beside_others() {
    on_small_queues(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let (mut late, its_id) = call(&bench, &bound, &lender).await;
        let (_other, _) = call(&bench, &bound, &lender).await;
        for number in 0..9 {
            say(&bench, link, &its_id, number).await.unwrap();
        }
        end(&bench, link, &its_id).await;
        sleep(Duration::from_secs(3600)).await;
        assert_eq!(read(&mut late).await, 9);
    });
}

#[test]
fn alone_on_its_link_a_late_reader_makes_the_provider_wait_and_loses_nothing() {
    on_small_queues(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let (mut late, id) = call(&bench, &bound, &lender).await;
        let began = Instant::now();
        let speaking = async {
            for number in 0..100 {
                say(&bench, link, &id, number).await.unwrap();
            }
            end(&bench, link, &id).await;
            began.elapsed()
        };
        let reading = async {
            sleep(Duration::from_secs(29)).await;
            assert!(bench.funduq.figures().completions.unread_bytes <= EACH + 2 * SIZE);
            read(&mut late).await
        };
        let (spoke, read) = tokio::join!(speaking, reading);
        assert_eq!((spoke, read), (Duration::from_secs(29), 100));
        assert!(lender.cancelled.lock().unwrap().is_empty());
    });
}

#[test]
fn one_that_holds_up_its_link_is_given_up_after_a_while_or_when_another_comes() {
    on_small_queues(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let (mut first, id) = call(&bench, &bound, &lender).await;
        let next = fill(&bench, link, &id).await;
        let began = Instant::now();
        say(&bench, link, &id, next).await.unwrap();
        assert_eq!(began.elapsed(), Duration::from_secs(30));
        assert_eq!(first.next().await, Err(KyokError::AgentTooSlow));

        let (mut second, id) = call(&bench, &bound, &lender).await;
        let next = fill(&bench, link, &id).await;
        let began = Instant::now();
        let (held, (_third, _)) = tokio::join!(say(&bench, link, &id, next), call(&bench, &bound, &lender));
        assert_eq!((held, began.elapsed()), (Ok(()), Duration::ZERO));
        assert_eq!(second.next().await, Err(KyokError::AgentTooSlow));
        assert_eq!(lender.cancelled.lock().unwrap().len(), 2);
    });
}

#[test]
fn a_link_that_is_held_up_goes_on_when_the_agent_or_the_provider_has_gone() {
    on_small_queues(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let (gone, id) = call(&bench, &bound, &lender).await;
        let next = fill(&bench, link, &id).await;
        let began = Instant::now();
        let (held, ()) = tokio::join!(say(&bench, link, &id, next), async { drop(gone) });
        assert!(matches!(held, Err(PortError::Invalid(_))));
        assert_eq!(ended(&bench, CompletionEnding::AgentLeft), 1);

        let (mut cut, id) = call(&bench, &bound, &lender).await;
        let next = fill(&bench, link, &id).await;
        let (held, _) = tokio::join!(say(&bench, link, &id, next), lend(&bench));
        assert_eq!(held, Err(PortError::LinkClosed));
        for number in 0..next {
            assert_eq!(cut.next().await.unwrap().unwrap().get(), text(number), "what came is not lost");
        }
        assert_eq!(cut.next().await, Err(KyokError::Disconnected));
        assert_eq!(ended(&bench, CompletionEnding::ProviderDisconnected), 1);
        assert!(began.elapsed() < Duration::from_secs(1));
    });
}

#[test]
fn all_together_are_bounded_and_whoever_is_furthest_behind_goes_first() {
    on_small_queues(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let mut calls = Vec::new();
        for length in [9, 8, 7, 6, 5] {
            let (stream, id) = call(&bench, &bound, &lender).await;
            for number in 0..length {
                say(&bench, link, &id, number).await.unwrap();
            }
            end(&bench, link, &id).await;
            assert!(bench.funduq.figures().completions.unread_bytes <= ALL);
            calls.push((stream, length));
        }
        let mut whole = Vec::new();
        for (stream, length) in &mut calls {
            match stream.next().await {
                Err(KyokError::AgentTooSlow) => {}
                first => {
                    assert_eq!(first.unwrap().unwrap().get(), text(0));
                    whole.push(*length);
                }
            }
        }
        assert_eq!(whole, [7, 6, 5]);
    });
}
