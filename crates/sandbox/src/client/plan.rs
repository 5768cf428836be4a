//! Templates that only read what they are given, printed without an interpreter.
//!
//! The result here is Python's, or there is none: then Python renders the template, with its own
//! result, error and place. So every operation that fails, every type that is not plain data, and every limit that
//! comes near ends the attempt.

use std::cell::Cell;

use crate::protocol::{Comparison, LookupExpr, METHODS, PlanStep, Span, TemplatePlan};
use mapstack_pyobject::{
    BinaryOp, Budget, CallArgs, CompareOp, Error, ErrorKind, Interpreter, Limits, Obj, Result,
    binary, compare, get_item, methods, slice,
};
use mapstack_value::Str;

use super::Chunk;
use mapstack_salt_jinja::{self as jinja, Request};

/// Steps beyond which a template is not a quick one.
const FUEL: u64 = 1_000_000;

/// The text that a plan prints for a request, with where it comes from. None where Python has to decide.
pub(super) fn printed(plan: &TemplatePlan, request: &Request<'_>) -> Option<(String, Vec<Chunk>)> {
    let budget = Budget::new(
        Limits {
            fuel: FUEL.min(request.fuel.map_or(request.limits.fuel, Cell::get)),
            ..request.limits
        },
        None,
    );
    let mut variables = Vec::with_capacity(plan.variables);
    for name in &plan.given {
        variables.push(Some(given(request, name)?));
    }
    variables.resize(plan.variables, None);
    let mut printer = Printer {
        request,
        python: Python { budget },
        variables,
        text: String::new(),
        chunks: Vec::new(),
    };
    printer.steps(&plan.steps)?;
    Some((printer.text, printer.chunks))
}

/// The variable that a template is given by a name.
fn given(request: &Request<'_>, name: &str) -> Option<Obj> {
    let own = request.locals.iter().rev().find(|(own, _)| &***own == name);
    own.map(|(_, object)| object.clone())
        .or_else(|| request.variables.get(name).cloned())
}

struct Printer<'r> {
    request: &'r Request<'r>,
    python: Python<'r>,
    variables: Vec<Option<Obj>>,
    text: String,
    chunks: Vec<Chunk>,
}

