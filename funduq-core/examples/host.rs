//! A host that embeds core and owns no socket: an in-process provider, both doors called as objects, a thread that a
//! chain binds, and a cancel that only a signature can ask for.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use funduq_a2a::{GetTaskRequest, WireMessage};
use funduq_agui::RelayedInput;
use funduq_contract::{ActorChain, AgentAddress, Identity};
use funduq_core::{CoreSettings, Funduq, MemoryStore};
use funduq_provider_sdk::{InProcessLink, ProviderIdentity, Runtime, ServedAgent, agent_fn};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The relay: settings, its own key, a record. A host with a file takes `SqliteStore::open`.
    let funduq =
        Funduq::new(CoreSettings::default(), Some(Identity::generate()), Arc::new(MemoryStore::new()));
    funduq.start().await?;

    // A provider. Issuing the ticket is the host's decision that this key may serve here.
    let greeter = agent_fn(|run| async move {
        run.events().text(&format!("You said: {}", run.user_text().unwrap_or_default())).await?;
        run.cancellation().cancelled().await; // and then it waits to be stopped
        Ok(())
    });
    let runtime =
        Runtime::builder(ProviderIdentity::generate()).agent(ServedAgent::new("greeter", greeter)?).build();
    let agent = AgentAddress::new(runtime.identity().public_key(), "greeter".parse()?);
    let ticket = funduq.issue_ticket(&agent.provider);
    InProcessLink::open(&runtime, Arc::new(funduq.clone()), ticket, funduq.public_key()).await?;

    // A caller with a chain of one hop. The host has authenticated the caller by means of its own, and says so.
    let caller = Identity::generate();
    let input = RelayedInput::parse(
        serde_json::json!({
            "threadId": "a thread id that funduq never gave out opens a new thread",
            "runId": "the caller's", "messages": [{"id": "m1", "role": "user", "content": "hello"}],
            "forwardedProps": {"actorChain": ActorChain::start(&caller)},
        })
        .to_string()
        .as_bytes(),
    )?;
    let mut stream = funduq.agui().run(&agent, input, Some(caller.public_key())).await?;
    let (run, thread) = (stream.run_id().clone(), stream.thread_id().clone());
    println!("the parties of thread {thread}: {:?}", funduq.parties_of(&thread).await?);

    // The thread is bound to the chain's head: a cancel without its signature is refused.
    while let Some(event) = stream.next().await? {
        println!("{}", event.event.json());
        if event.event.type_name() == "TEXT_MESSAGE_END" {
            break;
        }
    }
    let unsigned = funduq.cancel_run(&agent, &run, Default::default()).await;
    println!("unsigned: {}", unsigned.err().ok_or("a cancel without a signature was taken")?);
    let timestamp = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
    let proof = serde_json::json!({
        "cancel": {"timestamp": timestamp, "signature": caller.sign_cancel(&run, timestamp)},
    });
    println!("signed: {:?}", funduq.cancel_run(&agent, &run, serde_json::from_value(proof)?).await?);
    while let Some(event) = stream.next().await? {
        println!("{}", event.event.json());
    }

    // The same run is a task at the A2A door, under the same id.
    let request = GetTaskRequest { id: run.as_str().into(), ..GetTaskRequest::default() };
    let task = funduq.a2a().get_task(&agent, request).await?.ok_or("the task is gone")?;
    println!("over A2A: {}", task.to_json());
    funduq.shutdown(Duration::from_secs(5)).await;
    Ok(())
}
