//! Bytes in, bytes out: whatever an event is made of, core shows and records it as it came.

use funduq_agui::{EventType, arbitrary};
use funduq_contract::{FunduqPort, Verdict};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::bench::{FINISHED, on_every_store, rest};

/// How many events of each type are tried.
const OF_EACH: usize = 20;

#[test]
fn an_event_of_any_type_is_shown_and_recorded_as_the_bytes_that_came() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut runner = TestRunner::default();
        for event_type in EventType::KNOWN.iter().copied().chain([EventType::Unknown]) {
            let any = arbitrary::event(event_type);
            let ends = matches!(event_type, EventType::RunFinished | EventType::RunError);
            let (runs, events) = if ends { (OF_EACH, 1) } else { (1, OF_EACH) };
            for _ in 0..runs {
                let mut texts: Vec<String> =
                    (0..events).map(|_| any.new_tree(&mut runner).unwrap().current()).collect();
                if !ends {
                    texts.push(FINISHED.to_owned());
                }
                let mut stream = bench.ask(&agent, "new", "x").await.unwrap();
                let run = provider.offer().await.run.run_id;
                bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
                for (number, text) in (1..).zip(&texts) {
                    bench.report(link, &run, number, text).await;
                }
                let shown: Vec<String> =
                    rest(&mut stream).await.iter().map(|event| event.json().to_owned()).collect();
                assert_eq!(shown, texts, "{event_type:?}");
                let mut recorded: Vec<String> = Vec::new();
                while recorded.len() < texts.len() {
                    let page =
                        bench.funduq.run_events(&run, recorded.len() as u64, texts.len()).await.unwrap();
                    assert!(!page.is_empty(), "{} of {}", recorded.len(), texts.len());
                    recorded.extend(page.iter().map(|event| event.event.json().to_owned()));
                }
                assert_eq!(recorded, texts, "{event_type:?}");
            }
        }
    });
}
