//! The lineages of a thread as a list, by one index.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value};

use super::read::{Page, count, run_by_number};
use crate::record::StoreError;
use crate::record::tasks::{TaskPage, TaskPlace, TaskQuery, TaskStanding};

/// A tail is a run that no other answers.
const TAILS: &str = "FROM runs WHERE thread_no = ?1 AND waiting <> 2";

pub(super) fn tasks(db: &Connection, query: &TaskQuery) -> Result<TaskPage, StoreError> {
    let thread: Option<i64> = db
        .prepare_cached("SELECT no FROM threads WHERE id = ?1")?
        .query_row([query.thread.as_str()], |row| row.get(0))
        .optional()?;
    let Some(thread) = thread else { return Ok(TaskPage { tails: Vec::new(), more: false, total: 0 }) };
    let mut filter = String::from(TAILS);
    if let Some(standing) = query.standing {
        filter.push_str(match standing {
            TaskStanding::Unclaimed => " AND status IN ('queued', 'offering')",
            TaskStanding::Claimed => " AND status IN ('running', 'cancelling')",
            TaskStanding::Waiting => " AND waiting = 1",
            TaskStanding::Completed => " AND status = 'completed' AND waiting = 0",
            TaskStanding::Failed => " AND status = 'failed'",
            TaskStanding::Cancelled => " AND status = 'cancelled'",
        });
    }
    let since = query.since.unwrap_or(i64::MIN);
    filter.push_str(" AND updated_at >= ?2");
    let total: i64 = db
        .prepare_cached(&format!("SELECT count(*) {filter}"))?
        .query_row(params![thread, since], |row| row.get(0))?;
    let mut values =
        vec![Value::from(thread), Value::from(since), Value::from(count(query.limit.saturating_add(1)))];
    if let Some(after) = query.after {
        filter.push_str(" AND (updated_at, no) < (?4, ?5)");
        values.push(after.updated_at.into());
        values.push(i64::try_from(after.number).unwrap_or(i64::MAX).into());
    }
    let places = format!("SELECT updated_at, no {filter} ORDER BY updated_at DESC, no DESC LIMIT ?3");
    let mut statement = db.prepare_cached(&places)?;
    let places = statement.query_map(params_from_iter(values), |row| {
        Ok(TaskPlace { updated_at: row.get(0)?, number: row.get::<_, i64>(1)?.unsigned_abs() })
    })?;
    let mut places = places.collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut page = Page::default();
    let mut tails = Vec::new();
    for place in places.by_ref().take(query.limit) {
        // It may have changed since it was placed; where it stands in this list is where it stood then.
        run_by_number(db, place.number, &mut page)?;
        tails.extend(page.items.pop().map(|run| (place, run)));
        if page.is_full() {
            break;
        }
    }
    Ok(TaskPage { tails, more: places.next().is_some(), total: total.unsigned_abs() })
}
