//! `mapstack lint`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use mapstack::secrets::Redacted;
use mapstack::{Error, ErrorKind, Survey, UnansweredCall};
use mapstack_fleet::by_reason;
use mapstack_frontend::budget::RUN;
use mapstack_frontend::inputs::flags::SiteFlags;
use mapstack_frontend::inputs::{LintMinions, LintTargets, NoWarnings, RevisionPaths, formulas};
use mapstack_lint::fix::{distinct, fixed};
use mapstack_lint::pillar::{Minions, PillarLinter};
use mapstack_lint::since::only_new;
use mapstack_lint::{
    Estate, Finding, Level, Levels, LintReport, Linter, Rule, SchemaFrom, TopOptions, not_checked,
};
use mapstack_report::lint;
use mapstack_report::words::{count, some};

use crate::memory;
use crate::output;
use mapstack_frontend::console::{Failure, Reporter, not_read, report_reasons, report_unread};

#[derive(Debug, Args)]
#[command(after_help = "\
lint runs formulas for one minion of each built-in platform, or for the given minions. The runs show
which files are never read and which overrides change nothing. With a configuration that sets
pillar_roots, lint checks the pillar as well.

Examples:
  mapstack lint users --root examples/formulas
      one formula; without a name all of them
  mapstack lint --root examples/formulas --platform debian-12 --platform rockylinux-9
      for two systems only
  mapstack lint --root examples/formulas --fix --diff
      what --fix would change
  mapstack lint --root . --format github
      in a workflow: findings are shown at the lines of a pull request
  mapstack lint pillar --config master --config-kind master --minions minions
      only the pillar, for the minions of a directory
  mapstack lint --since main
      only the findings that a branch adds to those of main
  mapstack lint --explain yaml-octal
      what a rule finds, why it matters, and what to do
  mapstack lint users --root examples/formulas --calls
      the functions that templates call, and who answers them

Comments silence rules: `# mapstack-lint: ignore=RULE` for a line,
`# mapstack-lint: ignore-file=RULE` for a file.

