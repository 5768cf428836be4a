//! Scalars that YAML reads as something else than what they look like.

use mapstack_lint::{Finding, traps};

use super::Subject;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    traps(subject.documents, subject.secrets)
}
