//! Variables of the environment that look like settings and are none. They are told and not refused: programs beside this
//! one may have variables of their own that begin so.

use crate::config::unknown;

/// What they begin with.
const PREFIX: &str = "FUNDUQ_";

/// A sentence for each of these names that no command reads.
pub(super) fn strangers(cli: &clap::Command, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let arguments = cli.get_subcommands().flat_map(clap::Command::get_arguments);
    let known: Vec<_> = arguments.filter_map(|argument| argument.get_env()?.to_str()).collect();
    let strangers =
        names.into_iter().filter(|name| name.starts_with(PREFIX) && !known.contains(&name.as_str()));
    let mut told: Vec<_> = strangers.map(|name| unknown(&name, &known)).collect();
    told.sort();
    told
}

/// The names in this process's environment.
pub(super) fn names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn a_variable_that_nobody_reads_is_told_with_the_nearest_that_somebody_does() {
        let names =
            ["FUNDUQ_LISTN", "FUNDUQ_LISTEN", "FUNDUQ_CONFIG", "FUNDUQ_URL", "PATH"].map(str::to_owned);
        let told = strangers(&Cli::command(), names);
        assert_eq!(told, ["there is no setting `FUNDUQ_LISTN`; did you mean `FUNDUQ_LISTEN`?"]);
    }
}