Exit status: 0 no errors, 1 errors (with --strict: or warnings), 2 wrong usage.")]
pub struct Lint {
    /// Formulas: their folders below a root; `pillar` is the pillar [default: all]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Findings::Text, value_name = "FORMAT")]
    pub format: Findings,
    /// Switch a rule off (repeatable)
    #[arg(long, value_name = "RULE")]
    pub ignore: Vec<String>,
    /// Set the level of a rule: error, warning, note or off (repeatable)
    #[arg(long, value_name = "RULE=LEVEL")]
    pub level: Vec<String>,
    /// Change what can be changed without doing harm
    #[arg(long)]
    pub fix: bool,
    /// Print the changes of --fix and change nothing
    #[arg(long, requires = "fix")]
    pub diff: bool,
    /// Check values against a JSON Schema: the own schema.yaml or schema.json of a formula or the pillar, or this file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub schema: Option<Option<PathBuf>>,
    /// Show every finding, also those with one cause
    #[arg(long)]
    pub each: bool,
    /// Leave out what this revision of the repository has as well, wherever its lines are now
    #[arg(long, value_name = "REV", conflicts_with_all = ["rules", "calls", "explain"])]
    pub since: Option<String>,
    /// List the rules
    #[arg(long)]
    pub rules: bool,
    /// Say everything about a rule
    #[arg(long, value_name = "RULE", conflicts_with_all = ["fix", "rules", "calls"], hide_short_help = true)]
    pub explain: Option<String>,
    /// List every salt[...] function the templates can call, what answers it, and where it is called
    #[arg(long, conflicts_with_all = ["fix", "rules"])]
    pub calls: bool,
    #[command(flatten)]
    pub site: SiteFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Findings {
    /// For people, with excerpts
    Text,
    /// For programs
    Json,
    /// For code scanners: SARIF 2.1.0
    Sarif,
    /// For workflows of GitHub
    Github,
    /// With --calls: the calls that nothing answers, as a file for --stub to be filled in
    Yaml,
    /// One page for a browser
    #[cfg(feature = "html")]
    Html,
}

pub fn run(args: &Lint, reporter: &Reporter) -> Result<(), Failure> {
    if args.rules {
        return output::write(&lint::rules());
    }
    if let Some(name) = &args.explain {
        return explain(name);
    }
    if args.format == Findings::Yaml && !args.calls {
        return print(args, &[], &lint::UncheckedSubjects::default(), reporter);
    }
    let linted = LintTargets::of(&args.formulas, &args.site, memory::limit, reporter)?;
    if args.calls {
        return calls(args, linted, reporter);
    }
    let options = CheckOptions {
        levels: &levels(args)?,
        schema: &schema(args, &linted)?,
    };
    let checks = Checks::of(args, &linted, options, reporter)?;
    let mut aside = lint::UncheckedSubjects {
        broken: checks.broken.clone(),
        unserved: linted.unserved(&args.site.files, &args.formulas)?,
        old: None,
    };
    let before = match &args.since {
        Some(revision) => Some(EarlierFindings::at(revision, args, options, reporter)?),
        None => None,
    };
    let mut reports = checks.reports()?;
    leave_out(&mut reports, before.as_ref(), &mut aside);
    if args.fix {
        fix(&reports, args.diff, reporter)?;
        if args.diff {
            return Ok(());
        }
        // A fix may uncover further findings, in files that the first look has kept.
        let linted = LintTargets::of(&args.formulas, &args.site, memory::limit, &NoWarnings)?;
        reports = Checks::of(args, &linted, options, reporter)?.reports()?;
        leave_out(&mut reports, before.as_ref(), &mut aside);
    }
    say_others(args, &linted, reporter)?;
    print(args, &reports, &aside, reporter)?;
    let broken = aside.broken.iter().map(|(id, error)| (&**id, error));
    report_reasons(by_reason(broken), reporter);
    ended(&linted, &checks.marks.saltenvs, &reports, &aside, reporter)
}

/// Print the page of a rule.
fn explain(name: &str) -> Result<(), Failure> {
    let rule = Rule::from_name(name).map_err(Failure::Usage)?;
    output::write(&format!(
        "{}Flags do it for one run: `--ignore {rule}`, `--level {rule}=note`.\n",
        rule.page()
    ))
}

/// The options of all checks.
#[derive(Clone, Copy)]
struct CheckOptions<'h> {
    levels: &'h Levels,
    schema: &'h SchemaFrom,
}

/// The minions and their pillars, as far as they are known.
struct Marks {
    /// The minions that are assumed in place of others.
    examples: BTreeSet<String>,
    /// The minions whose grains are assumed.
    assumed: BTreeSet<String>,
    /// True if no part of the pillar is known to lie elsewhere.
    is_whole: bool,
    /// The saltenvs of the states.
    saltenvs: Vec<String>,
}

/// The checks of one state of the files, for the minions that can be read.
struct Checks<'l> {
    linted: &'l LintTargets,
    linter: Linter<'l>,
    of_pillar: Option<(String, LintReport)>,
    marks: Marks,
    broken: Vec<(String, Redacted<Error>)>,
}

