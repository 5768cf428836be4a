"""Make up templates for both sides: JSON lines on stdout, as `jinja_suite.py expect` reads them.

    python jinja_random.py SEED COUNT

Nothing in a template makes what it loops over longer: Jinja2 would not come to an end.
"""
import json
import random
import sys

r = random.Random(int(sys.argv[1]))
NAMES = ["a","b","c","x","y","n","é","l","d","s","ns","m","row","self","loop","caller","super","varargs"]
VARS = {"a":1,"b":-7,"c":0,"s":"text é","l":[3,1,2],"d":{"k":1,"items":[1,2],"z":{"q":"v"}},"f":2.5,"e":[],"words":["b","a","b"]}
def lit(depth=2):
    k = r.random()
    if k<.3: return str(r.choice([0,1,2,3,10,15,-3,7,12345678901234567890]))
    if k<.5: return repr(r.choice(["","a","b c","é","x%s","1"])) 
    if k<.55: return r.choice(["true","false","none","1.5","-0.5"])
    if depth<=0: return "1"
    n = r.randrange(4)
    if k<.72: return "["+", ".join(lit(depth-1) for _ in range(n))+"]"
    if k<.8: return "("+"".join(lit(depth-1)+", " for _ in range(n))+")"
    return "{"+", ".join(f"{r.choice([repr('k'),repr('z'),'1','true','1.0','none',repr('items'),'(1, 2)','[1]' if r.random()<.1 else '2'])}: {lit(depth-1)}" for _ in range(n))+"}"
def name():
    return r.choice(["a","b","c","s","l","d","f","e","words","a","s","l","d","words","x","n"]) if r.random()<.97 else r.choice(NAMES)
def iexpr(depth=2):
    if depth<=0 or r.random()<.4: return r.choice(["a","b","c","f","1","2","-3","10","(loop.index if loop is defined else 9)","s|length","l[0]","d.k","7","n|default(0)","x|default(4)"])
    return f"({iexpr(depth-1)} {r.choice(['+','-','*','+','-','*','//','%','%','/','**' if r.random()<.05 else '+'])} {iexpr(depth-1)})"
def expr(depth=3):
    k = r.random()
    if depth<=0 or k<.2: return name() if r.random()<.6 else lit(1)
    e = lambda: expr(depth-1)
    if k<.33 and r.random()<.9: return r.choice([f"({e()} ~ {e()})", iexpr(depth), iexpr(depth)])
    if k<.42 and r.random()<.85: return r.choice([f"({e()} == {e()})", f"({iexpr(2)} < {iexpr(2)})", f"({e()} in {lit(2)})" if r.random()<.1 else f"({iexpr(1)} in l)", f"({iexpr(1)} <= {iexpr(1)} < {iexpr(2)})", f"({iexpr(1)} % 3 == 0)"])
    if k<.72 and k>.60 and r.random()<.8: return r.choice(["d.k","d.z.q","d['k']","d['items']","d.items()|list","ns.k","s[0]","l[0]","words[-1]","d.z","l[1:]","words[::-1]","d.nope|default(1)","s[1:3]"])
    if k<.33: return f"({e()} {r.choice(['+','-','*','//','%','/','~','~'])} {e()})"
    if k<.42: return f"({e()} {r.choice(['==','!=','<','<=','>','in','not in'])} {e()})"
    if k<.47: return f"({e()} {r.choice(['and','or'])} {e()})"
    if k<.50: return f"(not {e()})"
    if k<.53: return f"(-{iexpr(1)})"
    if k<.60: return f"({e()} if {e()}" + (f" else {e()})" if r.random()<.6 else ")")
    if k<.67: return f"{name()}.{r.choice(['k','z','items','q','v','index','index0','last','first','length','keys','nope'])}"
    if k<.72: return f"{name()}[{e()}]"
    if k<.76: return f"{name()}[{r.choice(['',e()])}:{r.choice(['',e()])}{r.choice(['',':-1',':2'])}]"
    if k<.80: return lit(3)
    if k<.92:
        f = r.choice(["upper","lower","length","list","first","last","join(',')","join","default('q')","default(0, true)","replace('a','b')","int","string","reverse|list","dictsort","map('string')|list","select|list","reject('equalto', 1)|list","title","trim","batch(2)|list","round","tojson","yaml","selectattr('k')|list","indent(2)","center(5)","float","d('w')"])
        return f"({e()})|{f}"
    if k<.96: return f"({e()} is {r.choice(['defined','undefined','none','string','number','mapping','sequence','even','odd','divisibleby 2','iterable','sameas 1','equalto 1','in [1, 2]','true','callable'])})"
    return r.choice([f"m({e()})", f"m({e()}, y={e()})", f"range({r.randrange(5)})|list", f"{name()}.get('k', {e()})", f"{name()}.keys()|list", f"{name()}.upper()", f"'%s-%s' % ({e()}, {e()})", f"loop.cycle({e()}, 2)", "m.name", f"caller()", f"dict(k={e()})", f"{name()}.items()|list", f"loop.changed({e()})"])
def body(depth, loop=False):
    return "".join(stmt(depth-1, loop) for _ in range(r.randrange(1,4)))
