//! Scalars that YAML reads as something else than they look like, and accidents in files.

use crate::{Finding, accidents, joined, traps};

use super::PillarSubject;

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let mut found = traps(subject.documents, subject.secrets);
    found.extend(joined(subject.documents));
    found.extend(accidents(
        subject.files.all.values().map(|file| &file.source),
    ));
    found
}
