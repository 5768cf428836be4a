//! `self` and `super`.

use mapstack_pyobject::{
    CallArgs, Error, ErrorKind, Interpreter, Iter, Obj, ObjIter, Object, Result, Undefined,
    lookup_key,
};
use mapstack_value::Str;

use super::job::call_in_render;
use super::scope::Frame;

/// `self`: the template's blocks as functions.
pub(super) struct SelfObject(pub Frame);

impl Object for SelfObject {
    fn type_name(&self) -> &'static str {
        "TemplateReference"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.runtime")
    }

    fn repr(&self) -> Result<String> {
        let name = self
            .0
            .context
            .name
            .as_deref()
            .map_or("None".into(), mapstack_value::quote_str);
        Ok(format!("<TemplateReference {name}>"))
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        self.0.context.block(name, 0)?;
        Some(Obj::native(BlockObject {
            name: name.into(),
            depth: 0,
            frame: self.0.clone(),
        }))
    }

    fn slice(&self, _: &dyn Fn(usize) -> Result<[i64; 3]>) -> Option<Result<Obj>> {
        // Blocks are looked up in a dict.
        Some(Err(Error::type_error("unhashable type: 'slice'")))
    }

    fn is_subscriptable(&self) -> bool {
        true
    }

    fn item(&self, vm: &dyn Interpreter, key: &Obj) -> Result<Option<Obj>> {
        // An unhashable key is not a block; an undefined one cannot even be looked for.
        match lookup_key(key) {
            Err(e) if e.kind == ErrorKind::Undefined => Err(e),
            _ => Ok(key.as_str().and_then(|name| self.attr(vm, name))),
        }
    }

    fn iter(&self) -> Option<Iter> {
        Some(Iter::plain("iterator", NumberedBlocks))
    }
}

/// Python iterates over what has items by asking for those of the keys 0, 1 and so on. No block has such a name.
struct NumberedBlocks;

impl ObjIter for NumberedBlocks {
    fn next(&mut self, _: &dyn Interpreter) -> Result<Option<Obj>> {
        Err(Error::python("KeyError", "0"))
    }
}

/// One definition of a block as a function.
struct BlockObject {
    name: Str,
    depth: usize,
    frame: Frame,
}

impl Object for BlockObject {
    fn type_name(&self) -> &'static str {
        "BlockReference"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.runtime")
    }

    fn callable(&self) -> bool {
        true
    }

    fn attr(&self, interpreter: &dyn Interpreter, name: &str) -> Option<Obj> {
        (name == "super").then(|| next_definition(interpreter, &self.name, self.depth, &self.frame))
    }

    fn call(&self, interpreter: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let [] = args.only_positional("block", 0)?;
        let (name, depth, frame) = (self.name.clone(), self.depth, self.frame.clone());
        call_in_render(interpreter, move |vm| {
            let mut out = vm.capturing();
            vm.run_block(&name, depth, &frame, &mut out)?;
            vm.captured(out)
        })
    }
}

/// `super` inside a block: the next definition towards the base; undefined if there is none.
pub(super) fn next_definition(
    vm: &dyn Interpreter,
    name: &Str,
    depth: usize,
    frame: &Frame,
) -> Obj {
    if frame.context.block(name, depth + 1).is_none() {
        let quoted = mapstack_value::quote_str(name);
        return Undefined::hint(
            format!("there is no parent block called {quoted}."),
            vm.strict(),
        )
        .into();
    }
    Obj::native(BlockObject {
        name: name.clone(),
        depth: depth + 1,
        frame: frame.clone(),
    })
}
