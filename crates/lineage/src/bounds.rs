//! The limits of the search for origins.

/// Limit on the number of values that reports and checks go through one by one, counting what YAML aliases repeat. A
/// few lines of aliases can expand to more values than anyone can read.
pub const MAX_VALUES: usize = 100_000;
