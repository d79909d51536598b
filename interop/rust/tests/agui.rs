//! The community's Rust AG-UI client: a plain turn, which it can read only if every id is a UUID.

use ag_ui_client::Agent;
use ag_ui_client::HttpAgent;
use ag_ui_client::agent::RunAgentParams;
use ag_ui_core::JsonValue;
use ag_ui_core::types::ids::MessageId;
use ag_ui_core::types::message::Message;
use funduq_interop_rust::{bounded, told};

#[test]
fn a_turn_comes_back_whole() {
    bounded(async {
        let agent = HttpAgent::builder().with_url_str(&told("FUNDUQ_AGUI_URL")).unwrap().build().unwrap();
        let text = "grüße aus dem 漢字 garden";
        let params = RunAgentParams::<JsonValue, JsonValue> {
            forwarded_props: Some(serde_json::json!({})),
            messages: vec![Message::User { id: MessageId::random(), content: text.to_owned(), name: None }],
            ..Default::default()
        };
        let answer = agent.run_agent(&params, ()).await.unwrap();
        let [message] = answer.new_messages.as_slice() else {
            panic!("one answer: {:?}", answer.new_messages)
        };
        assert_eq!(message.content(), Some(text));
    });
}
