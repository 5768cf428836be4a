//! Lists and dicts that are made of literals alone.
//!
//! They are put together when the template is parsed. Each evaluation gives a new object over the same data.

use std::collections::BTreeMap;

use mapstack_value::{Key, List, Map, Value};

use super::super::ast::{Constant, Expr, ExprKind};

/// The constants of a template by the place where they start. Those inside of others are part of them.
#[derive(Debug, Default)]
pub(super) struct Constants {
    pub made: BTreeMap<u32, Constant>,
}

impl Constants {
    /// Note a list or dict that has been parsed, if it is constant.
    pub fn note(&mut self, start: u32, kind: &ExprKind) {
        let constant = match kind {
            ExprKind::List(items) => self.sequence(items).map(|(items, made)| Constant {
                value: Value::List(List::from_iter(items)),
                ..made
            }),
            ExprKind::Dict(entries) => self.dict(entries),
            _ => None,
        };
        let Some(constant) = constant else { return };
        // Everything noted from here on is inside.
        drop(self.made.split_off(&start));
        self.made.insert(start, constant);
    }

    fn sequence(&self, items: &[Expr]) -> Option<(Vec<Value>, Constant)> {
        let mut made = Constant {
            value: Value::None,
            objects: 1 + items.len(),
            steps: items.len(),
        };
        let values = items.iter().map(|item| self.part(item, &mut made));
        Some((values.collect::<Option<_>>()?, made))
    }

    fn dict(&self, entries: &[(Expr, Expr)]) -> Option<Constant> {
        let mut made = Constant {
            value: Value::None,
            objects: 2 + entries.len(),
            steps: 2 * entries.len(),
        };
        let mut map = Map::new();
        for (key, value) in entries {
            let key = self.part(key, &mut made)?;
            // Hashing a long text takes further steps.
            made.steps += key.as_str().map_or(0, |text| text.len() / 16);
            let value = self.part(value, &mut made)?;
            map.insert(Key::try_from(&key).ok()?, value);
        }
        made.value = Value::Map(map);
        Some(made)
    }

    /// The value of a part, if it is constant; what it takes is added to the whole.
    fn part(&self, expr: &Expr, whole: &mut Constant) -> Option<Value> {
        let part = match &expr.kind {
            ExprKind::Const(value) => return Some(value.clone()),
            ExprKind::Tuple(items) => {
                let (items, made) = self.sequence(items)?;
                Constant {
                    value: Value::Tuple(items.into()),
                    ..made
                }
            }
            ExprKind::List(_) | ExprKind::Dict(_) => self.made.get(&expr.span.start)?.clone(),
            ExprKind::Neg(number) | ExprKind::Pos(number) => {
                whole.steps += 1;
                let negative = matches!(expr.kind, ExprKind::Neg(_));
                return match self.part(number, whole)? {
                    Value::Int(int) if negative => Some(Value::Int(int.neg())),
                    Value::Float(float) if negative => Some(Value::Float(-float)),
                    number @ (Value::Int(_) | Value::Float(_)) => Some(number),
                    _ => None,
                };
            }
            _ => return None,
        };
        whole.objects += part.objects;
        whole.steps += part.steps;
        Some(part.value)
    }
}
