//! Streamed answers: the bytes that came, a clean end whatever happens, and a provider that stops when nobody reads.

use funduq_provider_sdk::llm::CompletionError;
use futures_util::future::join_all;
use serde_json::json;

use crate::lender::{Lender, said};
use crate::spender::{Spender, request};
use crate::support::TestGateway;

#[tokio::test]
async fn chunks_arrive_as_the_bytes_that_came_and_done_is_last() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let odd = r#"{ "choices":[ ] ,"n":1.0e2,"é":"\u00e9","n":2}"#;
    let body = request(true);
    let (answer, ()) = tokio::join!(spender.call(&body), async {
        let mut asked = lender.asked().await;
        let completion = &asked.completion;
        assert_eq!(completion.agent, spender.provider.agent("spender"));
        assert_eq!(completion.run_id, spender.offer.run.run_id);
        assert_eq!(completion.context.as_ref().unwrap().get(), r#"{"budget":5}"#);
        assert_eq!(serde_json::to_string(&completion.body).unwrap(), body);
        asked.chunk(odd);
        asked.chunk("{}");
        asked.end();
    });
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    assert_eq!(answer.text().await.unwrap(), format!("data: {odd}\n\ndata: {{}}\n\ndata: [DONE]\n\n"));
    assert_eq!(gateway.funduq().llm_quality(&lender.identity.public_key()).completed, 1);
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_failure_in_mid_stream_is_told_once_and_then_the_stream_ends() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let body = request(true);
    let (answer, ()) = tokio::join!(spender.call(&body), async {
        let mut asked = lender.asked().await;
        asked.chunk("{}");
        asked.fail(CompletionError::failure("upstream", "the model is gone"));
    });
    let text = answer.text().await.unwrap();
    let frames: Vec<_> = text.split_terminator("\n\n").collect();
    assert_eq!((frames.len(), frames[0], frames[2]), (3, "data: {}", "data: [DONE]"), "{text}");
    assert!(frames[1].starts_with(r#"data: {"error":{"#) && frames[1].contains("upstream"), "{text}");
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_provider_that_dies_in_mid_answer_is_never_passed_off_as_whole() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let (stream, at_once) = (request(true), request(false));
    let mut streamed = Box::pin(spender.request(&stream).send());
    let asked = tokio::select! {
        asked = lender.asked() => asked,
        answer = &mut streamed => panic!("{answer:?}"),
    };
    asked.word("half");
    let mut streamed = streamed.await.unwrap();
    assert!(String::from_utf8_lossy(&streamed.chunk().await.unwrap().unwrap()).contains("half"));
    let (whole, ()) = tokio::join!(spender.call(&at_once), async {
        lender.asked().await;
        lender.die();
    });
    let text = streamed.text().await.unwrap();
    assert!(text.contains("provider_disconnected") && text.ends_with("\n\ndata: [DONE]\n\n"), "{text}");
    assert_eq!(crate::spender::code(whole).await, (502, "provider_disconnected".into()));
    assert_eq!(gateway.funduq().llm_quality(&lender.identity.public_key()).failed, 2);
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn an_agent_that_goes_away_stops_the_provider_at_once() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    // In the middle of a stream, and before its first chunk.
    for has_begun in [true, false] {
        let request = spender.request(&request(true));
        let call = tokio::spawn(async move {
            let mut answer = request.send().await.unwrap();
            answer.chunk().await.unwrap();
            std::future::pending::<()>().await;
        });
        let asked = lender.asked().await;
        if has_begun {
            asked.word("unread");
        }
        call.abort();
        asked.dropped().await;
    }
    let quality = gateway.funduq().llm_quality(&lender.identity.public_key());
    assert_eq!(quality.completed, 0);
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn twenty_completions_at_once_keep_apart_on_one_link() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let bodies: Vec<_> =
        (0..20).map(|n| json!({"messages": [], "stream": n % 2 == 0, "n": n}).to_string()).collect();
    let calls = join_all(bodies.iter().map(|body| async {
        let answer = spender.call(body).await;
        assert_eq!(answer.status(), 200);
        answer.text().await.unwrap()
    }));
    let lending = async {
        let mut asked = Vec::new();
        for _ in 0..20 {
            asked.push(lender.asked().await);
        }
        for turn in 0..50 {
            for asked in &asked {
                let n = asked.completion.body.get("n").unwrap().get().to_owned();
                asked.word(&format!("<{n}.{turn}>"));
            }
        }
        asked.iter_mut().rev().for_each(crate::lender::Asked::end);
    };
    let (answers, ()) = tokio::join!(calls, lending);
    for (n, answer) in answers.iter().enumerate() {
        let words: Vec<_> = (0..50).map(|turn| format!("<{n}.{turn}>")).collect();
        let wanted = if n % 2 == 0 {
            words.iter().map(|word| format!("data: {}\n\n", said(word))).collect::<String>()
                + "data: [DONE]\n\n"
        } else {
            let whole: serde_json::Value = serde_json::from_str(answer).unwrap();
            assert_eq!(whole["choices"][0]["message"]["content"], words.concat());
            continue;
        };
        assert_eq!(*answer, wanted);
    }
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_silent_stream_shows_signs_of_life() {
    let gateway = TestGateway::configured(|config| config.keep_alive = "20ms".parse().unwrap()).await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let body = request(true);
    let (mut answer, asked) = tokio::join!(spender.call(&body), async {
        let asked = lender.asked().await;
        asked.chunk("{}");
        asked
    });
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "data: {}\n\n");
    assert_eq!(answer.chunk().await.unwrap().unwrap(), ":\n");
    drop(asked);
    assert!(answer.text().await.unwrap().ends_with("data: [DONE]\n\n"));
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_gateway_that_stops_ends_its_streams() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let body = request(true);
    let (answer, _asked) = tokio::join!(spender.call(&body), async {
        let asked = lender.asked().await;
        asked.word("half");
        asked
    });
    drop(spender);
    let (text, _) = tokio::join!(answer.text(), gateway.stop());
    assert!(text.unwrap().ends_with("\n\ndata: [DONE]\n\n"));
}
