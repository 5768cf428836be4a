//! Rules for states whose function does not exist or does not take their arguments.

use mapstack::minion::SaltVersion;
use mapstack::{Place, nearest};
use mapstack_states::{Home, OwnModules, StateFunction, functions_of, state_modules};

use super::failures::on;
use crate::Rule;
use crate::document::SourceFile;
use crate::finding::{Finding, Level};
use crate::misuse::{Misuse, Misused, is_of_salt};
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    if subject.misuses.is_empty() {
        return Vec::new();
    }
    let own = OwnModules::of(subject.engine, &["_states/"]);
    let misuses = subject.misuses.iter();
    misuses
        .filter_map(|misuse| of_misuse(subject, &own, misuse))
        .collect()
}

fn of_misuse(subject: &FormulaSubject<'_>, own: &OwnModules, misuse: &Misuse) -> Option<Finding> {
    let file = subject.files.get(&misuse.path)?;
    let Misuse {
        module, function, ..
    } = misuse;
    let is_older = subject.engine.salt_version() != SaltVersion::default();
    let known = StateFunction::named(module, function);
    let is_gone = known.is_some_and(|known| known.home == Home::Gone) && !is_older;
    let finding = match &misuse.why {
        Misused::Module => unknown_module(misuse, file, own),
        Misused::Function => unknown_function(misuse, file, own),
        Misused::Elsewhere(_) if is_older => return None,
        Misused::Elsewhere(home) => elsewhere(misuse, file, *home),
        // The function itself is gone, which is another finding.
        Misused::Argument(_) | Misused::Missing(_) if is_gone => return None,
        Misused::Argument(argument) if known?.took(argument) && is_older => return None,
        Misused::Argument(argument) => unknown_argument(misuse, file, known?, argument),
        Misused::Missing(argument) => missing_argument(subject, misuse, file, argument),
    };
    let of_arguments = matches!(misuse.why, Misused::Argument(_) | Misused::Missing(_));
    let finding = match known
        .filter(|_| of_arguments)
        .and_then(|known| known.extension())
    {
        Some((package, version)) => {
            let message = format!("{} ({package} {version})", finding.message);
            let finding = Finding { message, ..finding };
            lower(
                Level::Warning,
                "other versions of the package can differ",
                finding,
            )
        }
        None => finding,
    };
    let finding = match misuse.ids.len() {
        0 | 1 => finding,
        2 => finding.note("1 more state has it"),
        count => finding.note(format!("{} more states have it", count - 1)),
    };
    let mut states = subject.states.iter();
    let state = states.find(|state| state.file.path == misuse.path);
    let finding = match state.is_some_and(|state| state.is_unnamed) {
        true => lower(
            Level::Warning,
            "no minion gets the sls by a top file",
            finding,
        ),
        false => finding,
    };
    let ids = misuse.runs.iter().map(|run| &subject.runs[*run].minion.id);
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    let supported = subject.runs.iter().filter(|run| run.supported).count();
    Some(finding.note(on(&ids, supported)))
}

/// Lower the level of a finding, and note the reason.
fn lower(level: Level, why: &str, finding: Finding) -> Finding {
    Finding {
        level: finding.level.min(level),
        ..finding.note(why)
    }
}

/// A finding at the faulty text if the file has it literally, or else at the line that declares the function
/// or the ID.
fn finding(rule: Rule, misuse: &Misuse, file: &SourceFile, message: String) -> Finding {
    let Misuse {
        module, function, ..
    } = misuse;
    let declared = format!("{module}.{function}");
    let wanted = match &misuse.why {
        Misused::Argument(argument) => vec![&**argument],
        _ => vec![&*declared, &**module],
    };
    let exact = misuse.place.clone().filter(|place| {
        let text = place.source.get(place.start..place.end);
        text.is_some_and(|text| wanted.contains(&text))
    });
    let place = exact.or_else(|| declaration(file, &[&declared, module]));
    match place.or_else(|| misuse.place.clone()) {
        Some(place) => Finding::new(rule, place, message),
        None => Finding::of_file(rule, file.place(0, 0), message),
    }
}

/// The first line of a file that declares one of some states.
fn declaration(file: &SourceFile, names: &[&str]) -> Option<Place> {
    let of = |name: &&str| {
        let mut start = 0;
        file.text.split_inclusive('\n').find_map(|line| {
            let at = start;
            start += line.len();
            let indent = line.len() - line.trim_start().len();
            let rest = line.trim_start().strip_prefix(*name)?;
            let is_declared = rest.trim_end() == ":" || rest.trim_start().starts_with(": [");
            let begin = at + indent;
            is_declared.then(|| file.place(begin, begin + name.len()))
        })
    };
    names.iter().find_map(of)
}

