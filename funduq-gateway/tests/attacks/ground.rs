//! Where the attacks take place: a gateway with an agent that others call meanwhile.

use std::ops::Deref;

use funduq_contract::{AgentAddress, Identity};
use funduq_gateway::Config;

use crate::support::{TestGateway, input, post};

/// A gateway with the demo agents, one attacker, one victim.
pub(crate) struct Ground {
    gateway: TestGateway,
    /// Whoever is wronged, or would be.
    pub(crate) victim: Identity,
    /// Whoever tries it.
    pub(crate) attacker: Identity,
}

impl Deref for Ground {
    type Target = TestGateway;

    fn deref(&self) -> &TestGateway {
        &self.gateway
    }
}

impl Ground {
    pub(crate) async fn new() -> Self {
        Self::configured(|_| {}).await
    }

    pub(crate) async fn configured(change: impl FnOnce(&mut Config)) -> Self {
        let gateway = TestGateway::configured(|config| {
            config.demo = true;
            change(config);
        })
        .await;
        Self { gateway, victim: Identity::generate(), attacker: Identity::generate() }
    }

    pub(crate) fn echo(&self) -> &AgentAddress {
        self.gateway.demo_agent().unwrap()
    }

    /// Where the demo agent is, through AG-UI.
    pub(crate) fn agui_url(&self) -> String {
        self.gateway.agui(self.echo())
    }

    /// The same, through A2A.
    pub(crate) fn a2a_url(&self) -> String {
        format!("{}/a2a/{}/{}", self.url(), self.echo().provider, self.echo().name)
    }

    /// Another caller is served as ever; ends the gateway, which has to end in order.
    pub(crate) async fn ends_unharmed(self) {
        let heard = post(&self.agui_url(), &input("hello").to_string(), &Vec::new()).await;
        assert_eq!(heard.last_event(), "RUN_FINISHED");
        self.gateway.stop().await;
    }
}
