//! Steps: `STEP_STARTED` and `STEP_FINISHED`.

use super::wire_event;

wire_event! {
    /// `STEP_STARTED`: a named part of the run begins.
    attributed StepStarted {
        fixed { "type" = "STEP_STARTED" }
        required {
            /// The step.
            step_name: String = "stepName",
        }
        optional {}
    }
}

wire_event! {
    /// `STEP_FINISHED`: a step that had begun ended.
    attributed StepFinished {
        fixed { "type" = "STEP_FINISHED" }
        required {
            /// The step.
            step_name: String = "stepName",
        }
        optional {}
    }
}
