//! The answer of `http.query` in a program without the feature `http`.

use mapstack::value::Value;
use mapstack::{Call, CallError, Means};

use crate::host::args::Result;
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[("http.query", query), ("http_query", query)];

fn query(call: &Call) -> Result<Value> {
    Err(CallError::new(format!(
        "{} has no client for HTTP in this build: packages have one, and so has a build with {}; or {} answers it",
        call.name,
        Means::Feature("http"),
        Means::Stub
    )))
}
