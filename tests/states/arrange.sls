# Extending: arguments are replaced or added, requisites come on top, the function may change.
include: [other]
extend:
  x:
    test.anop:
      - y: 2
      - z: 3
      - d: {b: 2}
      - require: [{test: a}]
    time.sleep:
      - duration: 5
  q:
    test: [{new: 1}]
a:
  test.nop: []
#@ other.sls
x:
  test.nop:
    - y: 1
    - w: 1
    - d: {a: 1}
    - require: [{test: q}]
q:
  test.nop: []
#> 0 test.nop a
#> 3 test.anop x {"d":{"b":2},"w":1,"y":2,"z":3} require q require a
#> 1 test.nop q {"new":1}
#> 2 time.sleep x {"duration":5}
---
extend:
  zz:  ### "Cannot extend ID zz in SLS main.sls. It is not part of the high state"
    test.nop: []
  ab: test.nop  ### "Extension ID "ab" in SLS "main.sls" is not a dictionary"
  abd:  ### "Cannot extend ID abd in SLS main.sls. It is not part of the high state, did you mean `abc`\?"
    test.nop: []
  abc:
    time:  ### "No function declared in state "time" in ID "abc" in SLS "main.sls""
      - duration: 1
abc:
  test.nop: []
---
extend: [x]  ### "Extend Declaration in SLS main.sls is not formed as a dictionary but as a <class 'list'>"
a:
  test.nop: []
---
# Excluding by ID, by file, and by ref alone as in Salt.
include: [o, p]
exclude:
  - id: a
  - sls: o
  - p
a:
  test.nop: []
b:
  test.nop: []
#@ o.sls
c:
  test.nop: []
#@ p.sls
d:
  test.nop: []
#> 0 test.nop b
---
exclude: a  ### "Exclude Declaration in SLS main.sls is not formed as a list but as a <class 'str'>"
a:
  test.nop: []
---
exclude:
  - 5  ### "an exclude in SLS main.sls must be \{id: ID\}, \{sls: REF\} or a ref, not 5"
  - {ID: a}  ### "an exclude in SLS main.sls must be"
a:
  test.nop: []
---
# One state a name; an entry may say more.
a:
  test.nop:
    - foo: 1
    - names:
      - x
      - y:
        - foo: 2
        - bar: 3
        - require: [{test: b}]
      - z: {foo: 4}
b:
  test.nop: []
c:
  test.nop: [{require: [{test: a}, {test: y}]}, {names: []}]
#> 0 test.nop a[x] {"foo":1}
#> 3 test.nop a[y] {"bar":3,"foo":2} require b
#> 1 test.nop a[z] {"foo":4}
#> 2 test.nop b
#> 4 test.nop c require a[x] a[y] a[z] require a[y]
---
a:
  test.nop:
    - names: x  ### "The names statement in state "a" in SLS "main.sls" needs to be formed as a list"
b:
  test.nop:
    - names:
      - [1]  ### "an entry of names in state "b" in SLS "main.sls" must be a name or \{name: \[arguments\]\}"
      - x
      - x  ### "the name x occurs twice in state "b" in SLS "main.sls""
---
# Using the arguments of others, not their names and requisites.
a:
  test.nop:
    - x: 1
    - y: 2
    - name: foo
    - order: 5
    - require: [{test: c}]
    - failhard: true
b:
  test.nop:
    - y: 3
    - use: [{test: a}]
c:
  test.nop:
    - use_in: [{test: d}]
    - z: 9
d:
  test.nop:
    - use: [{test: b}]
#> 3 test.nop a[foo] {"x":1,"y":2} require c failhard
#> 0 test.nop b {"x":1,"y":3} failhard
#> 1 test.nop c {"z":9}
#> 2 test.nop d {"x":1,"y":3,"z":9} failhard
---
a:
  test.nop:
    - use: [{test: b}]
b:
  test.nop:  ### "A recursive requisite was found: ID b and ID a use each other"
    - use: [{test: a}]
---
a:
  test.nop:
    - use: [{test: bb}]  ### "Requisite 'use test:bb' not found in current run. Verify the syntax, did you mean `a`|Requisite 'use test:bb' not found"
