//! "Did you mean …?"

use mapstack_diagnostic::nearest;

/// Advice for an argument of a wrong name.
pub fn for_argument<S: AsRef<str>>(wrong: &str, known: &[S]) -> String {
    if let Some(near) = nearest(wrong, known) {
        return format!("did you mean '{}'?", near.as_ref());
    }
    match known {
        [] => "it takes no arguments".into(),
        known => format!(
            "it takes {}",
            known
                .iter()
                .map(AsRef::as_ref)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}
