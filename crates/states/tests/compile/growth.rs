//! The steps of the compiler at five sizes: each state of a large tree costs as much as one of a small tree.

use std::cell::Cell;
use std::fmt::Write as _;

use mapstack_pyobject::{Budget, Limits, Obj};
use mapstack_states::compile::{CompileOptions, Compiler};

const SIZES: [usize; 5] = [50, 100, 200, 400, 800];

/// The most that a state of one size costs of what one of the smallest costs. Bounds of tables are the difference.
const MOST: f64 = 1.2;

/// So many states, an ID each.
fn states(n: usize, arguments: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, at| {
        let _ = writeln!(
            all,
            "a{at}: {{test: [nop, {}], __sls__: f, __env__: base}}",
            arguments(at)
        );
        all
    })
}

/// The steps that compiling takes.
fn steps(high: &str) -> u64 {
    let high = Obj::from_shared(&mapstack_yaml::load(high).unwrap());
    let (limits, fuel) = (Limits::default(), Cell::new(Limits::default().fuel));
    {
        let budget = Budget::new(limits, Some(&fuel));
        // A refusal takes steps as well.
        let _ = Compiler::new(CompileOptions::default(), &budget).low(&high);
    }
    limits.fuel - fuel.get()
}

/// Makes high data of a size.
type Make = Box<dyn Fn(usize) -> String>;

fn kinds() -> [(&'static str, Make); 13] {
    let each = |arguments: fn(usize, usize) -> String| -> Make {
        Box::new(move |n| states(n, |at| arguments(at, n)))
    };
    [
        ("plain", each(|at, _| format!("{{x: {at}}}"))),
        (
            "chain of requisites",
            each(|at, n| format!("{{require: [{{test: a{}}}]}}", (at + 1).min(n - 1))),
        ),
        (
            "circle of requisites",
            each(|at, n| format!("{{require: [{{test: a{}}}]}}", (at + 1) % n)),
        ),
        (
            "missing requisites",
            each(|at, _| format!("{{require: [{{test: nope{at}}}]}}")),
        ),
        (
            "one required by all",
            each(|_, _| "{require: [{test: a0}]}".into()),
        ),
        (
            "require_in of one",
            each(|_, _| "{require_in: [{test: a0}]}".into()),
        ),
        (
            "chain of require_in",
            each(|at, n| format!("{{require_in: [{{test: a{}}}]}}", (at + 1).min(n - 1))),
        ),
        (
            "chain of prereq",
            each(|at, n| format!("{{prereq: [{{test: a{}}}]}}", (at + 1).min(n - 1))),
        ),
        (
            "use of the next",
            each(|at, n| format!("{{use: [{{test: a{}}}]}}, {{x: 1}}", (at + 1) % n)),
        ),
        ("listen", each(|_, _| "{listen: [{test: a0}]}".into())),
        ("orders", each(|at, n| format!("{{order: {}}}", n - at))),
        (
            "names",
            Box::new(|n| {
                let names: Vec<String> = (0..n).map(|name| format!("n{name}")).collect();
                states(1, |_| format!("{{names: [{}]}}", names.join(", ")))
            }),
        ),
        (
            "extend",
            Box::new(|n| {
                let extended = (0..n).fold(String::new(), |all, at| {
                    all + &format!("{{a{at}: {{test: [{{y: 1}}], __sls__: e}}}}, ")
                });
                states(n, |_| "{x: 1}".into()) + &format!("__extend__: [{extended}]\n")
            }),
        ),
    ]
}

#[test]
fn each_state_costs_as_much_in_a_large_tree() {
    for (kind, make) in kinds() {
        let each = SIZES.map(|n| steps(&make(n)) as f64 / n as f64);
        for (n, each_here) in SIZES.iter().zip(each) {
            assert!(each_here <= each[0] * MOST, "{kind}, {n}: {each:?}");
        }
        assert!(each[0] >= 1.0, "{kind} is free: {each:?}");
    }
}

#[test]
fn each_requisite_between_names_costs_as_much_among_many() {
    let each = [25, 50, 100, 200].map(|n| {
        let names: Vec<String> = (0..n).map(|name| format!("n{name}")).collect();
        let names = names.join(", ");
        let high = states(2, |at| match at {
            0 => format!("{{names: [{names}]}}"),
            _ => format!("{{names: [{names}]}}, {{require: [{{test: a0}}]}}"),
        });
        steps(&high) as f64 / (n * n) as f64
    });
    assert!(each.iter().all(|one| *one <= each[0] * MOST), "{each:?}");
}

#[test]
fn each_shared_argument_costs_as_much_among_many() {
    let each = [25, 50, 100, 200].map(|n| {
        let all: Vec<String> = (0..n).map(|at| format!("{{test: a{at}}}")).collect();
        let all = all.join(", ");
        let high = states(n, |at| format!("{{x{at}: 1}}, {{use: [{all}]}}"));
        steps(&high) as f64 / (n * n) as f64
    });
    for each_here in each {
        assert!(each_here <= each[0] * MOST, "{each:?}");
    }
}
