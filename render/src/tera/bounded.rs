//! The limits of a render, and the functions and filters that keep to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;
use tera::{Filter, Tera};

use mapstack_pyobject::ledger::CHECK_EVERY;

use super::data::size;
use mapstack_salt_jinja::Limits;

type Args = HashMap<String, Json>;

/// The state of a render. One thread uses it; Tera asks for what many could share.
pub(super) struct Meter {
    limits: Limits,
    fuel: u64,
    spent: AtomicU64,
    printed: AtomicUsize,
    /// The limit that has stopped the render, in words.
    stopped: Mutex<Option<String>>,
    place: AtomicUsize,
    /// The places that macros and includes were called from.
    callers: Mutex<Vec<usize>>,
}

/// Bytes that cost one step.
const BYTES_PER_STEP: usize = 16;
/// More bytes than this are requested before they are made.
const LARGE: usize = 1 << 20;
/// A node of a template costs more than a step of Jinja's.
const STEPS_PER_NODE: usize = 4;
/// Less stack than this is kept for expressions, which cannot ask.
const RESERVE: usize = 48 << 20;
/// `range` makes no longer arrays, as in Salt's Jinja.
const LONGEST_RANGE: i64 = 100_000;

impl Meter {
    pub fn new(limits: Limits, fuel: u64) -> Arc<Self> {
        Arc::new(Meter {
            // The memory of this thread is measured.
            limits: limits.on_this_thread(),
            fuel,
            spent: AtomicU64::default(),
            printed: AtomicUsize::default(),
            stopped: Mutex::default(),
            place: AtomicUsize::default(),
            callers: Mutex::default(),
        })
    }

    pub fn spent(&self) -> u64 {
        self.spent.load(Relaxed)
    }

    /// The limit that has stopped the render, in words.
    pub fn stopped(&self) -> Option<String> {
        self.stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The place that runs.
    pub fn place(&self) -> usize {
        self.place.load(Relaxed)
    }

    fn stop<T>(&self, message: String) -> tera::Result<T> {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.clone());
        Err(tera::Error::msg(message))
    }

    /// Spend steps.
    pub fn burn(&self, steps: usize) -> tera::Result<()> {
        let before = self.spent.fetch_add(steps as u64, Relaxed);
        let after = before.saturating_add(steps as u64);
        if after > self.fuel {
            return self.stop(format!(
                "the template ran for more than {} steps",
                self.limits.fuel
            ));
        }
        if before / CHECK_EVERY != after / CHECK_EVERY {
            self.limits.check(0).or_else(|e| self.stop(e.message))?;
        }
        Ok(())
    }

    /// Print bytes, be it into what a macro returns.
    fn print(&self, bytes: usize) -> tera::Result<()> {
        self.burn(bytes / BYTES_PER_STEP)?;
        let before = self.printed.fetch_add(bytes, Relaxed);
        if before.saturating_add(bytes) > self.limits.output {
            return self.stop(format!(
                "the template printed more than {} bytes",
                self.limits.output
            ));
        }
        Ok(())
    }

    /// Make a value of some size.
    fn measure(&self, bytes: usize) -> tera::Result<()> {
        if bytes > self.limits.output {
            return self.stop(format!(
                "a value takes more than {} bytes",
                self.limits.output
            ));
        }
        if bytes > LARGE {
            self.limits.check(bytes).or_else(|e| self.stop(e.message))?;
        }
        self.burn(bytes / BYTES_PER_STEP)
    }

    fn enter(&self) -> tera::Result<()> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        callers.push(self.place());
        if callers.len() > self.limits.depth
            || stacker::remaining_stack().is_some_and(|left| left < RESERVE)
        {
            let most = self.limits.depth;
            return self.stop(format!(
                "macro calls and includes are nested more than {most} levels deep"
            ));
        }
        Ok(())
    }

    fn leave(&self) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = callers.pop() {
            self.place.store(place, Relaxed);
        }
    }
}

/// Names that no template can write.
pub(super) const AT: &str = "mapstack:at";
pub(super) const ENTER: &str = "mapstack:enter";
pub(super) const LEAVE: &str = "mapstack:leave";
pub(super) const JOIN: &str = "mapstack:join";
pub(super) const KEEP: &str = "mapstack:keep";
pub(super) const PRINT: &str = "mapstack:print";
pub(super) const EACH: &str = "mapstack:each";

/// Give an engine the functions that rewritten templates call, and bound those it has.
pub(super) fn register(tera: &mut Tera, meter: &Arc<Meter>) {
    bound_filters(tera, meter);
    let m = meter.clone();
    tera.register_function(AT, move |args: &Args| {
        m.place.store(
            number(args, "n")
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or_default(),
            Relaxed,
        );
        m.burn(STEPS_PER_NODE)?;
        m.print(
            number(args, "text")
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or_default(),
        )?;
        // `True` before a condition, else an empty text.
        Ok(if args.contains_key("test") {
            Json::Bool(true)
        } else {
            Json::String(String::new())
        })
    });
    let m = meter.clone();
    tera.register_function(ENTER, move |_: &Args| {
        m.enter().map(|()| Json::String(String::new()))
    });
    let m = meter.clone();
    tera.register_function(LEAVE, move |_: &Args| {
        m.leave();
        Ok(Json::String(String::new()))
    });
    let m = meter.clone();
    tera.register_function(JOIN, move |args: &Args| join(&m, args));
    let m = meter.clone();
    tera.register_filter(KEEP, move |value: &Json, _: &Args| {
        m.measure(size(value)).map(|()| value.clone())
    });
    let m = meter.clone();
    tera.register_filter(PRINT, move |value: &Json, _: &Args| {
        m.print(value.as_str().map_or_else(|| size(value), str::len))
            .map(|()| value.clone())
    });
    let m = meter.clone();
    tera.register_filter(EACH, move |value: &Json, _: &Args| each(&m, value));
    let m = meter.clone();
    tera.register_function("range", move |args: &Args| range(&m, args));
    tera.register_function("get_env", |_: &Args| -> tera::Result<Json> {
        Err(tera::Error::msg(
            "the environment is not read: the machine is not the minion",
        ))
    });
}

