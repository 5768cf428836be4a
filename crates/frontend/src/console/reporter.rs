//! Messages on standard error.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::inputs::flags::{Color, Messages};
use crate::inputs::{WarningSink, name_of};
use mapstack::minion::Minion;
use mapstack::secrets::{Redact, Redacted, Secrets};
use mapstack::{Diagnostic, Means, Severity};
use mapstack_fleet::{Masking, secrets_of};
use mapstack_lint::Finding;
use mapstack_report::message::{Level, Renderer, rendered};
use mapstack_report::terminal::sanitize;
use mapstack_report::words::count;

use crate::console::Failure;
use crate::console::allowance::Allowance;

/// Prints messages as the user asked for, and nothing that is secret: what it prints of others is [`Redacted`].
pub struct Reporter {
    /// The secrets of the minions that were read.
    secrets: RefCell<Secrets>,
    /// The secrets of any minion.
    usual: Secrets,
    shows_secrets: bool,
    renderer: Renderer,
    colored: bool,
    colored_output: bool,
    quiet: bool,
    strict: bool,
    allowance: Allowance,
    /// The messages to be printed, if they go elsewhere than to standard error.
    kept: Option<RefCell<Vec<(Severity, String)>>>,
}

impl Reporter {
    /// One that prints as these settings say. From now on messages name the flags of the command.
    #[must_use]
    pub fn new(messages: &Messages) -> Self {
        Means::named_by(name_of);
        let colored = |is_terminal: bool| match messages.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        let (colored, colored_output) = (
            colored(io::stderr().is_terminal()),
            colored(io::stdout().is_terminal()),
        );
        let (shows_secrets, usual) = (messages.secrets.show_secrets, messages.secrets.secrets());
        Reporter {
            secrets: RefCell::new(usual.clone()),
            usual,
            shows_secrets,
            renderer: renderer(colored),
            colored,
            colored_output,
            quiet: messages.quiet,
            strict: messages.strict,
            allowance: Allowance::default(),
            kept: None,
        }
    }

    /// One that prints nothing and keeps the texts of messages, so that they can be put elsewhere.
    #[must_use]
    pub fn keeping(&self) -> Self {
        Reporter {
            secrets: self.secrets.clone(),
            usual: self.usual.clone(),
            shows_secrets: self.shows_secrets,
            renderer: Renderer::plain(),
            colored: false,
            colored_output: self.colored_output,
            quiet: self.quiet,
            strict: self.strict,
            allowance: Allowance::default(),
            kept: Some(RefCell::default()),
        }
    }

    /// The messages that were kept since the last time, in order.
    #[must_use]
    pub fn take_kept(&self) -> Vec<(Severity, String)> {
        self.kept.as_ref().map(RefCell::take).unwrap_or_default()
    }

    /// True if the user wants to see everything.
    #[must_use]
    pub fn shows_secrets(&self) -> bool {
        self.shows_secrets
    }

    /// The values that reports keep back.
    pub fn masking(&self) -> Masking {
        Masking::new(self.usual.clone())
    }

    /// From now on messages are masked by these rules.
    pub fn mask_with(&self, secrets: &Secrets) {
        self.secrets.replace(secrets.clone());
    }