impl<'l> Checks<'l> {
    fn of(
        args: &'l Lint,
        linted: &'l LintTargets,
        CheckOptions { levels, schema }: CheckOptions<'_>,
        reporter: &Reporter,
    ) -> Result<Self, Failure> {
        let LintMinions {
            minions,
            are_known,
            examples,
            assumed,
            broken,
        } = linted.minions(&args.site, memory::limit, reporter)?;
        let broken = broken
            .into_iter()
            .map(|(id, error)| (id, reporter.redact(&error)));
        let broken: Vec<_> = broken.collect();
        if minions.is_empty() && !broken.is_empty() {
            let reasons = by_reason(broken.iter().map(|(id, error)| (&**id, error)));
            report_reasons(reasons, reporter);
            return Err(not_read(broken.len(), 0));
        }
        let (of_pillar, minions) = match &linted.pillars {
            Some(pillars) => {
                let linter = PillarLinter::new(pillars.master(), pillars.engine())
                    .levels(levels.clone())
                    .secrets(reporter.masking().of([]))
                    .schema(schema.clone())
                    .assumes_grains(!assumed.is_empty())
                    .missing_roots(missing_roots(args));
                let are_all = are_known && broken.is_empty();
                let (report, minions) = linter.lint(&Minions::given(minions, are_all))?;
                let named = ("pillar".to_owned(), report);
                (
                    Some(named),
                    LintTargets::changed(minions, &args.site.facts)?,
                )
            }
            None => (None, minions),
        };
        let secrets = reporter.masking().of(&minions);
        reporter.mask_with(&secrets);
        let linter = Linter::new(&linted.engine)
            .minions(minions)
            .levels(levels.clone())
            .secrets(secrets)
            .saltenv(saltenv(args))
            .schema(schema.clone());
        reporter.warn(&reporter.redact_all(&linter.warnings_of_grains()))?;
        Ok(Checks {
            linted,
            linter,
            of_pillar,
            marks: Marks {
                examples,
                assumed,
                is_whole: args.site.files.has_whole_pillar()
                    && args.site.functions.absent.is_empty(),
                saltenvs: saltenvs(args, linted),
            },
            broken,
        })
    }

    fn reports(&self) -> Result<Vec<(String, LintReport)>, Error> {
        all(&self.linter, self.linted, &self.of_pillar, &self.marks)
    }
}

/// The findings of a revision.
struct EarlierFindings {
    reports: Vec<(String, LintReport)>,
    paths: RevisionPaths,
}

impl EarlierFindings {
    fn at(
        revision: &str,
        args: &Lint,
        options: CheckOptions<'_>,
        reporter: &Reporter,
    ) -> Result<Self, Failure> {
        let paths = RevisionPaths::of(revision, &args.site.files)?;
        let linted = LintTargets::before(revision, &args.formulas, &args.site, memory::limit)?;
        let reports = match &linted {
            Some(linted) => Checks::of(args, linted, options, reporter)?.reports()?,
            None => Vec::new(),
        };
        Ok(EarlierFindings { reports, paths })
    }
}

/// Leave out the findings that are old.
fn leave_out(
    reports: &mut [(String, LintReport)],
    before: Option<&EarlierFindings>,
    aside: &mut lint::UncheckedSubjects,
) {
    if let Some(EarlierFindings {
        reports: old,
        paths,
    }) = before
    {
        let now = |text: &str| paths.of_now(text);
        let then = |text: &str| paths.of_then(text);
        let old = only_new(reports, &now, old, &then);
        aside.old = Some((paths.revision().to_owned(), old));
    }
}

/// The roots of the pillar that the checkout lacks.
fn missing_roots(args: &Lint) -> Vec<String> {
    let project = args.site.files.project.as_ref();
    let estate = project.and_then(|project| project.estate.as_ref());
    estate.map_or_else(Vec::new, |estate| estate.missing_pillars.clone())
}

