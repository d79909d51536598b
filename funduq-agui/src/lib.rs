//! AG-UI 1.0 wire models, the relayed event, and the folds that funduq reads a run by.
