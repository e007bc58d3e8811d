# Jinja: loops, conditions, macros, includes, filters.
{% set q = 5 %}
{% import 'macros.sls' as m %}
{% from 'macros.sls' import two %}
{% for i in range(4) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}
a{{ i }}:
  test.nop:
    - r: {{ m.one(5) }} {{ two(6) }}
{% include 'part.sls' %}
    - b: {{ 'äöü' | b64encode }} {{ 'YWJj' | b64decode }}
    - random: {{ [7, 8] | random }}
{% endfor %}
#@ macros.sls
{% macro one(x) %}1{{x}}{% endmacro %}
{% macro two(x) %}2{{x}}{% endmacro %}
#@ part.sls
    - t: {{ q }}
#> 0 test.nop a0 {"b":"w6TDtsO8 abc","r":"15 26","random":7,"t":5}
#> 1 test.nop a2 {"b":"w6TDtsO8 abc","r":"15 26","random":7,"t":5}
---
# Errors name the line of the source, whatever was written before it.
{% for i in range(100) %}
# line
{% endfor %}
{% for i in [1, 2] %}
a{{ i }}:
  test.nop:
    - require: [{test: b{{ i }}}]  ### "Requisite 'require test:b1' not found"
{% endfor %}
#e 8 "Requisite 'require test:b2' not found"
c:
  test.nope: []  ### "Could not find function to enforce test.nope. Please make sure that the corresponding plugin is loaded. Did you mean `nop`\?"
---
# Errors in what is included name that file.
a:
{% include 'part.sls' %}
#@ part.sls
  test.nop:
    - require: [{test: zzz}]  ### "Requisite 'require test:zzz' not found"
---
a:
  test.nop:
    - x: {{ foo }}  ### "Error while parsing 'main.sls': Jinja variable: 'foo' is undefined"
---
a: {{ foo  ### "Error while parsing 'main.sls': Jinja syntax error: "
---
a:
  test.nop:
    - x: {{ [1] | nope }}  ### "Error while parsing 'main.sls': Jinja syntax error: No filter named 'nope'"
---
a:
  test.nop:
    - x: {{ 5 | b64encode }}  ### "Error while parsing 'main.sls': 'int' object has no attribute 'encode'"
---
a:
  test.nop:
    - x: {{ ''.__class__ }}  ### "access to attribute '__class__' of 'str' object is unsafe"
---
{% include 'nope.sls' %}  ### "Error while parsing 'main.sls': TemplateNotFound: nope.sls"
a:
  test.nop: []
---
{% include '../../etc/passwd' %}  ### "TemplateNotFound"
a:
  test.nop: []
---
# Functions at rendering time.
a:
  test.nop:
    - ping: {{ hub.exec.test.ping().ret }}
    - echo: {{ hub.exec.test.echo(1, 'b', c=[2]) }}
    - item: {{ hub.exec['test'].echo(7)['ret'][0] }}
#> 0 test.nop a {"echo":{"comment":{"c":[2]},"result":true,"ret":[1,"b"]},"item":7,"ping":true}
---
a:
  test.nop:
    - x: {{ hub.exec.nope.ping() }}  ### "Error while parsing 'main.sls': 'exec' has no attribute 'nope.ping'"
---
a:
  test.nop:
    - x: {{ hub.exec.test.plain() }}  ### "Exec module 'exec.test.plain' did not return a dictionary"
---
a:
  test.nop:
    - x: {{ hub.states.test.nop() }}  ### "'Hub object' has no attribute 'states'"
---
a:
  test.nop:
    - x: {{ hub.idem.arg_bind.resolve('${test:b:x}') }}  ### "Arg_bind template '\$\{test:b:x\}' could not be resolved to any value"
---
# Pipes.
#!yaml
a:
  test.nop:
    - x: "{{ 5 }}"
    - y: __PYTHON_NONE__
#> 0 test.nop a {"x":"{{ 5 }}","y":"__PYTHON_NONE__"}
---
#$ --render jinja|yaml
a:
  test.nop:
    - x: {{ 5 }}
    - y: __PYTHON_NONE__
#> 0 test.nop a {"x":5,"y":"__PYTHON_NONE__"}
---
# Nothing.
a:
  test.nop:
    - x: __PYTHON_NONE__
    - y: a__PYTHON_NONE__b
    - z: [__PYTHON_NONE__]
#> 0 test.nop a {"x":null,"y":"ab","z":[null]}
---
#@ main.sls json
#!jinja|json|replacements
{"a": {"test.nop": [{"x": {{ 5 }} }, {"y": "__PYTHON_NONE__"}]}}
#> 0 test.nop a {"x":5,"y":null}
---
#!ymal
#e 1 "Error while parsing 'main.sls': 'rend' has no attribute 'ymal', did you mean `yaml`\?"
a:
  test.nop: []
---
#$ --render toml
a:  ### "'rend' has no attribute 'toml'"
  test.nop: []
---
# What YAML 1.1 makes of plain texts.
a:
  test.nop:
    - x: [yes, 0777, 1:30, 2001-12-14, ~, 1e3]
    - y: &anchor {k: 1}
    - z: [*anchor, {<<: *anchor, l: 2}]
#> 0 test.nop a {"x":[true,777,90,"2001-12-14",null,"1e3"],"y":{"k":1},"z":[{"k":1},{"k":1,"l":2}]}
