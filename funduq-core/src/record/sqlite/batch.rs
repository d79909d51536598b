//! Events that are written together as the rows that hold them, and back.

use funduq_agui::RelayedEvent;

/// What stands between two events of a row: a control character, which JSON texts have only as an escape.
const BETWEEN: char = '\u{1e}';
/// How large a row may grow by another event. A reader that wants one event reads its whole row.
const ROW_BYTES: usize = 64 << 10;

/// Some events in one row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// How many.
    pub(super) count: u64,
    /// Their bytes.
    pub(super) json: String,
}

/// The rows for these events, in their order.
pub(super) fn rows<'a>(events: impl Iterator<Item = &'a RelayedEvent>) -> impl Iterator<Item = Batch> {
    let mut events = events.peekable();
    std::iter::from_fn(move || {
        let first = events.next()?.json();
        // A row that others follow into is often a full one.
        let capacity = if events.peek().is_some() { first.len().max(ROW_BYTES) } else { first.len() };
        let mut row = Batch { count: 1, json: String::with_capacity(capacity) };
        row.json.push_str(first);
        while let Some(event) = events.next_if(|event| row.json.len() + event.json().len() < ROW_BYTES) {
            row.json.push(BETWEEN);
            row.json.push_str(event.json());
            row.count += 1;
        }
        Some(row)
    })
}

/// The events of a row.
pub(super) fn split(json: &str) -> impl Iterator<Item = &str> {
    json.split(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(delta: usize) -> RelayedEvent {
        let delta = "x".repeat(delta);
        RelayedEvent::parse(format!(r#"{{"type":"X","delta":"\u001e{delta}"}}"#)).unwrap()
    }

    fn back(events: &[RelayedEvent]) -> Vec<RelayedEvent> {
        let rows: Vec<_> = rows(events.iter()).collect();
        let all = rows.iter().flat_map(|row| {
            let events: Vec<_> = split(&row.json).map(|json| RelayedEvent::parse(json).unwrap()).collect();
            assert_eq!(events.len() as u64, row.count);
            events
        });
        all.collect()
    }

    #[test]
    fn events_come_back_as_they_were_whatever_their_sizes() {
        for sizes in [vec![], vec![0], vec![0, 1, 2], vec![ROW_BYTES], vec![1, ROW_BYTES, 1], vec![9; 10_000]]
        {
            let events: Vec<_> = sizes.into_iter().map(event).collect();
            assert_eq!(back(&events), events);
        }
    }

    #[test]
    fn small_events_share_a_row_that_stays_small_and_a_large_one_has_its_own() {
        let events = vec![event(100); 3000];
        let rows: Vec<_> = rows(events.iter()).collect();
        assert!(rows.len() < 10 && rows.iter().all(|row| row.json.len() <= ROW_BYTES), "{}", rows.len());
        let events = [event(1), event(2 * ROW_BYTES), event(1)];
        assert_eq!(self::rows(events.iter()).map(|row| row.count).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn what_stands_between_events_stands_in_none() {
        assert!(RelayedEvent::parse(format!("{{\"type\":\"X{BETWEEN}\"}}")).is_err());
        assert!(RelayedEvent::parse(format!("{{\"type\":{BETWEEN}\"X\"}}")).is_err());
    }
}
