//! The part of a fleet that whatever starts many jobs assigns to each.

use thiserror::Error;

use crate::Shard;

/// The variable with the number of parts, for systems that set only the number of the job.
const PARTS: &str = "MAPSTACK_SHARDS";

/// Variables that number the jobs that do the same work.
struct System {
    name: &'static str,
    /// The number of the job.
    index: &'static str,
    /// The number of jobs.
    count: &'static str,
    /// The number of the first job.
    first: u64,
    /// A variable that only this system sets; others use the same names with another meaning.
    mark: Option<&'static str>,
}

impl System {
    const fn new(name: &'static str, index: &'static str, count: &'static str, first: u64) -> Self {
        System {
            name,
            index,
            count,
            first,
            mark: None,
        }
    }
}

/// The variables that each system documents for a job; Slurm, whose numbers need not start at 0 or 1, has [`slurm`].
const SYSTEMS: [System; 7] = [
    System::new("Kubernetes", "JOB_COMPLETION_INDEX", PARTS, 0),
    System {
        mark: Some("GITLAB_CI"),
        ..System::new("GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1)
    },
    System::new("CircleCI", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0),
    System::new(
        "Buildkite",
        "BUILDKITE_PARALLEL_JOB",
        "BUILDKITE_PARALLEL_JOB_COUNT",
        0,
    ),
    System::new(
        "Bitbucket",
        "BITBUCKET_PARALLEL_STEP",
        "BITBUCKET_PARALLEL_STEP_COUNT",
        0,
    ),
    System::new("Semaphore", "SEMAPHORE_JOB_INDEX", "SEMAPHORE_JOB_COUNT", 1),
    System::new(
        "Azure Pipelines",
        "SYSTEM_JOBPOSITIONINPHASE",
        "SYSTEM_TOTALJOBSINPHASE",
        1,
    ),
];

const SLURM: &str = "Slurm";
const SLURM_INDEX: &str = "SLURM_ARRAY_TASK_ID";

/// Why no part of a fleet is assigned to this job.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotAssigned {
    /// No system is known to have started the job.
    #[error("no part is assigned to this job: none of {0} is set; {WRITE}")]
    Nothing(String),
    /// A variable beside the number of the job is missing.
    #[error(
        "{index} of {system} is set but {missing} is not{}; {WRITE}",
        if *missing == PARTS { ": set it to the number of parts" } else { "" }
    )]
    Missing {
        /// Who started the job.
        system: &'static str,
        /// The variable that is set.
        index: &'static str,
        /// The variable that is not.
        missing: &'static str,
    },
    /// A variable is not a number.
    #[error("{variable} of {system} is '{value}', which is not a number; {WRITE}")]
    NoNumber {
        /// Who started the job.
        system: &'static str,
        /// The variable.
        variable: &'static str,
        /// Its value, or the beginning of it.
        value: String,
    },
    /// The number of the job is not below their count.
    #[error("{system} says job {index} of {count}, counted from {first}; {WRITE}")]
    OutOfRange {
        /// Who started the job.
        system: &'static str,
        /// The number of the job.
        index: u64,
        /// The number of them.
        count: u64,
        /// The number of the first.
        first: u64,
    },
    /// An array of Slurm that is not a range with even steps, so that its numbers do not follow from a task's own.
    #[error(
        "the {count} tasks of the Slurm array are not all of {min}-{max}:{step}, so their numbers are not known; {WRITE}"
    )]
    Gaps {
        /// The number of tasks.
        count: u64,
        /// The number of the first.
        min: u64,
        /// The number of the last.
        max: u64,
        /// The distance of neighbours.
        step: u64,
    },
    /// An array of Slurm with one task, as for the retry of one of many.
    #[error(
        "the Slurm array has only the task {0}, and its part would be all of the fleet. To repeat one task of a larger \
         array, write its part, as 5/8, or start it again within its array with scontrol requeue"
    )]
    OneTask(u64),
    /// Two systems say different things.
    #[error("{} says {} and {} says {}; {WRITE}", .0.0, .0.1, .1.0, .1.1)]
    Differ((&'static str, Shard), (&'static str, Shard)),
}

const WRITE: &str = "write K/N, as 1/4 for the first of four parts";

/// The number of characters of a variable's value that an error shows.
const MAX_SHOWN: usize = 40;