impl Printer<'_> {
    fn steps(&mut self, steps: &[PlanStep]) -> Option<()> {
        for step in steps {
            self.python.budget.burn(1).ok()?;
            match step {
                PlanStep::Print { what, span, exact } => self.print(what, *span, *exact)?,
                PlanStep::If {
                    test,
                    then,
                    otherwise,
                } => {
                    let is_true = self.look(test)?.truthy().ok()?;
                    self.steps(if is_true { then } else { otherwise })?;
                }
                PlanStep::For {
                    variable,
                    items,
                    body,
                } => {
                    for item in items_of(&self.look(items)?)? {
                        *self.variables.get_mut(*variable)? = Some(plain(item)?);
                        self.python.budget.burn(1).ok()?;
                        self.steps(body)?;
                    }
                }
            }
        }
        Some(())
    }

    fn print(&mut self, what: &LookupExpr, span: Span, exact: bool) -> Option<()> {
        // A place that the template does not have comes from a program that is not ours.
        self.request
            .source
            .get(span.start as usize..span.end as usize)?;
        let start = self.text.len();
        match what {
            LookupExpr::Value(mapstack_value::Value::Str(text)) => self.text.push_str(text),
            what => match self.look(what)? {
                Obj::Str(text) => self.text.push_str(&text),
                Obj::Int(int) => self.text.push_str(&int.to_string()),
                Obj::Bool(true) => self.text.push_str("True"),
                Obj::Bool(false) => self.text.push_str("False"),
                Obj::None => self.text.push_str("None"),
                _ => return None,
            },
        }
        self.chunks.push(Chunk {
            start,
            name: self.request.name.clone(),
            source: self.request.source.clone(),
            span: jinja::ast::Span {
                start: span.start,
                end: span.end,
            },
            exact,
        });
        self.python
            .budget
            .burn((self.text.len() - start) / 64)
            .ok()?;
        (self.text.len() <= self.request.limits.output).then_some(())
    }

    /// The value of an expression.
    fn look(&self, look: &LookupExpr) -> Option<Obj> {
        let vm = &self.python;
        vm.budget.burn(1).ok()?;
        let value = match look {
            LookupExpr::Value(value) => Obj::from(value.clone()),
            LookupExpr::Variable(number) => self.variables.get(*number)?.clone()?,
            LookupExpr::Item(parts) => {
                let (of, key) = (self.look(&parts[0])?, self.look(&parts[1])?);
                get_item(vm, &of, &key).ok()??
            }
            LookupExpr::Slice(parts) => {
                let [of, start, stop] = [&parts[0], &parts[1], &parts[2]].map(|it| self.look(it));
                slice(vm, &of?, &start?, &stop?, &Obj::None).ok()?
            }
            LookupExpr::Call {
                of,
                method,
                arguments,
            } => {
                let of = self.look(of)?;
                let arguments = arguments.iter().map(|it| self.look(it));
                let arguments = CallArgs::positional(arguments.collect::<Option<Vec<_>>>()?);
                methods::call(vm, &of, METHODS.get(*method)?, arguments).ok()?
            }
            LookupExpr::Compare(comparison, parts) => {
                let (a, b) = (self.look(&parts[0])?, self.look(&parts[1])?);
                Obj::from(compare(vm, operator(*comparison), &a, &b).ok()?)
            }
            LookupExpr::IsNone(of) => Obj::from(self.look(of)?.is_none()),
            LookupExpr::Not(of) => Obj::from(!self.look(of)?.truthy().ok()?),
            LookupExpr::And(parts) => self.first(parts, false)?,
            LookupExpr::Or(parts) => self.first(parts, true)?,
            LookupExpr::Choice(parts) => {
                let at = if self.look(&parts[0])?.truthy().ok()? {
                    1
                } else {
                    2
                };
                self.look(&parts[at])?
            }
            LookupExpr::Sum(parts) => {
                let (a, b) = (self.look(&parts[0])?, self.look(&parts[1])?);
                binary(vm, BinaryOp::Add, &a, &b).ok()?
            }
        };
        plain(value)
    }

    /// The first part with a truth, or else the last one.
    fn first(&self, parts: &[LookupExpr], truth: bool) -> Option<Obj> {
        let (last, parts) = parts.split_last()?;
        for part in parts {
            let value = self.look(part)?;
            if value.truthy().ok()? == truth {
                return Some(value);
            }
        }
        self.look(last)
    }
}

/// A value, if its type is one that Python has for data.
fn plain(value: Obj) -> Option<Obj> {
    match value {
        Obj::None
        | Obj::Bool(_)
        | Obj::Int(_)
        | Obj::Float(_)
        | Obj::Str(_)
        | Obj::Bytes(_)
        | Obj::List(_)
        | Obj::Tuple(_)
        | Obj::Dict(_)
        | Obj::Set(_) => Some(value),
        Obj::Markup(_) | Obj::Undefined(_) | Obj::Iter(_) | Obj::Native(_) => None,
    }
}

/// The items that a loop goes through.
fn items_of(of: &Obj) -> Option<Vec<Obj>> {
    match of {
        Obj::List(list) => Some(list.items()),
        Obj::Tuple(items) => Some(items.to_vec()),
        Obj::Dict(dict) => Some(dict.keys().iter().map(Obj::from).collect()),
        _ => None,
    }
}

fn operator(comparison: Comparison) -> CompareOp {
    match comparison {
        Comparison::Equal => CompareOp::Eq,
        Comparison::NotEqual => CompareOp::Ne,
        Comparison::Less => CompareOp::Lt,
        Comparison::LessOrEqual => CompareOp::Le,
        Comparison::Greater => CompareOp::Gt,
        Comparison::GreaterOrEqual => CompareOp::Ge,
        Comparison::In => CompareOp::In,
        Comparison::NotIn => CompareOp::NotIn,
    }
}

/// Pays for operations. It has no code that they could call.
struct Python<'r> {
    budget: Budget<'r>,
}

impl Interpreter for Python<'_> {
    fn budget(&self) -> &Budget<'_> {
        &self.budget
    }

    fn strict(&self) -> bool {
        true
    }

    fn call(&self, _: &Obj, _: CallArgs) -> Result<Obj> {
        Err(not_here())
    }

    fn get_attr(&self, _: &Obj, _: &Str) -> Result<Obj> {
        Err(not_here())
    }

    fn get_key(&self, _: &Obj, _: &Obj) -> Result<Obj> {
        Err(not_here())
    }

    fn run(&self, _: &mut dyn std::any::Any) -> Result<Option<Obj>> {
        Ok(None)
    }
}

