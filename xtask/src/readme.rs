//! `cargo xtask readme`: the README's section on running a funduq for others, followed word for word but for its port.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::interop::without_configuration;
use crate::shell;
use crate::workspace::Workspace;

/// The section.
const HEADING: &str = "## Run it for others";
/// The port that it names; another one is free for certain.
const PORT: &str = ":8443";
/// How long it may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Builds `funduq`, and gives the section's commands to a shell in an empty folder, as one would paste them.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let funduq = workspace.build("funduq")?;
    let readme = workspace.root().join("README.md");
    let readme = std::fs::read_to_string(&readme).with_context(|| format!("reading {}", readme.display()))?;
    let commands = commands(&readme, HEADING);
    ensure!(!commands.is_empty(), "the README has no commands under `{HEADING}`");
    ensure!(commands.contains(PORT), "the commands under `{HEADING}` name no port {PORT}");
    let commands = commands.replace(PORT, &format!(":{}", free_port()?));
    let scratch = tempfile::tempdir()?;
    let mut path: Vec<PathBuf> = funduq.parent().map(Into::into).into_iter().collect();
    path.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    let mut shell = Command::new("sh");
    // Whatever fails ends it, and what it left running with it.
    let script = format!("trap 'kill $! 2>/dev/null || :' EXIT\n{commands}");
    shell.args(["-eu", "-c", &script]).current_dir(scratch.path()).stdin(Stdio::null());
    shell.env("PATH", std::env::join_paths(path)?).env("NO_PROXY", "localhost");
    shell::run_within(without_configuration(&mut shell), LIMIT)
}

/// A port of loopback on which nobody listens.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0").context("looking for a free port")?.local_addr()?.port())
}

/// What stands in the blocks of shell commands of a section.
fn commands(readme: &str, heading: &str) -> String {
    let section = readme.lines().skip_while(|line| *line != heading).skip(1);
    let section = section.take_while(|line| !line.starts_with("## "));
    let (mut commands, mut within) = (String::new(), false);
    for line in section {
        match line {
            "```sh" => within = true,
            "```" => within = false,
            line if within => {
                commands.push_str(line);
                commands.push('\n');
            }
            _ => {}
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_one_section_are_taken_and_nothing_else() {
        let readme = "## A\n```sh\nno\n```\n## B\ntext\n```sh\none\ntwo \\\n```\n```toml\nno\n```\n```sh\nthree\n```\n## C\n```sh\nno\n```\n";
        assert_eq!(commands(readme, "## B"), "one\ntwo \\\nthree\n");
        assert_eq!(commands(readme, "## D"), "");
    }
}