impl Shard {
    /// The part that is assigned to this job by the variables of its environment, which `lookup` finds.
    ///
    /// Known are Indexed Jobs of Kubernetes (with `MAPSTACK_SHARDS`, the number of parts), job arrays of Slurm, and the
    /// parallel jobs of GitLab, CircleCI, Buildkite, Bitbucket, Semaphore and Azure Pipelines. A variable without text
    /// counts as not set.
    ///
    /// ```
    /// use mapstack_fleet::Shard;
    /// let job = |name: &str| match name {
    ///     "JOB_COMPLETION_INDEX" => Some("0".to_owned()),
    ///     "MAPSTACK_SHARDS" => Some("8".to_owned()),
    ///     _ => None,
    /// };
    /// assert_eq!(Shard::assigned(job).unwrap().to_string(), "1/8");
    /// assert!(Shard::assigned(|_| None).is_err());
    /// ```
    ///
    /// # Errors
    /// No system has numbered the job, it says too little, or two of them say different things.
    pub fn assigned(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, NotAssigned> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let of_systems = SYSTEMS.iter().map(|system| of_system(system, &lookup));
        let mut said = Vec::new();
        for part in of_systems.chain([slurm(&lookup)]) {
            said.extend(part?);
        }
        match said.split_first() {
            None => Err(NotAssigned::Nothing(looked_for())),
            Some((first, others)) => match others.iter().find(|other| other.1 != first.1) {
                Some(other) => Err(NotAssigned::Differ(*first, *other)),
                None => Ok(first.1),
            },
        }
    }
}