fn unknown_module(misuse: &Misuse, file: &SourceFile, own: &OwnModules) -> Finding {
    let Misuse {
        module, function, ..
    } = misuse;
    let message = format!("unknown state module '{module}'");
    let finding = finding(Rule::UnknownState, misuse, file, message);
    let has = |name: &&str| functions_of(name).any(|one| one == function);
    let having = state_modules().map(|(name, _)| name).filter(has);
    let near = nearest(module, having.chain(own.names()));
    let finding = match near {
        Some(near) => finding.help(format!("did you mean '{near}.{function}'?")),
        None => finding,
    };
    match near.is_some_and(|near| strsim::damerau_levenshtein(module, near) == 1) {
        true => finding,
        false => lower(
            Level::Warning,
            "an extension, or `_states` of another file server, has to provide it",
            finding,
        ),
    }
}

fn unknown_function(misuse: &Misuse, file: &SourceFile, own: &OwnModules) -> Finding {
    let Misuse {
        module, function, ..
    } = misuse;
    let message = format!("the state module '{module}' has no function '{function}'");
    let finding = finding(Rule::UnknownState, misuse, file, message);
    let finding = match nearest(function, functions_of(module)) {
        Some(near) => finding.help(format!("did you mean '{module}.{near}'?")),
        None => finding,
    };
    let why = match (own.has_module(module), is_of_salt(module)) {
        (true, _) => "the file server has the module, whose functions may not all be seen here",
        (false, false) => "Salt has no such module, and extensions can have other functions by now",
        (false, true) => return finding,
    };
    lower(Level::Warning, why, finding)
}

fn elsewhere(misuse: &Misuse, file: &SourceFile, home: Home) -> Finding {
    let Misuse {
        module, function, ..
    } = misuse;
    let what = match misuse.is_of_module() {
        true => format!("state module '{module}'"),
        false => format!("function '{module}.{function}'"),
    };
    let message = format!("Salt 3008 has no {what}");
    let finding = finding(Rule::MovedState, misuse, file, message);
    match home {
        Home::Extension(package) => finding.help(format!(
            "the package {package} has it: install it on the minions"
        )),
        Home::Gone | Home::Salt => {
            let finding = finding.note("Salt had it before, and no extension is known to have it");
            let in_extension = |name: &&str| {
                let found = StateFunction::named(name, function);
                matches!(found.map(|one| one.home), Some(Home::Extension(_)))
            };
            let others = state_modules().map(|(name, _)| name).filter(in_extension);
            let near = nearest(module, others);
            let near =
                near.and_then(|near| Some((near, StateFunction::named(near, function)?.home)));
            match near {
                Some((near, Home::Extension(package))) => {
                    finding.help(format!("the package {package} has '{near}.{function}'"))
                }
                _ => finding,
            }
        }
    }
}

fn unknown_argument(
    misuse: &Misuse,
    file: &SourceFile,
    known: StateFunction,
    argument: &str,
) -> Finding {
    let declared = format!("{}.{}", misuse.module, misuse.function);
    let message = format!("'{declared}' does not take the argument '{argument}'");
    let finding = finding(Rule::UnknownArgument, misuse, file, message);
    let finding = finding.note("Salt stops with an exception at this state");
    const OFTEN: [&str; 8] = [
        "require",
        "watch",
        "onchanges",
        "onfail",
        "listen",
        "unless",
        "onlyif",
        "order",
    ];
    let finding = match nearest(argument, known.arguments().chain(OFTEN)) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None => finding,
    };
    if known.took(argument) {
        return lower(Level::Warning, "it did before Salt 3008", finding);
    }
    match file.text.contains(argument) {
        true => finding,
        false => lower(
            Level::Warning,
            "the name is in data of these minions",
            finding,
        ),
    }
}

fn missing_argument(
    subject: &FormulaSubject<'_>,
    misuse: &Misuse,
    file: &SourceFile,
    argument: &str,
) -> Finding {
    let declared = format!("{}.{}", misuse.module, misuse.function);
    let message = format!("'{declared}' needs the argument '{argument}'");
    let finding = finding(Rule::MissingArgument, misuse, file, message);
    let can_be_given = file.text.contains(&format!("{argument}:"));
    let ids = misuse.runs.iter().map(|run| &subject.runs[*run].minion.id);
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    let estate = subject.estate.as_ref();
    match can_be_given && estate.is_none_or(|estate| estate.assumes(&ids)) {
        true => Finding {
            lacks_facts: true,
            ..lower(
                Level::Warning,
                "the sls gives it to others, so that facts of a minion may give it here",
                finding,
            )
        },
        false => finding,
    }
}
