//! The routes: each file a part of the table in the README, joined here.

mod a2a;
mod agents;
mod agui;
mod kyok;
mod metrics;
mod page;
mod runs;
mod service;
mod threads;
mod tickets;
mod view;

use std::sync::Arc;

use axum::extract::Request;
use axum::{Router, middleware};

use crate::app::App;
use crate::http::peer::Peer;
use crate::http::{origin, requests};
use crate::link;

/// Every route of the gateway.
pub(crate) fn router(app: Arc<App>) -> Router {
    let origins = app.config.cors_origins.clone();
    let at_the_door = Arc::clone(&app);
    let strip = move |mut request: Request| {
        let peer = request.extensions().get::<Peer>().cloned();
        at_the_door.presenters.strip(request.headers_mut(), peer.as_ref());
        std::future::ready(request)
    };
    let router = Router::new()
        .merge(agui::routes())
        .merge(a2a::routes())
        .merge(agents::routes())
        .merge(kyok::routes())
        .merge(threads::routes())
        .merge(runs::routes())
        .merge(tickets::routes())
        .merge(service::routes())
        .merge(metrics::routes())
        .merge(link::routes())
        .fallback(requests::not_found)
        .method_not_allowed_fallback(requests::method_not_allowed)
        .with_state(Arc::clone(&app));
    // From the inside out: a page is to read also that a limit was met, and every answer is noted.
    let router = origin::refuse_others(router, &origins);
    let router = router.layer(middleware::from_fn_with_state(Arc::clone(&app), requests::limit));
    let router = origin::let_read(router, &origins).layer(middleware::map_request(strip));
    router.layer(middleware::from_fn_with_state(app, requests::note))
}
