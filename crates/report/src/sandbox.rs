//! The program that runs Python, and its sandbox.

use mapstack::sandbox::SandboxReport;

/// The path of the program, and the active parts of its sandbox; or the reason why it cannot be asked, with advice.
#[must_use]
pub fn walls(found: Result<&SandboxReport, (&str, Option<&str>)>) -> String {
    let found = match found {
        Ok(found) => found,
        Err((why, help)) => {
            let help = help.unwrap_or("run it alone, which may show more");
            return format!("mapstack-python: {why}\n  help: {help}\n");
        }
    };
    let program = found.program.display();
    let mut text = format!("mapstack-python {} in {program}\n", found.release);
    for (wall, missing) in &found.walls {
        text += &match missing {
            None => format!("  active: {wall}\n"),
            Some(why) => format!("  missing: {wall}: {why}\n"),
        };
    }
    text
}