    /// Templates made these texts of secrets.
    pub fn knows_texts<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) {
        self.learns(|secrets| secrets.derived(texts));
    }

    fn learns(&self, learn: impl FnOnce(Secrets) -> Secrets) {
        let secrets = self.secrets.borrow().clone();
        self.secrets.replace(learn(secrets));
    }

    /// The secrets that are known so far.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        self.secrets.borrow().clone()
    }

    /// Something without what is known to be secret so far: for messages about the command's own minion, or about
    /// none.
    pub fn redact<T: Redact>(&self, given: &T) -> Redacted<T> {
        self.secrets.borrow().redact(given)
    }

    /// The same of several.
    pub fn redact_all<'g, T: Redact + 'g>(
        &self,
        given: impl IntoIterator<Item = &'g T>,
    ) -> Vec<Redacted<T>> {
        self.secrets.borrow().redact_all(given)
    }

    /// True if what goes to standard output is coloured.
    #[must_use]
    pub fn colors_output(&self) -> bool {
        self.colored_output
    }

    /// True if nothing may be wrong at all.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// True if only what is wrong is reported.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Say something on standard error.
    pub fn say(&self, message: &str) {
        if !self.quiet && !self.keep(Severity::Warning, message) {
            self.within_budget(|| sanitize(&self.redact(&message.to_owned())));
        }
    }

    /// A linter's finding for standard output.
    #[must_use]
    pub fn finding(&self, report: &mapstack_lint::LintReport, finding: &Finding) -> String {
        let level = match finding.level {
            mapstack_lint::Level::Error => Level::ERROR,
            mapstack_lint::Level::Warning => Level::WARNING,
            mapstack_lint::Level::Note => Level::NOTE,
        };
        let renderer = renderer(self.colored_output);
        let (diagnostic, rule) = (report.diagnostic(finding), finding.rule.name());
        rendered(
            &renderer,
            &diagnostic,
            level,
            Some(rule),
            finding.whole_file,
        )
    }

    /// Print warnings; under `--strict` the first becomes the failure.
    ///
    /// # Errors
    /// A warning, where warnings are errors.
    pub fn warn(&self, warnings: &[Redacted<Diagnostic>]) -> Result<(), Failure> {
        match warnings.first() {
            Some(first) if self.strict => {
                for other in &warnings[1..] {
                    self.print(&other.clone().map(|other| Diagnostic {
                        severity: Severity::Error,
                        ..other
                    }));
                }
                Err(Failure::Data(first.clone().into_inner().into()))
            }
            _ if self.quiet => Ok(()),
            _ => {
                warnings.iter().for_each(|warning| self.print(warning));
                Ok(())
            }
        }
    }

    /// Print errors that are part of a greater whole.
    pub fn report(&self, errors: impl IntoIterator<Item = Redacted<mapstack::Error>>) {
        errors
            .into_iter()
            .for_each(|error| self.print(&error.map(|error| error.diagnostic().clone())));
    }

    /// Print what is worth knowing, unless `--quiet` is given.
    pub fn note(&self, message: &str) {
        if !self.quiet && !self.keep(Severity::Warning, message) {
            self.within_budget(|| self.lined("note", message));
        }
    }

    /// True if progress is shown: on a terminal that the output does not go to, too.
    #[must_use]
    pub fn shows_progress(&self, output_elsewhere: bool) -> bool {
        !self.quiet
            && io::stderr().is_terminal()
            && (output_elsewhere || !io::stdout().is_terminal())
    }

    /// Print errors; the last becomes the failure.
    ///
    /// # Errors
    /// The last error, if there is one.
    pub fn errors(
        &self,
        errors: impl IntoIterator<Item = Redacted<mapstack::Error>>,
    ) -> Result<(), Failure> {
        let mut last: Option<Redacted<mapstack::Error>> = None;
        for error in errors {
            if let Some(before) = last.replace(error) {
                self.report([before]);
            }
        }
        last.map_or(Ok(()), |error| Err(error.into_inner().into()))
    }

    /// Turn the outcome of a verb into an exit status.
    pub fn finish(&self, outcome: Result<(), Failure>) -> ExitCode {
        let status = self.status(outcome);
        self.say_left_out();
        if self.usual.has_masked() {
            let (all, one) = (Means::ShowSecrets, Means::NoSecret);
            self.note(&format!(
                "secrets are masked: {all} prints them, {one} those under one name"
            ));
        }
        status
    }

    /// Say how many messages were left out so far, and begin a new count: work that never ends reports on each change.
    pub fn renew(&self) {
        self.say_left_out();
        self.allowance.renew();
    }

    fn say_left_out(&self) {
        let more = self.allowance.left_out();
        if more > 0 {
            let message = format!("{} not shown", count(more, "more message"));
            self.line("note", &message);
        }
    }

    fn status(&self, outcome: Result<(), Failure>) -> ExitCode {
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            // The reader of the output has closed it.
            Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(failure @ Failure::Output(_)) => {
                self.line("error", &failure.to_string());
                ExitCode::from(1)
            }
            Err(Failure::Found) => ExitCode::from(1),
            Err(Failure::Incomplete { message, status }) => {
                self.line("error", &message);
                ExitCode::from(status)
            }
            Err(Failure::Usage(message)) => {
                self.line("error", &message);
                ExitCode::from(2)
            }
            Err(Failure::Data(e)) => {
                // The last message is shown however many there were before.
                self.allowance.aside(|| self.report([self.redact(&e)]));
                ExitCode::from(1)
            }
        }
    }

    /// Standard error; it decides on colours by itself unless it is set.
    fn stderr(&self) -> anstream::AutoStream<io::Stderr> {
        let choice = if self.colored {
            anstream::ColorChoice::Always
        } else {
            anstream::ColorChoice::Never
        };
        anstream::AutoStream::new(io::stderr(), choice)
    }

    /// Say one line, however much was said before.
    fn line(&self, level: &str, message: &str) {
        self.write(&self.lined(level, message));
    }

    fn lined(&self, level: &str, message: &str) -> String {
        format!("{level}: {}", sanitize(&self.redact(&message.to_owned())))
    }

    /// Say something unless too much was said; then it is only counted.
    fn within_budget(&self, message: impl FnOnce() -> String) {
        if self.allowance.has_bytes() {
            self.write(&message());
        }
    }

    fn write(&self, message: &str) {
        self.allowance.count(message.len());
        // A closed standard error leaves nowhere to say it.
        let _ = writeln!(self.stderr(), "{message}");
    }

    /// Keep a message, if messages are kept.
    fn keep(&self, severity: Severity, message: &str) -> bool {
        if let Some(kept) = &self.kept {
            kept.borrow_mut()
                .push((severity, sanitize(&self.redact(&message.to_owned()))));
        }
        self.kept.is_some()
    }

    fn print(&self, diagnostic: &Redacted<Diagnostic>) {
        if !self.allowance.has_message() || self.keep(diagnostic.severity, &diagnostic.to_string())
        {
            return;
        }
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        self.within_budget(|| rendered(&self.renderer, diagnostic, level, None, false));
    }
}

impl WarningSink for Reporter {
    fn warn_of(&self, warnings: &[Diagnostic]) -> Result<(), mapstack::Error> {
        match self.warn(&self.redact_all(warnings)) {
            Err(Failure::Data(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn note_of(&self, message: &str) {
        self.note(message);
    }

    fn knows(&self, minion: &Minion) {
        self.learns(|secrets| secrets_of(secrets, minion));
    }
}

fn renderer(colored: bool) -> Renderer {
    if colored {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
}
