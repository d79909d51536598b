//! What the relay counts: each figure is what the record says, and a limit in all is one.

use std::time::Duration;

use funduq_contract::{FunduqPort, Verdict};
use funduq_core::{CoreSettings, DoorError, Figures, NotServing, RunStatus};

use crate::bench::{FINISHED, on_every_store, on_every_store_with, started, types};

fn ended(figures: &Figures, status: RunStatus, reason: &str) -> u64 {
    let found = figures.runs_ended.iter().find(|ended| (ended.status, ended.reason) == (status, reason));
    found.unwrap().count
}

#[test]
fn runs_are_counted_by_how_they_ended_and_offers_by_their_answers() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut finished = bench.ask(&agent, "new", "one").await.unwrap();
        let run = provider.offer().await.run.run_id;
        tokio::time::advance(Duration::from_millis(20)).await;
        bench.funduq.answer(link, &run, 1, Verdict::Declined).await.unwrap();
        provider.offer().await;
        tokio::time::advance(Duration::from_millis(20)).await;
        bench.funduq.answer(link, &run, 2, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        bench.report(link, &run, 2, FINISHED).await;
        types(&mut finished).await;

        let mut refused = bench.ask(&agent, "new", "two").await.unwrap();
        let run = provider.offer().await.run.run_id;
        let reason = "not on a Monday".to_owned();
        bench.funduq.answer(link, &run, 1, Verdict::Refused { reason }).await.unwrap();
        types(&mut refused).await;

        let live = bench.ask(&agent, "new", "three").await.unwrap();
        provider.offer().await;
        let figures = bench.funduq.figures();
        assert_eq!(figures.runs_opened, 3);
        assert_eq!(ended(&figures, RunStatus::Completed, ""), 1);
        assert_eq!(ended(&figures, RunStatus::Failed, "provider_refused"), 1);
        assert_eq!(figures.runs_ended.iter().map(|ended| ended.count).sum::<u64>(), 2);
        assert_eq!(figures.live_runs.into_iter().map(|(_, count)| count).sum::<usize>(), 1);
        assert!(figures.live_runs.contains(&(RunStatus::Offering, 1)));
        assert_eq!((figures.offers, figures.accepted, figures.declined), (4, 1, 1));
        assert_eq!((figures.refused, figures.unanswered), (1, 0));
        assert_eq!((figures.agent_links, figures.llm_links), (1, 0));
        // RUN_STARTED, RUN_FINISHED; and funduq's own two of the refused run.
        assert_eq!(figures.events, 4);
        assert!(figures.event_bytes > 4 * 20);
        assert_eq!(figures.first_event_time.count(), 1);
        assert_eq!(figures.answer_time.count(), 2);
        assert!(figures.answer_time.sum >= Duration::from_millis(20));
        assert_eq!((figures.writes_waiting, figures.writes_failed, figures.reads_failed), (0, 0, 0));

        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(bench.funduq.figures().unanswered, 3);
        drop(live);
        bench.funduq.detach_provider(&provider.identity.public_key(), link);
        let mut offline = bench.ask(&agent, "new", "four").await.unwrap();
        types(&mut offline).await;
        let figures = bench.funduq.figures();
        assert_eq!(ended(&figures, RunStatus::Failed, "agent_offline"), 1);
        assert_eq!(ended(&figures, RunStatus::Failed, "provider_did_not_answer"), 1);
        assert_eq!(figures.live_threads, 0);
    });
}

#[test]
fn one_run_more_than_the_limit_in_all_is_refused_until_another_ends() {
    let settings = CoreSettings { live_run_limit: 2, ..CoreSettings::default() };
    on_every_store_with(settings, |bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut first = bench.ask(&agent, "new", "one").await.unwrap();
        let run = provider.offer().await.run.run_id;
        let _second = bench.ask(&agent, "new", "two").await.unwrap();
        let refused = bench.ask(&agent, "new", "three").await.unwrap_err();
        assert_eq!(refused, DoorError::NotServing(NotServing::TooManyRuns { limit: 2 }));
        assert!(refused.retry_after().is_some());
        assert_eq!((bench.funduq.figures().too_many_runs, bench.funduq.figures().runs_opened), (1, 2));
        let reason = "no".to_owned();
        bench.funduq.answer(link, &run, 1, Verdict::Refused { reason }).await.unwrap();
        types(&mut first).await;
        bench.ask(&agent, "new", "three").await.unwrap();
    });
}