/// The reports of the states of an estate, of formulas and of the pillar, as far as the budget of the run goes.
fn all(
    linter: &Linter<'_>,
    linted: &LintTargets,
    of_pillar: &Option<(String, LintReport)>,
    Marks {
        examples,
        assumed,
        is_whole,
        saltenvs,
    }: &Marks,
) -> Result<Vec<(String, LintReport)>, Error> {
    let mut reports = Vec::new();
    if let Some(states) = &linted.estate {
        let broken = of_pillar.iter().flat_map(|(_, report)| &report.broken);
        let left_out = of_pillar.iter().flat_map(|(_, report)| &report.left_out);
        let estate = Estate {
            options: TopOptions::of(&states.options),
            others: states.others.clone(),
            broken: broken.cloned().collect(),
            left_out: left_out.cloned().collect(),
            examples: examples.clone(),
            assumed: assumed.clone(),
            pillar: of_pillar.as_ref().and_then(|(_, report)| {
                let is_whole = *is_whole && report.left_out.is_empty();
                report.keys.clone().filter(|_| is_whole)
            }),
        };
        let mut found = linter.lint_saltenvs(saltenvs, &estate);
        for saltenv in saltenvs {
            let report = within_budget(|| found.next().transpose());
            let Some(report) = report?.flatten() else {
                break;
            };
            reports.push((name_of_states(saltenv), report));
        }
    }
    // The states' reports have the findings of formulas among them.
    let mut said = PlacedFindings::default();
    for (_, report) in &reports {
        said.add(&report.findings);
    }
    for formula in &linted.formulas {
        let Some(mut report) = within_budget(|| linter.lint(formula))? else {
            break;
        };
        report.findings.retain(|finding| !said.has(finding));
        said.add(&report.findings);
        reports.push((formula.clone(), report));
    }
    reports.extend(of_pillar.iter().cloned());
    Ok(reports)
}

/// The name of the report about an estate's states.
fn name_of_states(saltenv: &str) -> String {
    match saltenv {
        "base" => "states".to_owned(),
        saltenv => format!("states of {saltenv}"),
    }
}

/// The saltenvs of an estate whose states are looked at: the one that is requested, or those that have roots.
fn saltenvs(args: &Lint, linted: &LintTargets) -> Vec<String> {
    if let Some(saltenv) = &args.site.files.saltenv {
        return vec![saltenv.clone()];
    }
    // Files of `__env__` are those of any saltenv.
    let mut others = linted.engine.files().envs();
    others.retain(|saltenv| !matches!(&**saltenv, "base" | "__env__"));
    others.insert(0, "base".into());
    others
}

/// A report; nothing once the budget of the run is used up.
fn within_budget<T>(lint: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
    if RUN.spent().is_some() {
        return Ok(None);
    }
    match lint() {
        Err(_) if RUN.spent().is_some() => Ok(None),
        report => report.map(Some),
    }
}

/// Findings by their places.
#[derive(Default)]
struct PlacedFindings(HashMap<(String, usize), Vec<Finding>>);

impl PlacedFindings {
    fn has(&self, finding: &Finding) -> bool {
        let place = (finding.place.file.clone(), finding.place.start);
        let here = self.0.get(&place);
        here.is_some_and(|here| here.contains(finding))
    }

    fn add(&mut self, findings: &[Finding]) {
        for finding in findings {
            let place = (finding.place.file.clone(), finding.place.start);
            self.0.entry(place).or_default().push(finding.clone());
        }
    }
}

/// The failure of a run that did not come to its end within its budget: what ran out, and what was not reached.
fn out_of_budget(
    linted: &LintTargets,
    saltenvs: &[String],
    reports: &[(String, LintReport)],
) -> Option<Failure> {
    let spent = RUN.spent()?;
    let of_states = linted.estate.iter().flat_map(|_| saltenvs);
    let of_states: Vec<String> = of_states.map(|saltenv| name_of_states(saltenv)).collect();
    let asked = of_states.iter().chain(&linted.formulas);
    let asked: Vec<&str> = asked.map(String::as_str).collect();
    let whole: BTreeSet<&str> = reports
        .iter()
        .filter(|(_, report)| report.unfinished == 0)
        .map(|(name, _)| &**name)
        .collect();
    let missed: Vec<&str> = asked
        .iter()
        .copied()
        .filter(|name| !whole.contains(name))
        .collect();
    if missed.is_empty() {
        return None;
    }
    Some(Failure::Incomplete {
        message: format!(
            "{spent}: {} of {} not looked at to the end: {} ({})",
            missed.len(),
            asked.len(),
            some(&missed, NAMED),
            spent.help()
        ),
        status: if reports.is_empty() { 2 } else { 1 },
    })
}

