//! Times templates in mapstack's engine and in minijinja, on one thread of one process, in turns.
//!
//!     bench-templates DIRECTORY                             every template, as one JSON object
//!     bench-templates DIRECTORY names                       the names of the templates
//!     bench-templates DIRECTORY ENGINE TEMPLATE TURNS WORK  one template this many times, for a profiler; the work is
//!                                                           `render` or `parse`
//!
//! Templates are parsed before the clock runs. What `context.json` says are their variables, which each render of
//! mapstack gets as data and turns into objects itself.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use mapstack_benchmarks::{Result, fastest, median, times};
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{Host, Names, Syntax, TemplateCache, render};
use mapstack_value::Value;
use mapstack_value::json::loads;
use minijinja::{Environment, UndefinedBehavior};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde_json::json;

/// Templates that are not rendered themselves.
const PARTS: [&str; 4] = ["base", "library", "middle", "part"];

/// Each engine renders a template by its name.
trait Engine {
    fn render(&self, template: &str) -> Result<String>;
    fn parse(&self, template: &str) -> Result;
}

/// The sources of the templates by their file names.
struct Sources(HashMap<String, Arc<str>>);

impl Host for Sources {
    fn template(&self, path: &str) -> mapstack_pyobject::Result<Option<Arc<str>>> {
        Ok(self.0.get(path).cloned())
    }
}

struct Mapstack {
    sources: Sources,
    context: Value,
    cache: TemplateCache,
}

impl Engine for Mapstack {
    fn render(&self, template: &str) -> Result<String> {
        let source = self.sources.0.get(template).ok_or("no such template")?;
        let mut request = mapstack_salt_jinja::request(source.clone(), &self.sources);
        request.strict = false;
        request.name = Some(template.into());
        request.cache = Some(&self.cache);
        request.variables = variables(&self.context);
        Ok(render(request).map_err(|e| e.to_string())?.text)
    }

    fn parse(&self, template: &str) -> Result {
        let source = self.sources.0.get(template).ok_or("no such template")?;
        mapstack_salt_jinja::compile(None, source.clone(), &Syntax::default())
            .map_err(|e| e.to_string())?;
        Ok(())
    }
}

fn variables(context: &Value) -> Names {
    let entries = context.as_map().into_iter().flat_map(|map| map.iter());
    entries
        .map(|(name, value)| (name.to_string().into(), Obj::from(value.clone())))
        .collect()
}

struct Minijinja {
    environment: Environment<'static>,
    context: minijinja::Value,
    sources: HashMap<String, Arc<str>>,
}

impl Minijinja {
    fn new(sources: &HashMap<String, Arc<str>>, context: &str) -> Result<Self> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_unknown_method_callback(unknown_method_callback);
        minijinja_contrib::add_to_environment(&mut environment);
        for (name, source) in sources {
            environment.add_template_owned(name.clone(), source.to_string())?;
        }
        let context: serde_json::Value = serde_json::from_str(context)?;
        Ok(Minijinja {
            environment,
            context: minijinja::Value::from(minijinja::value::Serde(context)),
            sources: sources.clone(),
        })
    }
}

impl Engine for Minijinja {
    fn render(&self, template: &str) -> Result<String> {
        let template = self.environment.get_template(template)?;
        Ok(template.render(&self.context)?)
    }

    fn parse(&self, template: &str) -> Result {
        let source = self.sources.get(template).ok_or("no such template")?;
        self.environment.template_from_str(source)?;
        Ok(())
    }
}

fn main() -> Result {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = arguments.first().ok_or("a directory of templates")?;
    let sources = read(Path::new(directory))?;
    let context = std::fs::read_to_string(Path::new(directory).join("context.json"))?;
    let mapstack = Mapstack {
        sources: Sources(sources.clone()),
        context: loads(&context)?,
        cache: TemplateCache::default(),
    };
    let minijinja = Minijinja::new(&sources, &context)?;
    if let [_, engine, template, turns, work] = &arguments[..] {
        let engine: &dyn Engine = match &**engine {
            "mapstack" => &mapstack,
            "minijinja" => &minijinja,
            other => return Err(format!("no engine {other}").into()),
        };
        for _ in 0..turns.parse::<u32>()? {
            match &**work {
                "render" => drop(std::hint::black_box(engine.render(template)?)),
                "parse" => engine.parse(template)?,
                other => return Err(format!("no work {other}").into()),
            }
        }
        return Ok(());
    }
    let names = sources.keys().map(|name| name.trim_end_matches(".jinja"));
    let mut names: Vec<&str> = names.filter(|name| !PARTS.contains(name)).collect();
    names.sort_unstable();
    if arguments.len() > 1 {
        println!("{}", json!(names));
        return Ok(());
    }
    let mut measured = serde_json::Map::new();
    for name in names {
        let file = format!("{name}.jinja");
        measured.insert(name.to_owned(), compared(&file, &mapstack, &minijinja)?);
    }
    println!("{}", serde_json::Value::from(measured));
    Ok(())
}

/// Every template of a directory, without the newline at the end of the file, which the engines treat differently.
fn read(directory: &Path) -> Result<HashMap<String, Arc<str>>> {
    let mut sources = HashMap::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|name| name.ends_with(".jinja")) {
            let source = std::fs::read_to_string(&path)?;
            sources.insert(name.to_owned(), source.trim_end_matches('\n').into());
        }
    }
    Ok(sources)
}

/// The times of both engines for one template, or why the other one does not print the same.
fn compared(name: &str, ours: &dyn Engine, theirs: &dyn Engine) -> Result<serde_json::Value> {
    let text = ours.render(name)?;
    let difference = match theirs.render(name) {
        Ok(other) if other == text => None,
        Ok(other) => Some(first_difference(&text, &other)),
        Err(error) => Some(error.to_string()),
    };
    if let Some(difference) = difference {
        let ours = fastest(&times([&|| drop(ours.render(name))]), 0);
        return Ok(json!({"text": text, "render": {"ours": ours}, "difference": difference}));
    }
    let [renders, parses] = [
        times([&|| drop(ours.render(name)), &|| drop(theirs.render(name))]),
        times([&|| drop(ours.parse(name)), &|| drop(theirs.parse(name))]),
    ]
    .map(|turns| {
        let ratios = turns.iter();
        let ratios = ratios.map(|[ours, theirs]| ours.as_secs_f64() / theirs.as_secs_f64());
        let [ours, theirs] = [0, 1].map(|at| fastest(&turns, at));
        json!({"ours": ours, "minijinja": theirs, "ratio": median(ratios.collect())})
    });
    Ok(json!({"text": text, "render": renders, "parse": parses}))
}

fn first_difference(ours: &str, theirs: &str) -> String {
    let lines = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b);
    match lines {
        Some((ours, theirs)) => format!("prints {theirs:?} for {ours:?}"),
        None => "prints more or less".to_owned(),
    }
}
