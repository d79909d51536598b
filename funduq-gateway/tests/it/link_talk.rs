//! What is said over an open link: order, bounds, and what becomes of what does not fit.

use funduq_contract::{
    AgentName, Cancel, DeleteFrame, DownFrame, ErrFrame, EventFrame, FinishFrame, OkFrame, PortErrorCode,
    ReceivedFrame, RunId, ThreadMessagesFrame, UpFrame,
};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Closed, Provider, Raw, TestGateway, events, finished, input, input_on, started};

/// One turn of an agent from question to end, to see that it still works.
async fn turn(gateway: &TestGateway, provider: &mut Provider) {
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    assert_eq!(events(&asked.await.unwrap().rest().await).len(), 2);
}

fn unknown_run() -> RunId {
    RunId::new("unknown").unwrap()
}

#[tokio::test]
async fn a_frame_that_does_not_parse_is_answered_and_the_link_stays() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    for text in [
        "",
        "nonsense",
        "{}",
        r#"{"type":"other"}"#,
        r#"{"type":"finish"}"#,
        r#"{"type":"finish","runId":"r","more":1}"#,
    ] {
        provider.say_text(text).await;
        let refusal = provider.refusal().await;
        assert_eq!((refusal.code, refusal.id), (PortErrorCode::MalformedFrame, None), "{text}");
    }
    provider.send(Message::binary(vec![0])).await;
    assert_eq!(provider.refusal().await.code, PortErrorCode::MalformedFrame);
    turn(&gateway, &mut provider).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_link_is_opened_once() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let connect = funduq_contract::Connect::sign(
        &provider.identity,
        Some(&gateway.public_key()),
        funduq_contract::Ticket::generate(),
        funduq_contract::Nonce::generate(),
        None,
    );
    provider.say(&UpFrame::Connect(connect)).await;
    assert_eq!(provider.refusal().await.code, PortErrorCode::MalformedFrame);
    turn(&gateway, &mut provider).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_message_over_the_limit_closes_its_link_and_no_other() {
    let gateway = TestGateway::configured(|config| config.link_event_limit = "64KiB".parse().unwrap()).await;
    let mut other = Provider::serving(&gateway, &["echo"]).await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let agent = provider.agent("echo");
    provider.try_send(Message::text("x".repeat(4 << 20))).await;
    let closed = Closed { code: 1009, reason: "messageTooLarge".to_owned() };
    assert_eq!(provider.closed().await, closed);
    gateway.until_online_is(&agent, false).await;
    turn(&gateway, &mut other).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_event_at_the_limit_fits_with_what_is_around_it() {
    let gateway = TestGateway::configured(|config| config.link_event_limit = "64KiB".parse().unwrap()).await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let mut event = json!({ "type": "CUSTOM", "name": "n", "value": "" });
    let room = (64 << 10) - event.to_string().len();
    event["value"] = json!("x".repeat(room));
    provider.play(&offer, &[event.to_string()]).await;
    assert_eq!(events(&asked.await.unwrap().rest().await).len(), 3);
    gateway.stop().await;
}

#[tokio::test]
async fn what_breaks_the_websocket_closes_the_link() {
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let not_text = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
    provider.try_send(Message::Frame(not_text)).await;
    assert_eq!(provider.closed().await, Closed { code: 1002, reason: "protocolError".to_owned() });
    gateway.stop().await;
}

#[tokio::test]
async fn reports_about_a_run_that_is_not_held_are_answered_with_its_id() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let run_id = unknown_run();
    let not_held = |refusal: ErrFrame| {
        assert_eq!((refusal.code, refusal.run_id), (PortErrorCode::NotHeld, Some(unknown_run())));
    };
    provider.event(&run_id, 1, r#"{"type":"X"}"#).await;
    not_held(provider.refusal().await);
    provider.say(&UpFrame::Finish(FinishFrame { run_id: run_id.clone() })).await;
    not_held(provider.refusal().await);
    let asked = ThreadMessagesFrame { id: 3, run_id, limit: 10 };
    provider.say(&UpFrame::ThreadMessages(asked)).await;
    let refusal = provider.refusal().await;
    assert_eq!((refusal.code, refusal.id), (PortErrorCode::NotHeld, Some(3)));
    gateway.stop().await;
}

#[tokio::test]
async fn a_gap_says_which_event_is_missing_and_the_run_goes_on() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run = &offer.run.run_id;
    provider.event(run, 1, &started(&offer)).await;
    provider.event(run, 3, &finished(&offer)).await;
    let refusal = provider.refusal().await;
    assert_eq!((refusal.code, refusal.expected), (PortErrorCode::Gap, Some(2)));
    provider.event(run, 2, &finished(&offer)).await;
    assert_eq!(events(&asked.await.unwrap().rest().await).len(), 2);
    gateway.stop().await;
}