/// The number of names in a message.
const NAMED: usize = 5;

/// The end of the verb.
fn ended(
    linted: &LintTargets,
    saltenvs: &[String],
    reports: &[(String, LintReport)],
    aside: &lint::UncheckedSubjects,
    reporter: &Reporter,
) -> Result<(), Failure> {
    if let Some(failure) = out_of_budget(linted, saltenvs, reports) {
        return Err(failure);
    }
    // "Nothing found" is said of what was looked at.
    let is_nothing = |report: &LintReport| {
        report.files == 0 && report.looked.states == 0 && report.findings.is_empty()
    };
    if reports.iter().all(|(_, report)| is_nothing(report)) {
        return Err(Failure::Usage(
            "nothing was looked at: the roots have no files; `mapstack init --print` shows what was taken for what".into(),
        ));
    }
    if !aside.broken.is_empty() {
        let looked_at = reports.iter().map(|(_, report)| report.minions).max();
        return Err(not_read(aside.broken.len(), looked_at.unwrap_or_default()));
    }
    let least = if reporter.is_strict() {
        Level::Warning
    } else {
        Level::Error
    };
    let mut found = reports.iter().flat_map(|(_, report)| &report.findings);
    match found.any(|finding| finding.level >= least) {
        true => Err(Failure::Found),
        false => Ok(()),
    }
}

/// Say which folders of the roots are not formulas, where all that are were checked.
fn say_others(args: &Lint, linted: &LintTargets, reporter: &Reporter) -> Result<(), Failure> {
    let are_all = args.formulas.is_empty() && !linted.formulas.is_empty();
    if are_all && linted.estate.is_none() && args.format == Findings::Text {
        let others = formulas::others(&linted.engine, saltenv(args))?;
        lint::not_formulas(&others)
            .iter()
            .for_each(|note| reporter.say(note));
    }
    Ok(())
}

/// The schema that values are checked against.
fn schema(args: &Lint, linted: &LintTargets) -> Result<SchemaFrom, Failure> {
    let Some(given) = &args.schema else {
        return Ok(SchemaFrom::Nowhere);
    };
    if cfg!(not(feature = "json-schema")) {
        return Err(Failure::Usage(format!("--schema: {}", not_checked())));
    }
    let Some(file) = given else {
        return Ok(SchemaFrom::Own);
    };
    if linted.pillars.is_some() && !linted.formulas.is_empty() {
        let message = "--schema=FILE is for formulas or for the pillar: name what to check";
        return Err(Failure::Usage(message.into()));
    }
    let (text, name) = mapstack_frontend::inputs::text_file(file)?;
    Ok(SchemaFrom::File { name, text })
}

fn saltenv(args: &Lint) -> &str {
    args.site.files.saltenv.as_deref().unwrap_or("base")
}

/// Print the findings, and the remarks beside them.
fn print(
    args: &Lint,
    reports: &[(String, LintReport)],
    aside: &lint::UncheckedSubjects,
    reporter: &Reporter,
) -> Result<(), Failure> {
    match args.format {
        Findings::Text => text(&lint::LintText::new(reports, aside), args.each, reporter),
        Findings::Json => output::write_json(&lint::Findings::new(reports, aside)),
        Findings::Sarif => output::write_json(&lint::Log::new(reports, aside)),
        Findings::Github => output::write(&lint::commands(reports, aside)),
        Findings::Yaml => Err(Failure::Usage(
            "-o yaml prints the calls that nothing answers: give --calls with it".into(),
        )),
        #[cfg(feature = "html")]
        Findings::Html => output::write(&lint::html(reports, aside)?),
    }
}