fn not_here() -> Box<Error> {
    Error::new(ErrorKind::Nested, "a plan calls nothing")
}

#[cfg(all(unix, test))]
mod tests {
    use mapstack_value::{Map, Value};
    use proptest::prelude::*;

    use super::super::Interpreter;
    use super::super::bridge::CompiledJob;
    use crate::client::mako::MakoOptions;
    use mapstack_salt_jinja::{NoHost, RenderResult, Request, request};

    fn asked(source: &str) -> Request<'static> {
        let inner = Map::from_iter([("os", Value::from("Debian")), ("cpus", Value::from(4))]);
        let grains = Value::Map(Map::from_iter([
            ("os", Value::from("Debian")),
            ("roles", Value::from_iter(["web", "dbänk", ""])),
            ("inner", Value::Map(inner)),
            ("float", Value::from(1.5)),
            ("none", Value::None),
        ]));
        let mut request = request(source, &NoHost);
        for (name, value) in [
            ("minion_id", Value::from("web1.example.com")),
            ("grains", grains),
            ("number", Value::from(-7)),
            ("flag", Value::from(true)),
        ] {
            request.variables.insert(name.into(), value.into());
        }
        request
    }

    type Printed = Option<(String, String)>;

    /// The text printed without the interpreter, with the places; `None` if the interpreter is needed.
    fn planned(source: &str) -> Printed {
        printed(source, |asked: &CompiledJob<'_>| asked.planned())
    }

    /// The text that the interpreter prints.
    fn rendered(source: &str) -> Printed {
        printed(source, |asked| {
            let (rendered, changed) = asked.interpreted(&["grains"]);
            assert_eq!(changed, [], "{source}");
            rendered.ok()
        })
    }

    fn printed(source: &str, by: impl FnOnce(&CompiledJob<'_>) -> Option<RenderResult>) -> Printed {
        let (request, interpreter) = (asked(source), Interpreter::new());
        let asked = CompiledJob::of(&request, MakoOptions::stack(), None, &interpreter).ok()?;
        by(&asked).map(|it| (it.text, format!("{:?}", it.map)))
    }

    #[test]
    fn what_only_looks_is_printed_without_the_interpreter() {
        for (source, expected) in [
            ("plain ## text\n", "plain ## text\n"),
            (
                "${minion_id}\n## note\n${number}${flag}",
                "web1.example.com\n-7True",
            ),
            (
                "${grains['os']}${grains.get('nosuch', 'x')}${grains['none']}",
                "DebianxNone",
            ),
            (
                "${minion_id.split('.')[0].upper()}${minion_id[:3]}${minion_id[-3:]}",
                "WEB1webcom",
            ),
            (
                "% if grains['os'] == 'Debian' and 'web' in grains['roles']:\ny\n% else:\nn\n% endif\n",
                "y\n",
            ),
            (
                "% if number > 0:\na\n% elif not flag:\nb\n% elif number is not None:\nc\n% endif\n",
                "c\n",
            ),
            (
                "% for role in grains['roles']:\n- ${role or 'none'}\n% endfor\n",
                "- web\n- dbänk\n- none\n",
            ),
            (
                "${'a' if flag else 'b'}${'x' + minion_id}",
                "axweb1.example.com",
            ),
        ] {
            let (text, map) = planned(source).unwrap_or_else(|| panic!("{source}"));
            assert_eq!(text, expected, "{source}");
            assert_eq!(rendered(source), Some((text, map)), "{source}");
        }
    }

    #[test]
    fn what_does_more_is_rendered_by_the_interpreter() {
        for source in [
            // Templates that fail.
            "${grains['nosuch']}",
            "${number.upper()}",
            "${number < minion_id}",
            "${grains['roles'][7]}",
            // Names that are not given, before they are bound, and not data.
            "${nosuch}",
            "${flag}${len}",
            "${role}\n% for role in []:\n% endfor\n",
            // Templates that print something else than `str()` of a plain type.
            "${grains['roles']}",
            "${grains['float']}",
            "${minion_id | h}",
            "${number | n}",
            "<%page expression_filter=\"h\"/>${minion_id}",
            // Templates that change, call or define something.
            "${grains.pop('os')}",
            "${str(number)}",
            "<% x = 1 %>${x}",
            "a<% return %>b",
            "% if flag:\na<% return '' %>\n% endif\nb",
            "<%def name=\"f()\">x</%def>${f()}",
            "<%block name=\"b\">x</%block>",
            "<%! x = 1 %>${x}",
            "<%page args=\"x=1\"/>${x}",
            "% for role in grains['roles']:\n${loop.index}\n% endfor\n",
            "% for a, b in grains.items():\n${a}\n% endfor\n",
            "${'\\ud800'}",
        ] {
            assert_eq!(planned(source), None, "{source}");
        }
    }

    fn one_of(options: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
        prop::sample::select(options).prop_map(str::to_owned)
    }

    /// Expressions of any type: most of them fail.
    fn any() -> impl Strategy<Value = String> + Clone {
        one_of(&[
            "minion_id",
            "grains",
            "number",
            "flag",
            "None",
            "-1",
            "2",
            "1.5",
            "'os'",
            "'inner'",
            "'roles'",
            "item",
            "grains['roles']",
            "grains['inner']",
            "grains.get('none')",
        ])
    }

    /// Expressions that are texts, if nothing fails.
    fn text() -> impl Strategy<Value = String> {
        let known = one_of(&[
            "minion_id",
            "grains['os']",
            "''",
            "'.'",
            "'web'",
            "'ß İ'",
            "grains['roles'][1]",
            "item",
        ]);
        let leaf = prop_oneof![8 => known, 1 => any()];
        leaf.prop_recursive(3, 10, 3, |inner| {
            let two = (inner.clone(), inner.clone());
            let changed = one_of(&[
                "upper()",
                "lower()",
                "strip()",
                "title()",
                "capitalize()",
                "split('.')[0]",
                "rsplit('e', 1)[-1]",
                "partition('.')[2]",
                "replace('e', 'ö')",
                "lstrip('w')",
                "join(grains['roles'])",
                "strip('.m')",
            ]);
            prop_oneof![
                two.clone().prop_map(|(a, b)| format!("({a} + {b})")),
                two.clone().prop_map(|(a, b)| format!("({a} or {b})")),
                two.clone().prop_map(|(a, b)| format!("({a} and {b})")),
                two.prop_map(|(a, b)| format!("grains.get({a}, {b})")),
                (inner.clone(), changed).prop_map(|(a, change)| format!("({a}).{change}")),
                (inner.clone(), -4..4, -4..4).prop_map(|(a, m, n)| format!("({a})[{m}:{n}]")),
                (inner.clone(), -3..3).prop_map(|(a, n)| format!("({a})[{n}]")),
                (inner.clone(), any(), inner)
                    .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            ]
        })
    }

    fn test() -> impl Strategy<Value = String> {
        let operators = one_of(&["==", "!=", "<", ">=", "in", "not in", "and", "or"]);
        prop_oneof![
            (text(), operators.clone(), text())
                .prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
            (any(), operators, any()).prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
            any().prop_map(|a| format!("not {a}")),
            any().prop_map(|a| format!("{a} is not None")),
            text().prop_map(|a| format!("({a}).startswith('w')")),
        ]
    }

    fn template() -> impl Strategy<Value = String> {
        let print = text().prop_map(|it| format!("a ${{{it}}} b\n"));
        print.prop_recursive(2, 6, 2, |inner| {
            let items = one_of(&[
                "grains['roles']",
                "grains",
                "grains['inner']",
                "minion_id.split('.')",
            ]);
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a + &b),
                (items, inner.clone())
                    .prop_map(|(items, body)| format!("% for item in {items}:\n{body}% endfor\n")),
                (test(), test(), inner.clone(), inner).prop_map(|(test, other, a, b)| {
                    format!("% if {test}:\n{a}% elif {other}:\n{b}% else:\nelse\n% endif\n")
                }),
            ]
        })
    }

    proptest! {
        // Each case takes two processes.
        #![proptest_config(ProptestConfig {
            cases: ProptestConfig::default().cases / 6,
            max_global_rejects: 50_000,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_interpreter_prints_the_same(source in template()) {
            let printed = planned(&source);
            prop_assume!(printed.is_some());
            prop_assert_eq!(rendered(&source), printed, "{}", source);
        }
    }
}
