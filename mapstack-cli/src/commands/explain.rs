//! `mapstack explain`.

use mapstack::{DataOptions, Run};
use mapstack_inputs::Kwargs;
use mapstack_inputs::Warn as _;
use mapstack_report::explain::{self, Report, check_size};

use crate::cli::{Explain, ExplainFormat};
use crate::commands::session;
use crate::output::{self, key_path};
use crate::report::{Failure, Reporter};

pub fn run(args: &Explain, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .layering(&args.layering)?
        .into_map();
    let options = DataOptions::from_kwargs(&kwargs)?;
    let session = session(&args.input, reporter)?;
    let run = session.run();
    reporter.masking(&args.secrets)?;
    reporter.knows(&session.minion);
    let warn = |run: &Run<'_>| {
        reporter.knows_texts(run.secret_texts());
        reporter.warn(&reporter.redact_all(&run.warnings()))
    };
    if let Some(path) = &args.why_not {
        let served = session.served_path(path);
        let answer = run.why_not(&args.formula, &options, &served);
        warn(&run)?;
        return output::write_listing(&explain::why_not(
            &served,
            &answer?,
            &session.minion,
            &reporter.secrets(),
        ));
    }
    let explained = run.explain(&args.formula, &options);
    warn(&run)?;
    let (data, lineage) = explained?;
    let secrets = reporter.secrets();
    check_size(&data)?;
    let path = args
        .key
        .as_deref()
        .map(|key| -> Result<_, Failure> { Ok(explain::path(&data, &key_path(key)?)?) })
        .transpose()?;
    let report = Report::new(&lineage, &secrets, &session.minion, &args.formula);
    #[cfg(feature = "html")]
    if let Some(file) = &args.html {
        let html = report.html(path.as_deref().unwrap_or_default())?;
        return output::write_file(file, &html);
    }
    let text = match (args.format, &path) {
        (ExplainFormat::Json, path) => {
            return output::write_json(&report.rows(path.as_deref().unwrap_or_default()));
        }
        (ExplainFormat::Text, Some(path)) => report.history(path, reporter.colors_output()),
        (ExplainFormat::Text | ExplainFormat::Blame, path) => report.blame(
            &data,
            path.as_deref().unwrap_or_default(),
            reporter.colors_output(),
        ),
    };
    output::write_styled(&text, reporter.colors_output())
}
