# A block waits for states to run; what names its states waits with it.
x:
  test.nop: []
w:
  test.nop: [{require: [{test: y}]}]
v:
  test.nop: [{require: [{test: w}]}]
#!require:x

y:
  test.nop:
    - r: {{ hub.idem.arg_bind.resolve('${test:x:l}') }}
#!END
z:
  test.nop: []
#> 0 test.nop x
#> 1 test.nop w require delayed
#> 3 test.nop v require w delayed
#> 2 test.nop z
#> block of main.sls waits for x
---
# When they ran it is rendered, and sees what they left.
#$ --ran x={"l": [1, {"k": 5}], "s": "text"}
x:
  test.nop: []
w:
  test.nop: [{require: [{test: y}]}]
#!require:x

y:
  test.nop:
    - r: {{ hub.idem.arg_bind.resolve('${test:x:l}') }}
    - s: {{ hub.idem.arg_bind.resolve('a ${test:x:s} b') }}
    {% for i in hub.idem.arg_bind.resolve('${test:x:l}') %}
    - r{{ loop.index }}: {{ i }}
    {% endfor %}
#!END
z:
  test.nop: []
#> 0 test.nop x
#> 3 test.nop w require y
#> 1 test.nop z
#> 2 test.nop y {"r":[1,{"k":5}],"r1":1,"r2":{"k":5},"s":"a text b"}
---
# Several lines want all of them.
#$ --ran x={}
x:
  test.nop: []
y:
  test.nop: []
#!require:x
#!require:y
z:
  test.nop: []
#> 0 test.nop x
#> 1 test.nop y
#> block of main.sls waits for x y
---
# A block knows nothing of what others set.
#$ --ran x={}
{% set q = 1 %}
x:
  test.nop: []
#!require:x
y:
  test.nop:
    - r: {{ q }}  ### "Jinja variable: 'q' is undefined"
---
x:
  test.nop: []
#!require:xy
#e 3 "a block of SLS main.sls requires the ID xy, which does not exist, did you mean `x`\?"
y:
  test.nop: []
---
# Beside blocks that are rendered, too, and in a circle.
x:
  test.nop: []
#!require:x
y:
  test.nop: []
#!require:nosuch
#e 7 "a block of SLS main.sls requires the ID nosuch, which does not exist"
z:
  test.nop: []
---
#e 2 "a block of SLS main.sls requires the ID two, which does not exist"
#!require:two
one:
  test.nop: []
#!require:one
#e 5 "a block of SLS main.sls requires the ID one, which does not exist, did you mean `none`\?"
two:
  test.nop: []
#!END
none:
  test.nop: []
---
# It may wait for what another block brings.
x:
  test.nop: []
#!require:x
y:
  test.nop: []
#!require:y
z:
  test.nop: []
#> 0 test.nop x
#> block of main.sls waits for x
#> block of main.sls waits for y
---
a:
  test.nop: []
#!END
#e 3 "Error while parsing 'main.sls': Unexpected End of file line 3"
---
# A pipe of its own.
#$ --ran x={}
x:
  test.nop: []
#!require:x
#!yaml
y:
  test.nop: [{a: "{{ 5 }}"}]
#> 0 test.nop x
#> 1 test.nop y {"a":"{{ 5 }}"}
---
# Files that a block includes.
#$ --ran x={}
x:
  test.nop: []
#!require:x
include: [o]
y:
  test.nop: [{require: [{test: o}]}]
#@ o.sls
o:
  test.nop: []
#> 0 test.nop x
#> 2 test.nop y require o
#> 1 test.nop o
