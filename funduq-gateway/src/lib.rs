//! The reference host: every socket in front of the relay, configuration and the command line.
//!
//! The binary `funduq` is [`cli::main`]; a program that wants the gateway inside itself starts a [`Gateway`].

mod admin;
mod announce;
mod app;
pub mod cli;
mod config;
mod data_dir;
mod demo;
mod descriptors;
mod directory;
mod enrolment;
mod files;
mod gateway;
mod health;
mod http;
mod limits;
mod link;
mod logs;
mod metrics;
mod presenters;
mod routes;
mod serve;
mod sse;
mod tokens;

pub use config::{
    Bytes, Config, ConfigError, Durability, Enrolment, Faults, FilePath, InvalidValue, Listen, LogFormat,
    Networks, Options, Origins, PresenterHeader, PublicUrl, Rate, Reads, Shown, Source, Span,
};
pub use data_dir::DataDirError;
pub use files::{BadLine, FileError};
pub use gateway::{Gateway, StartError};
pub use http::tls::CertificateError;

/// The agent in the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
