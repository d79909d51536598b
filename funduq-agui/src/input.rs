//! What starts a run, typed: for agents that read it and clients that send it.

use crate::interrupt::ResumeEntry;
use crate::message::Message;
use crate::wire::wire_object;
use crate::{Json, RawObject};

wire_object! {
    /// A request to run an agent: the body a client posts, and what the agent is handed.
    RunAgentInput {
        required {
            /// The thread the run belongs to.
            thread_id: String = "threadId",
            /// The run.
            run_id: String = "runId",
            /// The conversation so far, in order.
            messages: Vec<Message> = "messages",
        }
        optional {
            /// The protocol version the client speaks; absent means it was made before there was one.
            protocol_version: String = "protocolVersion",
            /// The run that this one continues or was spawned by; absent when there is none.
            parent_run_id: String = "parentRunId",
            /// The state the run starts from: any JSON but null; absent means none.
            state: Json = "state",
            /// The tools that the client offers; absent means none.
            tools: Vec<Tool> = "tools",
            /// What the agent should know beside the conversation; absent means nothing.
            context: Vec<Context> = "context",
            /// The application's own values: any JSON but null; absent means none.
            forwarded_props: Json = "forwardedProps",
            /// Answers to the interrupts that ended an earlier run; absent means it answers none.
            resume: Vec<ResumeEntry> = "resume",
        }
    }
}

wire_object! {
    /// A tool that the agent may call.
    Tool {
        required {
            /// The tool's name.
            name: String = "name",
            /// What it does, for the agent.
            description: String = "description",
        }
        optional {
            /// A JSON Schema of its arguments; absent means it takes none.
            parameters: Json = "parameters",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
        }
    }
}

wire_object! {
    /// Something the agent should know beside the conversation.
    Context {
        required {
            /// What it is.
            description: String = "description",
            /// What it says.
            value: String = "value",
        }
        optional {}
    }
}