#[tokio::test]
async fn frames_that_come_all_at_once_are_judged_in_their_order_each_for_itself() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let ask = || {
        let url = url.clone();
        tokio::spawn(async move { Raw::post(&url, &input("hello")).await })
    };
    let (first, second) = (ask(), ask());
    let offers = [provider.accept().await, provider.accept().await];
    let of = |run: &str| if offers[0].run.run_id.as_str() == run { 0 } else { 1 };
    let frame = |at: usize, number: u64, event: &str| EventFrame::text(&offers[at].run.run_id, number, event);
    let step = |at: usize| format!(r#"{{"type":"STEP_STARTED","stepName":"{at}"}}"#);
    let mut frames = vec![frame(0, 1, &started(&offers[0])), frame(1, 1, &started(&offers[1]))];
    for number in 2..200 {
        frames.push(frame(0, number, &step(0)));
        // In pairs, so that some follow each other and some do not.
        if number % 2 == 1 {
            frames.extend([frame(1, number - 1, &step(1)), frame(1, number, &step(1))]);
        }
    }
    // No frame; and an event that is none, which ends its run.
    frames.extend(["{".to_owned(), frame(1, 200, r#"{"type":1}"#)]);
    frames.push(frame(0, 200, &finished(&offers[0])));
    provider.say_all(&frames).await;
    let mut codes = vec![provider.refusal().await.code, provider.refusal().await.code];
    codes.sort_by_key(|code| format!("{code:?}"));
    assert_eq!(codes, [PortErrorCode::MalformedFrame, PortErrorCode::NotHeld]);
    for answer in [first, second] {
        let answer = events(&answer.await.unwrap().rest().await);
        let at = of(answer[0].1["runId"].as_str().unwrap());
        let name = at.to_string();
        let steps = answer.iter().filter(|(_, event)| event["stepName"] == *name).count();
        assert_eq!((answer.len(), steps), (200, 198));
        let last = &answer[199].1;
        match at {
            0 => assert_eq!(last["type"], "RUN_FINISHED"),
            _ => assert_eq!(last["code"], "malformed_event"),
        }
    }
    turn(&gateway, &mut provider).await;
    gateway.stop().await;
}

#[tokio::test]
async fn the_provider_hears_how_far_a_run_is_recorded() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let many: Vec<_> = (0..500).map(|n| format!(r#"{{"type":"CUSTOM","name":"n","value":{n}}}"#)).collect();
    provider.play(&offer, &many).await;
    let (mut last, mut heard) = (0, 0);
    while last < 502 {
        match provider.next().await.unwrap() {
            DownFrame::Received(ReceivedFrame { run_id, number }) => {
                assert_eq!(run_id, offer.run.run_id);
                assert!(number > last, "{number} after {last}");
                (last, heard) = (number, heard + 1);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(heard <= 502);
    asked.await.unwrap().rest().await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_provider_may_read_the_thread_of_a_run_that_it_holds() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run_id = offer.run.run_id.clone();
    provider.say(&UpFrame::ThreadMessages(ThreadMessagesFrame { id: 9, run_id, limit: 10 })).await;
    match provider.hear().await {
        DownFrame::Messages(answer) => {
            assert_eq!(answer.id, 9);
            let message: Value = serde_json::from_str(answer.messages[0].json()).unwrap();
            assert_eq!(message, input("hello")["messages"][0]);
        }
        other => panic!("{other:?}"),
    }
    provider.play(&offer, &[]).await;
    asked.await.unwrap().rest().await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_agent_without_conversations_can_be_deleted() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo", "spare"]).await;
    turn(&gateway, &mut provider).await;
    let delete = |id, name: &str| UpFrame::Delete(DeleteFrame { id, name: AgentName::new(name).unwrap() });
    provider.say(&delete(1, "spare")).await;
    assert_eq!(provider.hear().await, DownFrame::Ok(OkFrame { id: 1 }));
    provider.say(&delete(2, "echo")).await;
    assert_eq!(provider.refusal().await.id, Some(2));
    provider.say(&delete(3, "spare")).await;
    let refusal = provider.refusal().await;
    assert_eq!((refusal.id, refusal.code), (Some(3), PortErrorCode::UnknownAgent));
    gateway.stop().await;
}

#[tokio::test]
async fn a_cancel_reaches_the_provider() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run_id = offer.run.run_id.clone();
    provider.event(&run_id, 1, &started(&offer)).await;
    let mut answer = asked.await.unwrap();
    answer.event().await.unwrap();
    gateway.funduq().cancel_run(&provider.agent("echo"), &run_id, Default::default()).await.unwrap();
    assert_eq!(provider.hear().await, DownFrame::Cancel(Cancel { run_id: run_id.clone() }));
    provider.event(&run_id, 2, &finished(&offer)).await;
    answer.rest().await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_provider_that_does_not_even_answer_pings_is_gone() {
    let gateway = TestGateway::configured(|config| {
        config.link_ping = "20ms".parse().unwrap();
        config.link_silence = "100ms".parse().unwrap();
    })
    .await;
    // Nothing reads its socket, so nothing answers.
    let deaf = Provider::serving(&gateway, &["echo"]).await;
    gateway.until_online_is(&deaf.agent("echo"), false).await;
    drop(deaf);
    gateway.stop().await;
}

#[tokio::test]
async fn a_provider_that_answers_pings_may_be_silent_for_as_long_as_it_likes() {
    let gateway = TestGateway::configured(|config| {
        config.link_ping = "20ms".parse().unwrap();
        config.link_silence = "200ms".parse().unwrap();
        config.keep_alive = "50ms".parse().unwrap();
    })
    .await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move {
        let mut answer = Raw::post(&url, &input("hello")).await;
        for _ in 0..10 {
            assert_eq!(answer.chunk().await.unwrap(), ":\n");
        }
        answer
    });
    let offer = provider.accept().await;
    // Reading is what answers pings.
    let mut answer = tokio::select! {
        answer = asked => answer.unwrap(),
        heard = provider.next() => panic!("{heard:?}"),
    };
    provider.play(&offer, &[]).await;
    answer.rest().await;
    gateway.stop().await;
}

#[tokio::test]
async fn runs_of_two_threads_are_offered_side_by_side() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let ask = |text: &str| {
        let (url, input) = (url.clone(), input_on("new", text));
        tokio::spawn(async move { Raw::post(&url, &input).await })
    };
    let (one, two) = (ask("one"), ask("two"));
    let (first, second) = (provider.accept().await, provider.accept().await);
    assert_ne!(first.run.thread_id, second.run.thread_id);
    provider.play(&second, &[]).await;
    provider.play(&first, &[]).await;
    for asked in [one, two] {
        assert_eq!(events(&asked.await.unwrap().rest().await).len(), 2);
    }
    gateway.stop().await;
}
