//! Panics in core's tasks, which the runtime would swallow.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
    static WATCHING: RefCell<bool> = const { RefCell::new(false) };
}

/// Keeps the panics of this thread from now on, instead of printing them.
pub(crate) fn watch() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if WATCHING.with_borrow(|watching| *watching) {
                SEEN.with_borrow_mut(|seen| seen.get_or_insert_with(|| panic.to_string()).len());
            } else {
                usual(panic);
            }
        }));
    });
    WATCHING.set(true);
    SEEN.set(None);
}

pub(crate) fn seen() -> bool {
    SEEN.with_borrow(Option::is_some)
}

/// The first panic since [`watch`], which it ends.
pub(crate) fn take() -> Option<String> {
    WATCHING.set(false);
    SEEN.take()
}
