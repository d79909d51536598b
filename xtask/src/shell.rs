//! Running a command so that a reader of the log sees what ran and how it ended.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How often a wait with a limit looks again.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())));
        }
    }
    words.push(quoted(&command.get_program().to_string_lossy()));
    words.extend(command.get_args().map(|arg| quoted(&arg.to_string_lossy())));
    words.join(" ")
}

/// Prints the command.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", line(command));
}

/// Runs the command to its end; its failure is an error that quotes it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command.status().with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", line(command));
    }
    Ok(())
}

/// Runs the command to its end, but no longer than `limit`.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    announce(command);
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", line(command)))?;
    match wait_within(&mut child, limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("`{}` failed: {status}", line(command)),
        None => {
            child.kill().context("ending a command that took too long")?;
            child.wait().context("ending a command that took too long")?;
            bail!("`{}` did not end within {limit:?}", line(command))
        }
    }
}

/// The child's exit, or `None` when it still runs after `limit`.
pub(crate) fn wait_within(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().context("waiting for a child process")? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_quoted_so_that_it_can_be_pasted() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c 'exit 3'` failed: exit status: 3");
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let error = run_within(Command::new("sleep").arg("60"), Duration::from_millis(60)).unwrap_err();
        assert!(error.to_string().starts_with("`sleep 60` did not end within"), "{error}");
    }
}
