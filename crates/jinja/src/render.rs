//! A render, from a request to what it printed.

use mapstack_pyobject::Result;

use super::output::{Output, SourceMap};
use super::scope::{Context, Frame, Names, ScopeChain};
use super::vm::{Request, Vm};

/// The result of a render.
#[derive(Debug)]
pub struct RenderResult {
    /// The printed text.
    pub text: String,
    /// The source map of the text.
    pub map: SourceMap,
    /// The names that the template's top level has bound, in order.
    pub exports: Names,
}

/// Render a template.
///
/// # Errors
/// Whatever the template raises, with the place in the source.
///
/// ```
/// use mapstack_jinja::{Jinja2, NoHost, Request, render};
/// let request = Request::new(&Jinja2, "{{ [1, 2]|join(',') }}", &NoHost);
/// assert_eq!(render(request).unwrap().text, "1,2");
/// ```
pub fn render(mut request: Request<'_>) -> Result<RenderResult> {
    let warn = |problem: &str| request.host.log("warning", problem);
    let dialect = request.dialect;
    dialect.prepare(&mut request.source, &mut request.syntax, &warn);
    let ends_in_newline = dialect.keeps_final_newline() && request.source.ends_with('\n');
    if let Some(tracer) = request.tracer {
        tracer.starts(&request.variables);
    }
    let vm = Vm::new(&request);
    vm.limits().check_run()?;
    let template = vm.parse_as(request.name.as_ref(), &request.source, &request.syntax)?;
    let given = match std::mem::take(&mut request.locals) {
        none if none.is_empty() => vm.globals_now(),
        locals => {
            let mut variables = std::mem::take(&mut request.variables);
            variables.extend(locals);
            ScopeChain::over(variables, Some(vm.globals_now()))
        }
    };
    let context = Context::new(&template, given);
    let mut out = Output::mapped(vm.limits().output);
    out.expect(&template);
    vm.run_template(&Frame::root(template, context.clone()), &mut out)?;
    let (mut text, map) = out.finish();
    if ends_in_newline {
        text.push('\n');
    }
    let exports = Names::clone(&context.vars());
    Ok(RenderResult { text, map, exports })
}