count=[0]
def stmt(depth, loop=False):
    k = r.random()
    if depth<=0 or k<.35: return "{{ "+expr(3)+" }}" if r.random()<.7 else r.choice([" text\n","é","x\n\n","{# c #}","-"])
    ws = lambda: r.choice(["","","-"])
    if k<.5:
        t = r.choice(["x","y","n","a","é","k, v","x, y"])
        it = r.choice(["d.items()","[[1,2],[3,4]]","d|dictsort","{'a': 1}.items()"]) if ',' in t else r.choice([f"range({r.randrange(6)})","l","d","words","d.items()","s","[1, 'a', {'k': 1}]","['b', 'a']","e","[[1,2],[3,4]]","d|dictsort"])
        flt = f" if {expr(2)}" if r.random()<.2 else ""
        rec = " recursive" if r.random()<.06 else ""
        b = body(depth, True)
        if rec: b += "{{ loop(l) if loop.depth < 3 }}"
        els = "{% else %}"+body(depth,loop) if r.random()<.2 else ""
        return f"{{%{ws()} for {t} in {it}{flt}{rec} %}}{b}{els}{{%{ws()} endfor %}}"
    if k<.6:
        return f"{{% if {expr(2)} %}}{body(depth,loop)}"+(f"{{% elif {expr(2)} %}}{body(depth,loop)}" if r.random()<.3 else "")+("{% else %}"+body(depth,loop) if r.random()<.5 else "")+"{% endif %}"
    if k<.72:
        return f"{{% set {r.choice(['x','y','n','a','ns','l','d','é'])} = {r.choice([expr(3),lit(3),'namespace(k=1)'])} %}}"
    if k<.76: return f"{{% set ns = namespace(k={expr(2)}) %}}{{% for q in l %}}{{% set ns.k = {expr(2)} %}}{{% endfor %}}{{{{ ns.k }}}}"
    if k<.82:
        params=r.choice(["x","x, y=2","x=1, y=x","y"])
        return f"{{% macro m({params}) %}}{body(depth)}"+r.choice(["","{{ varargs }}","{{ kwargs }}","{{ caller() if caller }}"])+f"{{% endmacro %}}{{{{ m({expr(2)}) }}}}"+(f"{{% call m({expr(1)}) %}}{body(depth)}{{% endcall %}}" if r.random()<.3 else "")
    if k<.88:
        return "{% do "+r.choice([f"d.update({{'w': {expr(2)}}})",f"[1].append({expr(1)})",f"d.pop('k', none)",f"y.update({lit(2)})","words.sort()"])+" %}"
    if k<.91: return f"{{% with {r.choice(['x','y'])} = {expr(2)} %}}{body(depth,loop)}{{% endwith %}}"
    if k<.94: return f"{{% set {r.choice(['x','n'])} %}}{body(depth)}{{% endset %}}"
    if k<.96:
        count[0]+=1
        return f"{{% block b{count[0]} {r.choice(['','scoped'])} %}}{body(depth)}{r.choice(['','{{ self.b%d.name }}'%count[0] if False else ''])}{{% endblock %}}"
    if k<.98: return "{% include 'inc' %}" if r.random()<.6 else "{% import 'lib' as lib %}{{ lib.q(1) }}{{ lib.v }}"
    return r.choice(["{% break %}","{% continue %}"]) if loop else "{% filter upper %}"+body(depth)+"{% endfilter %}"
def plain(v):
    if v is None: return {"type":"null","value":None}
    k=type(v)
    if k in (bool,int,float,str): return {"type":k.__name__,"value":v}
    if k is list: return {"type":"list","value":[plain(x) for x in v]}
    return {"type":"map","value":[[plain(a),plain(b)] for a,b in v.items()]}

LIBRARY = {"inc": "<{{ x }}{{ n }}{{ loop.index if loop is defined }}>",
           "lib": "{% macro q(z) %}[{{ z }}{{ y }}]{% endmacro %}{% set v = [1, {'k': 2}] %}"}
BASE = ("A{% block h %}base{{ x }}{% endblock %}B"
        "{% for n in [1,2] %}{% block i scoped %}{{ n }}{% endblock %}{% endfor %}")
START = ("{% set x = 4 %}{% set n = 2 %}{% set y = {'k': [1]} %}{% set ns = namespace(k=1) %}"
         "{% macro m(x, y=2) %}{{ x }}{% endmacro %}")


def question():
    count[0] = 0
    start = START if r.random() < 0.9 else ""
    source = start + "".join(stmt(4) for _ in range(r.randrange(2, 6)))
    templates = dict(LIBRARY)
    if r.random() < 0.08:
        templates["base"] = BASE
        supers = r.choice(["", "{{ super() }}", "{{ self.i() }}"]), r.choice(["", "{{ super() }}", "{{ super.super }}"])
        source = ("{% extends 'base' %}{% block h %}" + body(3) + supers[0] + "{% endblock %}{% block i %}" + body(2)
                  + supers[1] + "{% endblock %}")
    return {"source": source, "options": {}, "strict": r.random() < 0.5, "templates": templates, "variables": plain(VARS)}


if __name__ == "__main__":
    for _ in range(int(sys.argv[2])):
        print(json.dumps(question()))
