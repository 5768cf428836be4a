//! The limits of the search for origins.

/// Limit on the number of values that reports and checks visit; values that YAML aliases repeat count each
/// time. A few lines of aliases can expand to more values than anyone can read.
pub const MAX_VALUES: usize = 100_000;
