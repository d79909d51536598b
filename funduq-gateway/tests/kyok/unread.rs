//! An agent that does not read its answer: whoever else spends over the same link does not notice.

use tokio::time::timeout;

use crate::lender::{Asked, Lender, said};
use crate::spender::{Spender, request};
use crate::support::{SOON, TestGateway};

/// More than two sockets and a queue hold.
const FLOOD: usize = 48 << 20;
const CHUNK: usize = 64 << 10;

/// A completion whose first word is said.
async fn begun(lender: &mut Lender) -> Asked {
    let asked = lender.asked().await;
    asked.word("first");
    asked
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_given_up_and_another_of_the_link_is_answered_at_once() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let stream = request(true);
    let (unread, flood) = tokio::join!(spender.call(&stream), begun(&mut lender));
    let (other, mut beside) = tokio::join!(spender.call(&stream), begun(&mut lender));
    assert!(unread.status().is_success() && other.status().is_success());
    let word = "x".repeat(CHUNK);
    (0..FLOOD / CHUNK).for_each(|_| flood.word(&word));
    flood.dropped().await;
    beside.word("second");
    beside.end();
    let whole = timeout(SOON, other.text()).await.unwrap().unwrap();
    assert_eq!(whole, format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", said("first"), said("second")));
    let figures = gateway.figures().await;
    assert_eq!(figures["funduq_completions_ended_total{outcome=\"completed\"}"], 1.0);
    assert!(figures["funduq_completion_unread_bytes"] < 5e6);
    // What it reads late is what came, then why there is no more of it, and an end.
    let text = timeout(SOON, unread.text()).await.unwrap().unwrap();
    let frames: Vec<_> = text.split_terminator("\n\n").collect();
    let (last, chunks) = frames.split_last().unwrap();
    let (error, chunks) = chunks.split_last().unwrap();
    assert_eq!((*last, chunks[0]), ("data: [DONE]", &*format!("data: {}", said("first"))));
    assert!(error.contains("agent_too_slow"), "{error:.200}");
    let flooded = format!("data: {}", said(&word));
    assert!(chunks[1..].iter().all(|chunk| **chunk == flooded));
    let figures = gateway.figures().await;
    assert_eq!(figures["funduq_completions_ended_total{outcome=\"agent_too_slow\"}"], 1.0);
    drop(spender);
    gateway.stop().await;
}