/// The levels of rules; flags win over the project.
fn levels(args: &Lint) -> Result<Levels, Failure> {
    let mut levels = Levels::default();
    let files = &args.site.files;
    for set in files.project.iter().flat_map(|project| &project.levels) {
        let rule = Rule::from_name(&set.name).map_err(|why| set.refused(why))?;
        let level = Level::from_name(&set.value);
        let level = level.ok_or_else(|| set.refused("a level is error, warning, note or off"))?;
        levels.set(rule, level);
    }
    let ignored = args.ignore.iter().map(|name| levels.ignore(name));
    let ignored: Result<(), String> = ignored.collect();
    let changed = args.level.iter().map(|change| levels.change(change));
    let changed: Result<(), String> = changed.collect();
    ignored.and(changed).map_err(Failure::Usage)?;
    Ok(levels)
}

/// Print findings with excerpts, and count them on standard error.
fn text(text: &lint::LintText<'_>, each: bool, reporter: &Reporter) -> Result<(), Failure> {
    let finding = |report: &LintReport, finding: &_| reporter.finding(report, finding);
    output::write(&text.findings(reporter.is_quiet(), each, finding))?;
    text.notes().iter().for_each(|note| reporter.say(note));
    Ok(())
}

/// Print the calls that nothing answers as a file in which the answers can be written.
fn lacking(args: &Lint, linted: LintTargets, reporter: &Reporter) -> Result<(), Failure> {
    let LintMinions {
        minions, broken, ..
    } = linted.minions(&args.site, memory::limit, reporter)?;
    let (minions, found) = linted.lacking(minions, &args.site)?;
    let secrets = reporter.masking().of(&minions);
    reporter.mask_with(&secrets);
    let (lacking, secret) = UnansweredCall::without(found, |text| *secrets.starred(text) != *text);
    if secret > 0 {
        reporter.say(&format!(
            "{} with a secret among the arguments: the entry has none and answers all calls of the function",
            count(secret, "call")
        ));
    }
    match lacking.is_empty() {
        true => reporter.say("every call has an answer"),
        false => output::write(&mapstack::stub_file(&lacking))?,
    }
    report_unread(&broken, reporter)
}

/// Print the functions that templates can call.
fn calls(args: &Lint, linted: LintTargets, reporter: &Reporter) -> Result<(), Failure> {
    if args.format == Findings::Yaml {
        return lacking(args, linted, reporter);
    }
    // All that is served is one formula, of an estate.
    let whole = [String::new()];
    let formulas = match linted.estate.is_some() {
        true => &whole[..],
        false => &linted.formulas,
    };
    let surveys: Vec<Survey> = formulas
        .iter()
        .map(|formula| linted.engine.survey(formula, saltenv(args)))
        .collect::<Result<_, Error>>()?;
    let calls = lint::Calls::new(&linted.engine, &surveys);
    match args.format {
        Findings::Text => output::write_listing(&calls.text())?,
        Findings::Json => output::write_json(&calls.rows())?,
        _ => {
            return Err(Failure::Usage("--calls prints text, json or yaml".into()));
        }
    }
    reporter.errors(reporter.redact_all(surveys.iter().flat_map(|survey| &survey.errors)))
}

/// Change files as findings propose, or only print what would change.
fn fix(
    reports: &[(String, LintReport)],
    only_print: bool,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let findings = reports.iter().flat_map(|(_, report)| &report.findings);
    let files = fixed(&distinct(findings));
    if only_print {
        let starred = |text: &str| {
            reports
                .first()
                .map_or_else(|| text.to_owned(), |(_, report)| report.starred(text))
        };
        return output::write_listing(&lint::fixes(&files, &starred));
    }
    for (file, change) in &files {
        mapstack_frontend::outputs::replace_unchanged(
            Path::new(file),
            &change.before,
            &change.after,
        )
        .map_err(|e| {
            let error = Error::new(ErrorKind::File, format!("cannot change {file}: {e}"));
            error.note("files before it were changed, those behind it were not")
        })?;
        reporter.say(&format!(
            "{file}: {} fixed",
            count(change.findings, "finding")
        ));
    }
    Ok(())
}
