//! Macros and the bodies of call blocks.

use std::any::Any;
use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, Interpreter, Obj, Object, Result, Undefined};
use mapstack_value::Str;

use super::job::call_in_render;
use super::scope::Frame;
use super::tracer::Tracer;
use super::vm::Vm;
use crate::syntax::ast::Macro;

/// A macro with the scope it was defined in.
#[derive(Clone)]
pub(super) struct MacroObject {
    pub definition: Arc<Macro>,
    pub closure: Frame,
    /// True if it is the body of a call block.
    pub is_anonymous: bool,
}

impl Object for MacroObject {
    fn type_name(&self) -> &'static str {
        "Macro"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.runtime")
    }

    fn repr(&self) -> Result<String> {
        Ok(if self.is_anonymous {
            "<Macro anonymous>".into()
        } else {
            format!("<Macro {}>", self.quoted_name())
        })
    }

    fn callable(&self) -> bool {
        true
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        let m = &self.definition;
        Some(match name {
            "name" if self.is_anonymous => Obj::None,
            "name" => Obj::Str(m.name.clone()),
            "arguments" => Obj::tuple(
                m.params
                    .iter()
                    .map(|p| Obj::Str(p.name.clone()))
                    .collect::<Vec<_>>(),
            ),
            "catch_kwargs" => Obj::Bool(m.uses_kwargs),
            "catch_varargs" => Obj::Bool(m.uses_varargs),
            "caller" => Obj::Bool(m.uses_caller),
            _ => return None,
        })
    }

    fn call(&self, interpreter: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let this = self.clone();
        call_in_render(interpreter, move |vm| this.call_in(vm, args))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl MacroObject {
    /// Call the macro.
    pub(super) fn call_in(&self, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
        let frame = self.closure.inside(&self.definition.body);
        self.bind(vm, args, &frame)?;
        let mut out = vm.capturing();
        vm.deeper(|| vm.exec(&self.definition.body, &frame, &mut out))?;
        vm.captured(out)
    }
}

impl MacroObject {
    /// Bind arguments to parameters (Jinja2: `Macro.__call__`).
    fn bind(&self, vm: &Vm<'_>, args: CallArgs, frame: &Frame) -> Result<()> {
        // Python has the macro itself under this name.
        if args.named.iter().any(|(name, _)| **name == *"self") {
            let message = "Macro.__call__() got multiple values for argument 'self'";
            return Err(Error::type_error(message));
        }
        let m = &self.definition;
        let operands = vm.tracer.and_then(|tracer| Operands::of(tracer, &args));
        let wants_caller = m.uses_caller && !m.params.iter().any(|p| &*p.name == "caller");
        let CallArgs {
            mut positional,
            mut named,
        } = args;
        let extra = positional.split_off(positional.len().min(m.params.len()));
        let mut positional = positional.into_iter();
        let mut caller = None;
        if wants_caller {
            caller = take(&mut named, "caller").filter(|c| !c.is_none());
        }
        for (index, param) in m.params.iter().enumerate() {
            let given = match positional.next() {
                Some(value) => Some(value),
                None => take(&mut named, &param.name),
            };
            let value = match (given, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => vm.eval(default, frame)?,
                (None, None) => {
                    let message = format!(
                        "parameter {} was not provided",
                        mapstack_value::quote_str(&param.name)
                    );
                    Undefined::hint(message, vm.strict()).into()
                }
            };
            if let (Some(tracer), Some(operands)) = (vm.tracer, &operands) {
                let operand = operands.of_parameter(tracer, index, &param.name);
                tracer.passed(operand, frame.table(), &param.name, &value);
            }
            frame.set(&param.name, value);
        }
        if wants_caller {
            let caller =
                caller.unwrap_or_else(|| Undefined::hint("No caller defined", vm.strict()).into());
            frame.set_own("caller", caller);
        }
        if m.uses_kwargs {
            let kwargs = named.into_iter().map(|(k, v)| (k.into(), v));
            frame.set_own("kwargs", Obj::dict(kwargs));
        } else if let Some((name, _)) = named.first() {
            return Err(self.refuse_named(name));
        }
        if m.uses_varargs {
            frame.set_own("varargs", Obj::tuple(extra));
        } else if !extra.is_empty() {
            let name = self.quoted_name();
            return Err(Error::type_error(format!(
                "macro {name} takes not more than {} argument(s)",
                m.params.len()
            )));
        }
        Ok(())
    }

    /// The name as messages have it.
    fn quoted_name(&self) -> String {
        if self.is_anonymous {
            return "None".into();
        }
        mapstack_value::quote_str(&self.definition.name)
    }

    fn refuse_named(&self, name: &Str) -> Box<Error> {
        let own = self.quoted_name();
        if &**name == "caller" {
            return Error::type_error(format!(
                "macro {own} was invoked with two values for the special caller argument. This is most likely a bug."
            ));
        }
        let parameters: Vec<&str> = self.definition.params.iter().map(|p| &*p.name).collect();
        Error::type_error(format!(
            "macro {own} takes no keyword argument {}",
            mapstack_value::quote_str(name)
        ))
        .with_help(mapstack_pyobject::for_argument(name, &parameters))
    }
}

/// The tracer's operands that are the arguments of a call.
struct Operands {
    first: usize,
    positional: usize,
    named: Vec<Str>,
}

impl Operands {
    /// The arguments have just been evaluated in order, except for the body of a call block.
    fn of(tracer: &dyn Tracer, args: &CallArgs) -> Option<Self> {
        let named = args.named.iter().map(|(name, _)| name.clone());
        let named: Vec<Str> = named.filter(|name| &**name != "caller").collect();
        let positional = args.positional.len();
        Some(Operands {
            first: tracer.begin().checked_sub(positional + named.len())?,
            positional,
            named,
        })
    }

    /// The operand of a parameter: an argument, or else the default, which was evaluated last.
    fn of_parameter(&self, tracer: &dyn Tracer, index: usize, name: &Str) -> usize {
        if index < self.positional {
            return self.first + index;
        }
        match self.named.iter().position(|named| named == name) {
            Some(at) => self.first + self.positional + at,
            None => tracer.begin().saturating_sub(1),
        }
    }
}

fn take(named: &mut Vec<(Str, Obj)>, name: &str) -> Option<Obj> {
    let index = named.iter().position(|(n, _)| **n == *name)?;
    Some(named.remove(index).1)
}