/// Texts and numbers one after the other: `a ~ b`.
fn join(meter: &Meter, args: &Args) -> tera::Result<Json> {
    let mut parts: Vec<(&String, &Json)> = args.iter().collect();
    parts.sort_unstable_by_key(|(name, _)| *name);
    meter.measure(parts.iter().map(|(_, value)| size(value)).sum())?;
    let mut text = String::new();
    for (_, value) in parts {
        match value {
            Json::String(part) => text.push_str(part),
            Json::Number(part) => text.push_str(&part.to_string()),
            _ => {
                return Err(tera::Error::msg(
                    "`~` joins texts and numbers, and one of these is neither",
                ));
            }
        }
    }
    Ok(Json::String(text))
}

/// The items of a loop: those of a text are its characters.
fn each(meter: &Meter, value: &Json) -> tera::Result<Json> {
    meter.measure(size(value))?;
    match value {
        Json::String(text) => {
            meter.burn(text.len())?;
            Ok(text.chars().map(|c| Json::String(c.to_string())).collect())
        }
        Json::Array(items) => meter.burn(items.len()).map(|()| value.clone()),
        Json::Object(map) => meter.burn(map.len()).map(|()| value.clone()),
        _ => Ok(value.clone()),
    }
}

/// `range(end=…, start=0, step_by=1)`, as Tera has it.
fn range(meter: &Meter, args: &Args) -> tera::Result<Json> {
    let argument = |name: &str, default: Option<i64>| match args.get(name) {
        None => default.ok_or_else(|| tera::Error::msg("range() needs an `end`")),
        Some(value) => value.as_i64().filter(|n| *n >= 0).ok_or_else(|| {
            tera::Error::msg(format!(
                "range(): `{name}` must be a whole number from 0, not {value}"
            ))
        }),
    };
    let (start, end, step) = (
        argument("start", Some(0))?,
        argument("end", None)?,
        argument("step_by", Some(1))?,
    );
    if start > end {
        return Err(tera::Error::msg("range(): `start` is greater than `end`"));
    }
    if step == 0 {
        return Err(tera::Error::msg("range(): `step_by` must not be 0"));
    }
    let items = (end - start) / step + 1;
    if items > LONGEST_RANGE {
        return meter.stop(format!("range() of more than {LONGEST_RANGE} numbers"));
    }
    meter.burn(usize::try_from(items).unwrap_or_default())?;
    let mut numbers = Vec::new();
    let mut next = Some(start);
    while let Some(n) = next.filter(|n| *n < end) {
        numbers.push(Json::from(n));
        next = n.checked_add(step);
    }
    Ok(Json::Array(numbers))
}

fn number(args: &Args, name: &str) -> Option<i64> {
    args.get(name).and_then(Json::as_i64)
}

/// Every filter that the engine has, measured before and after.
fn bound_filters(tera: &mut Tera, meter: &Arc<Meter>) {
    for (name, filter) in &mut tera.filters {
        *filter = Arc::new(Bounded {
            name: name.clone(),
            inner: filter.clone(),
            meter: meter.clone(),
        });
    }
}

struct Bounded {
    name: String,
    inner: Arc<dyn Filter>,
    meter: Arc<Meter>,
}

impl Filter for Bounded {
    fn filter(&self, value: &Json, args: &Args) -> tera::Result<Json> {
        self.meter.measure(self.expected(value, args))?;
        let made = self.inner.filter(value, args)?;
        self.meter.measure(size(&made))?;
        Ok(made)
    }
}

impl Bounded {
    /// About how many bytes the result takes, where that can be more than what goes in.
    fn expected(&self, value: &Json, args: &Args) -> usize {
        let text = value.as_str().unwrap_or_default();
        let arg = |name: &str| args.get(name).and_then(Json::as_str).unwrap_or_default();
        let grown = match &*self.name {
            "replace" => text
                .matches(arg("from"))
                .count()
                .saturating_mul(arg("to").len()),
            "split" => text.matches(arg("pat")).count().saturating_mul(48),
            "join" => value
                .as_array()
                .map_or(0, Vec::len)
                .saturating_mul(arg("sep").len()),
            "indent" => text
                .matches('\n')
                .count()
                .saturating_mul(arg("prefix").len().max(4)),
            // A character is six at most when it is escaped.
            "escape" | "escape_xml" | "json_encode" | "addslashes" | "linebreaksbr" => {
                size(value).saturating_mul(6)
            }
            _ => 0,
        };
        grown.saturating_add(size(value))
    }
}
