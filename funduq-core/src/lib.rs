//! The relay: doors, dispatch, links and the record. It never listens and never dials.
