//! What an agent can do, as it may tell its clients.

use crate::RawObject;
use crate::input::Tool;
use crate::wire::wire_object;

wire_object! {
    /// What an agent can do. Every group is absent when the agent does not tell.
    AgentCapabilities {
        required {}
        optional {
            /// Who the agent is.
            identity: IdentityCapabilities = "identity",
            /// How it can be reached.
            transport: TransportCapabilities = "transport",
            /// Its tools.
            tools: ToolsCapabilities = "tools",
            /// What it puts out.
            output: OutputCapabilities = "output",
            /// How it keeps state.
            state: StateCapabilities = "state",
            /// How it works with other agents.
            multi_agent: MultiAgentCapabilities = "multiAgent",
            /// How it shows its reasoning.
            reasoning: ReasoningCapabilities = "reasoning",
            /// The media it takes and makes.
            multimodal: MultimodalCapabilities = "multimodal",
            /// How it runs code.
            execution: ExecutionCapabilities = "execution",
            /// How people take part.
            human_in_the_loop: HumanInTheLoopCapabilities = "humanInTheLoop",
            /// Capabilities of the application's own.
            custom: RawObject = "custom",
        }
    }
}

wire_object! {
    /// Who an agent is. Each member is absent when not told.
    IdentityCapabilities {
        required {}
        optional {
            /// Its name, for people.
            name: String = "name",
            /// The framework or platform it is made with.
            kind: String = "type",
            /// What it does.
            description: String = "description",
            /// Its version.
            version: String = "version",
            /// Who maintains it.
            provider: String = "provider",
            /// Where its documentation is.
            documentation_url: String = "documentationUrl",
            /// Further information for those who know its keys.
            metadata: RawObject = "metadata",
        }
    }
}

wire_object! {
    /// How an agent can be reached. Each member is absent when not told.
    TransportCapabilities {
        required {}
        optional {
            /// Whether it streams its events.
            streaming: bool = "streaming",
            /// Whether it takes WebSocket connections.
            websocket: bool = "websocket",
            /// Whether it speaks the binary encoding over HTTP.
            http_binary: bool = "httpBinary",
            /// Whether it can call back.
            push_notifications: bool = "pushNotifications",
            /// Whether a broken stream can be taken up again.
            resumable: bool = "resumable",
        }
    }
}

wire_object! {
    /// An agent's tools. Each member is absent when not told.
    ToolsCapabilities {
        required {}
        optional {
            /// Whether it calls tools.
            supported: bool = "supported",
            /// The tools it has.
            items: Vec<Tool> = "items",
            /// Whether it calls several at once.
            parallel_calls: bool = "parallelCalls",
            /// Whether it calls tools that the client offers.
            client_provided: bool = "clientProvided",
        }
    }
}

wire_object! {
    /// What an agent puts out. Each member is absent when not told.
    OutputCapabilities {
        required {}
        optional {
            /// Whether it answers in a given structure.
            structured_output: bool = "structuredOutput",
            /// The media types it can answer in.
            supported_mime_types: Vec<String> = "supportedMimeTypes",
        }
    }
}

wire_object! {
    /// How an agent keeps state. Each member is absent when not told.
    StateCapabilities {
        required {}
        optional {
            /// Whether it sends whole states.
            snapshots: bool = "snapshots",
            /// Whether it sends changes of state.
            deltas: bool = "deltas",
            /// Whether it remembers across threads.
            memory: bool = "memory",
            /// Whether its state outlives a run.
            persistent_state: bool = "persistentState",
        }
    }
}

wire_object! {
    /// How an agent works with other agents. Each member is absent when not told.
    MultiAgentCapabilities {
        required {}
        optional {
            /// Whether it does at all.
            supported: bool = "supported",
            /// Whether it delegates.
            delegation: bool = "delegation",
            /// Whether it hands conversations over.
            handoffs: bool = "handoffs",
            /// The subagents it can call.
            subagents: Vec<SubagentInfo> = "subagents",
        }
    }
}

wire_object! {
    /// A subagent that an agent can call.
    SubagentInfo {
        required {
            /// Its name.
            name: String = "name",
        }
        optional {
            /// What it is good at; absent when not told.
            description: String = "description",
        }
    }
}

wire_object! {
    /// How an agent shows its reasoning. Each member is absent when not told.
    ReasoningCapabilities {
        required {}
        optional {
            /// Whether it does at all.
            supported: bool = "supported",
            /// Whether it streams it.
            streaming: bool = "streaming",
            /// Whether it hands out encrypted values.
            encrypted: bool = "encrypted",
        }
    }
}

wire_object! {
    /// The media an agent takes and makes. Each member is absent when not told.
    MultimodalCapabilities {
        required {}
        optional {
            /// The media it takes.
            input: MultimodalInputCapabilities = "input",
            /// The media it makes.
            output: MultimodalOutputCapabilities = "output",
        }
    }
}

wire_object! {
    /// The media an agent takes. Each member is absent when not told.
    MultimodalInputCapabilities {
        required {}
        optional {
            /// Images.
            image: bool = "image",
            /// Sound.
            audio: bool = "audio",
            /// Video.
            video: bool = "video",
            /// PDF documents.
            pdf: bool = "pdf",
            /// Files of other kinds.
            file: bool = "file",
        }
    }
}

wire_object! {
    /// The media an agent makes. Each member is absent when not told.
    MultimodalOutputCapabilities {
        required {}
        optional {
            /// Images.
            image: bool = "image",
            /// Sound.
            audio: bool = "audio",
        }
    }
}

wire_object! {
    /// How an agent runs code. Each member is absent when not told.
    ExecutionCapabilities {
        required {}
        optional {
            /// Whether it runs code.
            code_execution: bool = "codeExecution",
            /// Whether it does so in a sandbox.
            sandboxed: bool = "sandboxed",
            /// The most rounds of one run.
            max_iterations: u64 = "maxIterations",
            /// The longest a run may take, in milliseconds.
            max_execution_time: u64 = "maxExecutionTime",
        }
    }
}

wire_object! {
    /// How people take part in an agent's work. Each member is absent when not told.
    HumanInTheLoopCapabilities {
        required {}
        optional {
            /// Whether they can at all.
            supported: bool = "supported",
            /// Whether it asks for approval.
            approvals: bool = "approvals",
            /// Whether people can step in.
            interventions: bool = "interventions",
            /// Whether it takes feedback.
            feedback: bool = "feedback",
            /// Whether it interrupts its runs to ask.
            interrupts: bool = "interrupts",
            /// Whether an approval may change what is approved.
            approve_with_edits: bool = "approveWithEdits",
        }
    }
}
