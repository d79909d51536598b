//! Query strings, read as the parameters an operation declares (A2A 1.0 §11.5).

use serde_json::value::RawValue;

use super::path::percent_decode;
use super::{invalid_parameter, string};
use crate::operation::{QueryKind, QueryParameter};
use crate::wire::{JsonObject, names_match};
use crate::{A2aError, TaskState, v03};

/// The members that a query string gives, as JSON; parameters that are not declared are ignored, empty ones absent.
pub(super) fn read(query: &str, declared: &[QueryParameter]) -> Result<JsonObject, A2aError> {
    let mut members = JsonObject::new();
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some(name) = decode(name) else {
            continue;
        };
        let Some(parameter) = declared.iter().find(|parameter| names_match(&name, parameter.name)) else {
            continue;
        };
        let Some(value) = decode(value) else {
            return Err(invalid_parameter(parameter.name, "percent-encoded UTF-8", value));
        };
        if value.is_empty() {
            continue;
        }
        if members.get(parameter.name).is_some() {
            return Err(A2aError::invalid_field(parameter.name, "is given twice"));
        }
        members.insert(parameter.name, typed(parameter, &value)?);
    }
    Ok(members)
}

fn typed(parameter: &QueryParameter, value: &str) -> Result<Box<RawValue>, A2aError> {
    match parameter.kind {
        QueryKind::Text => Ok(string(value)),
        QueryKind::Bool => match value {
            "true" => Ok(RawValue::TRUE.to_owned()),
            "false" => Ok(RawValue::FALSE.to_owned()),
            _ => Err(invalid_parameter(parameter.name, "true or false", value)),
        },
        // The specification's example says `status=working`, which is no name of the enum but of the 0.3 one.
        QueryKind::State => Ok(match v03::json_rpc::TaskState::from(value) {
            v03::json_rpc::TaskState::Unknown(name) => string(&name),
            state => string(TaskState::from(state).as_str()),
        }),
    }
}

fn decode(text: &str) -> Option<String> {
    percent_decode(&text.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;

    fn read_list(query: &str) -> Result<String, String> {
        let members = read(query, Operation::ListTasks.row().query).map_err(|error| error.to_string())?;
        Ok(serde_json::to_string(&members).unwrap())
    }

    #[test]
    fn declared_parameters_are_typed_and_others_ignored() {
        assert_eq!(
            read_list("contextId=a+b%26c&pageSize=10&includeArtifacts=true&A2A-Version=1.0&x").unwrap(),
            r#"{"contextId":"a b&c","pageSize":"10","includeArtifacts":true}"#
        );
        assert_eq!(read_list("context_id=a&pageToken=").unwrap(), r#"{"contextId":"a"}"#);
        assert_eq!(read_list("").unwrap(), "{}");
    }

    #[test]
    fn a_state_is_taken_in_either_spelling() {
        assert_eq!(read_list("status=TASK_STATE_WORKING").unwrap(), r#"{"status":"TASK_STATE_WORKING"}"#);
        assert_eq!(read_list("status=input-required").unwrap(), r#"{"status":"TASK_STATE_INPUT_REQUIRED"}"#);
        assert_eq!(read_list("status=RUNNING").unwrap(), r#"{"status":"RUNNING"}"#);
    }

    #[test]
    fn faults_name_the_parameter() {
        assert_eq!(
            read_list("includeArtifacts=yes").unwrap_err(),
            "includeArtifacts: expected true or false, found \"yes\""
        );
        assert_eq!(read_list("pageSize=1&page_size=2").unwrap_err(), "pageSize: is given twice");
        assert_eq!(
            read_list("contextId=%zz").unwrap_err(),
            "contextId: expected percent-encoded UTF-8, found \"%zz\""
        );
    }
}
