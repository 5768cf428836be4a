//! The filter `random`.
//!
//! A template must render the same every time, so where Jinja2 asks the operating system for
//! randomness, the choice here depends on the input alone.

use mapstack_pyobject::random::Twister;
use mapstack_pyobject::{CallArgs, Error, Obj, Result, Undefined, get_item, len, to_str};

use super::call::inner;
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[("random", random)];

fn random(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    inner("do_random", "seq").alone(args)?;
    let n = len(&x)?;
    if n == 0 {
        return Ok(Undefined::hint("No random item, sequence was empty.", vm.strict()).into());
    }
    let chosen = Obj::from(Twister::of_input(&x).below(n));
    match get_item(vm, &x, &chosen)? {
        Some(item) => Ok(item),
        None => match &x {
            Obj::Dict(_) => Err(Error::python("KeyError", to_str(&chosen)?)),
            other => Err(Error::type_error(format!(
                "'{}' object is not subscriptable",
                other.type_name()
            ))),
        },
    }
}
