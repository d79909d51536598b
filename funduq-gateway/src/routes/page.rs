//! One page of a list of the record: bounded in items and in bytes, each item as the JSON that it is.

use std::future::Future;

use axum::response::Response;
use funduq_core::StoreError;
use http::StatusCode;

use crate::http::error::ApiError;
use crate::http::extract::Page;
use crate::http::json;

/// How many bytes of items fill a page.
const BUDGET: usize = 16 << 20;
/// How many items are read first; how large they are decides how many are read then.
const FIRST_READ: usize = 16;
/// The most items of one read.
const MAX_READ: usize = 512;

/// An item of a list.
pub(super) trait Item {
    /// Where it stands in its list; the page after it begins there.
    fn position(&self, before: u64) -> u64;
    /// Writes it.
    fn write(&self, json: &mut String);
}

/// Answers with `{"{name}": […], "next": …}`. `next` is the `after` of the next page, and left out on the last one.
///
/// `read` has the items after a position, at most so many; where it has fewer, the record had enough of what they hold.
pub(super) async fn answer<T: Item, F: Future<Output = Result<Vec<T>, StoreError>>>(
    name: &str,
    page: Page,
    read: impl Fn(u64, usize) -> F,
) -> Result<Response, ApiError> {
    let mut body = format!("{{\"{name}\":[");
    let next = fill(&mut body, page, read).await?;
    body.push(']');
    if let Some(next) = next {
        body.push_str(&format!(",\"next\":{next}"));
    }
    body.push('}');
    Ok(json::text(StatusCode::OK, body))
}

async fn fill<T: Item, F: Future<Output = Result<Vec<T>, StoreError>>>(
    body: &mut String,
    page: Page,
    read: impl Fn(u64, usize) -> F,
) -> Result<Option<u64>, StoreError> {
    let begin = body.len();
    let (mut after, mut left, mut reading) = (page.after, page.limit(), FIRST_READ);
    loop {
        // One more than is wanted tells whether there is more.
        let wanted = reading.min(left + 1);
        let items = read(after, wanted).await?;
        let is_short = items.len() < wanted;
        for item in items {
            let written = body.len() - begin;
            if left == 0 || written >= BUDGET {
                return Ok(Some(after));
            }
            if written > 0 {
                body.push(',');
            }
            item.write(body);
            after = item.position(after);
            left -= 1;
        }
        if is_short {
            return Ok((!read(after, 1).await?.is_empty()).then_some(after));
        }
        let written = body.len() - begin;
        let mean = written / (page.limit() - left).max(1);
        reading = (BUDGET.saturating_sub(written) / mean.max(1)).clamp(1, MAX_READ);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Number(u64, usize);

    impl Item for Number {
        fn position(&self, _before: u64) -> u64 {
            self.0
        }

        fn write(&self, json: &mut String) {
            let number = self.0.to_string();
            json.push_str(&"0".repeat(self.1.saturating_sub(number.len())));
            json.push_str(&number);
        }
    }

    /// A page of the numbers from 1 to `count`, each written with `width` digits; and how many were read at most at once.
    async fn page(after: u64, limit: usize, count: u64, width: usize) -> (String, Option<u64>, usize) {
        let most = Mutex::new(0);
        let read = |after: u64, limit: usize| {
            let items: Vec<_> = (after + 1..=count).take(limit).map(|n| Number(n, width)).collect();
            let mut most = most.lock().unwrap();
            *most = items.len().max(*most);
            async move { Ok(items) }
        };
        let mut body = String::new();
        let page = serde_json::from_value(serde_json::json!({ "after": after, "limit": limit })).unwrap();
        let next = fill(&mut body, page, read).await.unwrap();
        (body, next, most.into_inner().unwrap())
    }

    #[tokio::test]
    async fn the_last_page_says_that_it_is_by_saying_nothing() {
        assert_eq!(page(0, 3, 3, 1).await.0, "1,2,3");
        assert_eq!(page(0, 3, 3, 1).await.1, None);
        assert_eq!(page(0, 3, 4, 1).await.1, Some(3));
        assert_eq!(page(3, 3, 4, 1).await.0, "4");
        assert_eq!(page(9, 3, 4, 1).await.0, "");
        assert_eq!(page(0, 1000, 700, 1).await.1, None);
    }

    #[tokio::test]
    async fn a_read_that_was_cut_short_ends_the_page_and_not_the_list() {
        // A record that gives three at a time, as it does where they hold much that is not shown.
        let read = |after: u64, limit: usize| {
            let items: Vec<_> = (after + 1..=6).take(limit.min(3)).map(|n| Number(n, 1)).collect();
            async move { Ok(items) }
        };
        for (after, shown, next) in [(0, "1,2,3", Some(3)), (3, "4,5,6", None)] {
            let mut body = String::new();
            let page =
                serde_json::from_value(serde_json::json!({ "after": after, "limit": 3 + after })).unwrap();
            assert_eq!(fill(&mut body, page, read).await.unwrap(), next);
            assert_eq!(body, shown);
        }
    }

    #[tokio::test]
    async fn large_items_make_a_short_page_and_short_reads() {
        let (body, next, most) = page(0, 1000, 1000, 1 << 20).await;
        assert_eq!(next, Some(16));
        assert!(body.len() < 17 << 20);
        assert!(most <= FIRST_READ);
    }
}
