//! What a card says of the door: what is in force there, whatever the agent's provider would have it say.

use a2a::{AgentCard, SecurityScheme};
use funduq_contract::{DownFrame, Identity, OkFrame, RegisterFrame, Registration, UpFrame};
use funduq_gateway::Config;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::caller::{Answer, Caller};
use crate::support::{Provider, TestGateway};

/// The SHA-256 of `abc`.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A gateway with a token that stands for a key, and an agent whose provider would say something else of the door.
struct Desk {
    gateway: TestGateway,
    caller: Caller,
    provider: Provider,
    _folder: TempDir,
}

impl Desk {
    async fn new(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens");
        std::fs::write(&tokens, format!("laptop {ABC} {}\n", Identity::generate().public_key())).unwrap();
        let gateway = TestGateway::configured(|config| {
            config.presenter_tokens = tokens.to_str().unwrap().parse().unwrap();
            change(config);
        })
        .await;
        let mut provider = Provider::serving(&gateway, &[]).await;
        let mut agent = Registration::new("liar".parse().unwrap());
        let lies = json!({
            "securitySchemes": {"bearer": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://evil.example"}}},
            "securityRequirements": [{"schemes": {"bearer": {}}}, {"schemes": {}}],
            "security": [{"bearer": []}],
            "documentationUrl": "https://example.org/docs",
            "skills": [{"id": "a", "name": "a", "description": "d", "tags": ["t"],
                "securityRequirements": [{"schemes": {"bearer": {"list": ["evil"]}}}]}],
        });
        agent.agent_card_extra = serde_json::from_value(lies).unwrap();
        provider.say(&UpFrame::Register(RegisterFrame { id: 7, agents: vec![agent] })).await;
        assert_eq!(provider.hear().await, DownFrame::Ok(OkFrame { id: 7 }));
        let caller = Caller::of(&gateway, &provider.agent("liar"));
        Self { gateway, caller, provider, _folder: folder }
    }

    /// The card, as the official crate reads it and as it stands.
    async fn card(&self) -> (AgentCard, Value) {
        let card = self.caller.request("GET", "/.well-known/agent-card.json").send().await.unwrap();
        let card = Answer::of(card).await;
        assert_eq!(card.status, 200, "whoever may not come in yet reads how");
        (serde_json::from_str(&card.body).unwrap(), card.json())
    }

    async fn stop(self) {
        // A link that nobody reads would be waited for.
        drop(self.provider);
        self.gateway.stop().await;
    }

    async fn get_task(&self, token: Option<&str>) -> Answer {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}).to_string();
        let request = self.caller.request("POST", "").header("a2a-version", "1.0").body(call);
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        Answer::of(request.send().await.unwrap()).await
    }
}

#[tokio::test]
async fn a_door_that_asks_for_a_token_says_so_to_clients_of_both_versions() {
    let desk = Desk::new(|config| config.anonymous = false).await;
    let (card, document) = desk.card().await;
    let schemes = card.security_schemes.unwrap();
    let [(name, SecurityScheme::HttpAuth(scheme))] = Vec::from_iter(&schemes)[..] else {
        panic!("{schemes:?}");
    };
    assert_eq!((scheme.scheme.as_str(), scheme.bearer_format.as_deref()), ("Bearer", None));
    let requirements = card.security_requirements.unwrap();
    assert_eq!(requirements.len(), 1, "no other way is open");
    assert_eq!(Vec::from_iter(&requirements[0]), [(name, &Vec::new())]);
    // The same as 0.3 has it, in the manner of OpenAPI.
    assert_eq!(document["security"], json!([{name: []}]));
    let flat = &document["securitySchemes"][name];
    assert_eq!((&flat["type"], &flat["scheme"]), (&json!("http"), &json!("Bearer")));
    // And it is so.
    assert_eq!(desk.get_task(None).await.status, 401);
    let known = desk.get_task(Some("abc")).await;
    assert_eq!((known.status, &known.json()["error"]["code"]), (200, &json!(-32001)));
    desk.stop().await;
}

#[tokio::test]
async fn a_provider_says_nothing_of_the_door_and_the_rest_is_its_own() {
    for anonymous in [true, false] {
        let desk = Desk::new(|config| config.anonymous = anonymous).await;
        let (card, document) = desk.card().await;
        assert_eq!(card.documentation_url.as_deref(), Some("https://example.org/docs"));
        assert_eq!(document["skills"][0]["id"], "a");
        for member in ["securityRequirements", "security"] {
            assert_eq!(document["skills"][0].get(member), None);
        }
        let text = document.to_string();
        assert!(!text.contains("evil"), "{text}");
        desk.stop().await;
    }
}

#[tokio::test]
async fn a_card_claims_no_scheme_where_none_of_a2as_is_what_the_door_takes() {
    let open = Desk::new(|_| {}).await;
    let signed = Desk::new(|config| {
        config.anonymous = false;
        config.presenter_tokens = Config::default().presenter_tokens;
    })
    .await;
    for desk in [open, signed] {
        let (card, document) = desk.card().await;
        assert!(card.security_schemes.is_none_or(|schemes| schemes.is_empty()));
        assert!(card.security_requirements.is_none_or(|requirements| requirements.is_empty()));
        assert_eq!(document.get("security"), None);
        desk.stop().await;
    }
}
