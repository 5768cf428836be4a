//! Values as they cross, with Python's types kept.

use mapstack_value::{Int, Key, Map, MapKind, Set, Value};
use rmp::Marker;

use crate::protocol::codec::{DecodeError, Message, Reader, Writer};

/// The deepest nesting of a value.
const MAX_DEPTH: usize = 256;

/// Marks of types that MessagePack lacks.
mod mark {
    pub(super) const INT: i8 = 1;
    pub(super) const TUPLE: i8 = 2;
    pub(super) const SET: i8 = 3;
    pub(super) const ORDERED: i8 = 4;
    pub(super) const AGGREGATE: i8 = 5;
    pub(super) const BUNCH: i8 = 6;
}

impl Message for Value {
    fn write(&self, out: &mut Writer) {
        match self {
            Value::None => out.nil(),
            Value::Bool(flag) => out.flag(*flag),
            Value::Int(int) => write_int(int, out),
            Value::Float(float) => out.float(*float),
            Value::Str(text) => out.text(text),
            Value::Bytes(bytes) => out.bytes(bytes),
            Value::List(items) => {
                out.count(items.len());
                items.iter().for_each(|item| item.write(out));
            }
            Value::Tuple(items) => {
                out.mark(mark::TUPLE);
                out.count(items.len());
                items.iter().for_each(|item| item.write(out));
            }
            Value::Map(map) => {
                match map.kind() {
                    MapKind::Dict => {}
                    MapKind::Ordered => out.mark(mark::ORDERED),
                    MapKind::Aggregate => out.mark(mark::AGGREGATE),
                    MapKind::Bunch => out.mark(mark::BUNCH),
                }
                out.entries(map.len());
                for (key, value) in map {
                    write_key(key, out);
                    value.write(out);
                }
            }
            Value::Set(items) => {
                out.mark(mark::SET);
                out.count(items.len());
                items.iter().for_each(|item| write_key(item, out));
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        read(input, 0)
    }
}

fn write_int(int: &Int, out: &mut Writer) {
    match int.to_i64() {
        Some(int) => out.int(int),
        None => {
            out.mark(mark::INT);
            out.text(&int.to_str_radix(16));
        }
    }
}

fn write_key(key: &Key, out: &mut Writer) {
    match key {
        Key::None => out.nil(),
        Key::Bool(flag) => out.flag(*flag),
        Key::Int(int) => write_int(int, out),
        Key::Float(float) => out.float(*float),
        Key::Str(text) => out.text(text),
        Key::Bytes(bytes) => out.bytes(bytes),
        Key::Tuple(items) => {
            out.mark(mark::TUPLE);
            out.count(items.len());
            items.iter().for_each(|item| write_key(item, out));
        }
    }
}

fn read(input: &mut Reader<'_>, depth: usize) -> Result<Value, DecodeError> {
    if depth > MAX_DEPTH {
        return Err(input.error("the value is nested too deeply"));
    }
    input.values = input
        .values
        .checked_sub(1)
        .ok_or_else(|| input.error("the message has too many values"))?;
    match input.peek()? {
        Marker::Null => input.nil().map(|()| Value::None),
        Marker::True | Marker::False => input.flag().map(Value::Bool),
        Marker::F32 | Marker::F64 => input.float().map(Value::Float),
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
            input.shared().map(Value::Str)
        }
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
            input.bytes().map(|bytes| Value::Bytes(bytes.into()))
        }
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
            Ok(Value::List(items(input, depth)?.into()))
        }
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => map(input, MapKind::Dict, depth),
        Marker::FixExt1 => marked(input, depth),
        _ => input.int().map(|int| Value::Int(int.into())),
    }
}

fn marked(input: &mut Reader<'_>, depth: usize) -> Result<Value, DecodeError> {
    match input.mark()? {
        mark::INT => {
            let digits = input.text()?;
            Int::from_str_radix(digits, 16)
                .map(Value::Int)
                .ok_or_else(|| input.error("this is not an integer"))
        }
        mark::TUPLE => Ok(Value::Tuple(items(input, depth)?.into())),
        mark::SET => {
            let count = input.count()?;
            let mut set = Vec::with_capacity(count.min(1024));
            for _ in 0..count {
                set.push(key(input, depth + 1)?);
            }
            Ok(Value::Set(set.into_iter().collect::<Set>()))
        }
        mark::ORDERED => map(input, MapKind::Ordered, depth),
        mark::AGGREGATE => map(input, MapKind::Aggregate, depth),
        mark::BUNCH => map(input, MapKind::Bunch, depth),
        _ => Err(input.error("this is not a value")),
    }
}

fn items(input: &mut Reader<'_>, depth: usize) -> Result<Vec<Value>, DecodeError> {
    input.list(|input| read(input, depth + 1))
}

fn map(input: &mut Reader<'_>, kind: MapKind, depth: usize) -> Result<Value, DecodeError> {
    let count = input.entries()?;
    let mut map = Map::with_capacity(count.min(1024));
    for _ in 0..count {
        let key = key(input, depth + 1)?;
        map.insert(key, read(input, depth + 1)?);
    }
    Ok(Value::Map(map.with_kind(kind)))
}

fn key(input: &mut Reader<'_>, depth: usize) -> Result<Key, DecodeError> {
    let value = read(input, depth)?;
    Key::try_from(&value).map_err(|_| input.error("this cannot be a key"))
}