/// The answer of one system; nothing if it did not number the job.
type SystemAnswer = Result<Option<(&'static str, Shard)>, NotAssigned>;

fn of_system(system: &System, lookup: &dyn Fn(&str) -> Option<String>) -> SystemAnswer {
    if system.mark.is_some_and(|mark| lookup(mark).is_none()) || lookup(system.index).is_none() {
        return Ok(None);
    }
    let number = |variable| number(system.name, system.index, variable, lookup);
    let (index, count) = (number(system.index)?, number(system.count)?);
    part(system.name, index, count, system.first).map(Some)
}

/// The tasks of an array have the numbers that the user gave, of which Slurm names the first, the last and the step.
fn slurm(lookup: &dyn Fn(&str) -> Option<String>) -> SystemAnswer {
    if lookup(SLURM_INDEX).is_none() {
        return Ok(None);
    }
    let number = |variable| number(SLURM, SLURM_INDEX, variable, lookup);
    let (index, count) = (number(SLURM_INDEX)?, number("SLURM_ARRAY_TASK_COUNT")?);
    let (min, max) = (
        number("SLURM_ARRAY_TASK_MIN")?,
        number("SLURM_ARRAY_TASK_MAX")?,
    );
    let step = number("SLURM_ARRAY_TASK_STEP")?;
    if count == 1 {
        return Err(NotAssigned::OneTask(index));
    }
    let place = |number: u64| {
        let from_first = number.checked_sub(min)?;
        (from_first.checked_rem(step)? == 0).then(|| from_first / step)
    };
    match (place(index), place(max)) {
        (Some(index), Some(last)) if last.checked_add(1) == Some(count) => {
            part(SLURM, index, count, 0).map(Some)
        }
        _ => Err(NotAssigned::Gaps {
            count,
            min,
            max,
            step,
        }),
    }
}

/// The number in a variable, beside the variable with the number of the job.
fn number(
    system: &'static str,
    index: &'static str,
    variable: &'static str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<u64, NotAssigned> {
    let value = lookup(variable).ok_or(NotAssigned::Missing {
        system,
        index,
        missing: variable,
    })?;
    value.parse().map_err(|_| NotAssigned::NoNumber {
        system,
        variable,
        value: value.chars().take(MAX_SHOWN).collect(),
    })
}

fn part(
    system: &'static str,
    index: u64,
    count: u64,
    first: u64,
) -> Result<(&'static str, Shard), NotAssigned> {
    let number = index
        .checked_sub(first)
        .and_then(|number| number.checked_add(1));
    match number.and_then(|number| Shard::new(number, count)) {
        Some(shard) => Ok((system, shard)),
        None => Err(NotAssigned::OutOfRange {
            system,
            index,
            count,
            first,
        }),
    }
}

/// The variables that number jobs, with who sets them.
fn looked_for() -> String {
    let others = SYSTEMS.iter().map(|system| (system.index, system.name));
    let all = others.chain([(SLURM_INDEX, SLURM)]);
    let all: Vec<String> = all
        .map(|(index, name)| format!("{index} ({name})"))
        .collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The result of an environment written as `NAME=value NAME=value`.
    fn assigned(environment: &str) -> Result<String, String> {
        let find = |name: &str| {
            let mut pairs = environment
                .split_whitespace()
                .filter_map(|pair| pair.split_once('='));
            pairs
                .find(|pair| pair.0 == name)
                .map(|pair| pair.1.to_owned())
        };
        match Shard::assigned(find) {
            Ok(shard) => Ok(shard.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    const TASK_5: &str = "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=8";

    #[test]
    fn every_system_numbers_its_jobs() {
        for (environment, part) in [
            ("JOB_COMPLETION_INDEX=0 MAPSTACK_SHARDS=8", "1/8"),
            ("JOB_COMPLETION_INDEX=7 MAPSTACK_SHARDS=8", "8/8"),
            ("GITLAB_CI=true CI_NODE_INDEX=3 CI_NODE_TOTAL=3", "3/3"),
            ("CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1", "1/1"),
            (
                "BUILDKITE_PARALLEL_JOB=1 BUILDKITE_PARALLEL_JOB_COUNT=5",
                "2/5",
            ),
            (
                "BITBUCKET_PARALLEL_STEP=4 BITBUCKET_PARALLEL_STEP_COUNT=5",
                "5/5",
            ),
            ("SEMAPHORE_JOB_INDEX=1 SEMAPHORE_JOB_COUNT=4", "1/4"),
            (
                "SYSTEM_JOBPOSITIONINPHASE=2 SYSTEM_TOTALJOBSINPHASE=2",
                "2/2",
            ),
            (TASK_5, "5/8"),
            // Two that agree; a variable without text; the variables of another than GitLab.
            (
                "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=4 SEMAPHORE_JOB_INDEX=1 SEMAPHORE_JOB_COUNT=4",
                "1/4",
            ),
            (
                "JOB_COMPLETION_INDEX= CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4",
                "4/4",
            ),
            (
                "CI_NODE_INDEX=0 CI_NODE_TOTAL=2 CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4",
                "4/4",
            ),
        ] {
            assert_eq!(assigned(environment).as_deref(), Ok(part), "{environment}");
        }
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        for (environment, says) in [
            (
                "CI_NODE_INDEX=1 CI_NODE_TOTAL=2",
                "none of JOB_COMPLETION_INDEX (Kubernetes), CI_NODE_INDEX (GitLab), ",
            ),
            (
                "JOB_COMPLETION_INDEX=0",
                "JOB_COMPLETION_INDEX of Kubernetes is set but MAPSTACK_SHARDS is not: set it to the number of parts;",
            ),
            (
                "CIRCLE_NODE_INDEX=0",
                "CIRCLE_NODE_INDEX of CircleCI is set but CIRCLE_NODE_TOTAL is not; write K/N",
            ),
            (
                "JOB_COMPLETION_INDEX=8 MAPSTACK_SHARDS=8",
                "Kubernetes says job 8 of 8, counted from 0;",
            ),
            (
                "SEMAPHORE_JOB_INDEX=0 SEMAPHORE_JOB_COUNT=4",
                "Semaphore says job 0 of 4, counted from 1;",
            ),
            (
                "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=0",
                "CircleCI says job 0 of 0",
            ),
            (
                "CIRCLE_NODE_INDEX=18446744073709551615 CIRCLE_NODE_TOTAL=2",
                "CircleCI says job 18446744073709551615 of 2",
            ),
            (
                "CIRCLE_NODE_INDEX=-1 CIRCLE_NODE_TOTAL=2",
                "CIRCLE_NODE_INDEX of CircleCI is '-1', which is not a number;",
            ),
            (
                "SLURM_ARRAY_TASK_ID=5",
                "SLURM_ARRAY_TASK_ID of Slurm is set but SLURM_ARRAY_TASK_COUNT is not;",
            ),
            (
                "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=1",
                "the Slurm array has only the task 5",
            ),
            (
                "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=3",
                "the 3 tasks of the Slurm array are not all of 1-5:1,",
            ),
            (
                "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=6 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_STEP=0 SLURM_ARRAY_TASK_COUNT=0",
                "the 0 tasks",
            ),
        ] {
            let error = assigned(environment).unwrap_err();
            assert!(error.contains(says), "{environment}: {error}");
        }
        let both = format!("{TASK_5} GITLAB_CI=true CI_NODE_INDEX=1 CI_NODE_TOTAL=2");
        let error = assigned(&both).unwrap_err();
        assert!(
            error.starts_with("GitLab says 1/2 and Slurm says 5/8; write K/N"),
            "{error}"
        );
    }

    proptest! {
        /// The tasks of an array are parts 1 to N, in order.
        #[test]
        fn an_array_has_each_part_once(min in 0_u64..100, step in 1_u64..9, count in 2_u64..20) {
            for task in 0..count {
                let (id, max) = (min + task * step, min + (count - 1) * step);
                let environment = format!(
                    "SLURM_ARRAY_TASK_ID={id} SLURM_ARRAY_TASK_MIN={min} SLURM_ARRAY_TASK_MAX={max} SLURM_ARRAY_TASK_STEP={step} SLURM_ARRAY_TASK_COUNT={count}"
                );
                prop_assert_eq!(assigned(&environment), Ok(format!("{}/{count}", task + 1)));
            }
        }

        #[test]
        fn no_value_makes_it_panic(value in ".{0,60}", other in ".{0,60}") {
            let _ = Shard::assigned(|name| Some(if name.ends_with("INDEX") { value.clone() } else { other.clone() }));
        }
    }
}
