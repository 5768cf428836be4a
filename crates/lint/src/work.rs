//! Work for many items, side by side.

use mapstack::{Error, ErrorKind};
use mapstack_fleet::{Pace, ordered};

/// Do work for each item, with results in order.
///
/// # Errors
/// The work panicked, which is a fault of the program.
pub(crate) fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Send + Sync,
) -> Result<Vec<R>, Error> {
    folded(items, work, |_, result| result)
}

/// Do work for each item, and add each result, in order, to those before it, which it can share.
///
/// # Errors
/// The work panicked, which is a fault of the program.
pub(crate) fn folded<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Send + Sync,
    mut share: impl FnMut(&[R], R) -> R,
) -> Result<Vec<R>, Error> {
    std::thread::scope(|scope| {
        let done = ordered(scope, items.iter(), Pace::default(), &work);
        let fault = |said: String| {
            Error::new(
                ErrorKind::Unsupported,
                format!("this is a fault of mapstack: {said}"),
            )
        };
        let mut all = Vec::with_capacity(items.len());
        for result in done {
            let result = share(&all, result.map_err(|panicked| fault(panicked.0))?);
            all.push(result);
        }
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_panics_are_errors() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(side_by_side(&items, |n| n * 2).unwrap()[..3], [0, 2, 4]);
        let error = side_by_side(&items, |n| assert!(*n < 50, "too many")).unwrap_err();
        assert!(error.to_string().contains("too many"), "{error}");
    }
}
