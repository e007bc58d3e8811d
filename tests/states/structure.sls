# An ID is a text.
1:  ### "ID 1 in SLS main.sls is not formed as a string, but is a int"
  test.nop: []
yes:  ### "ID true in SLS main.sls is not formed as a string, but is a bool"
  test.nop: []
~:  ### "ID null in SLS main.sls is not formed as a string, but is a NoneType"
  test.nop: []
"5":
  test.nop: []
---
# The body of an ID.
a: 5  ### "ID a in SLS main.sls is not a dictionary"
b:  ### "ID b in SLS main.sls is not a dictionary"
c: [test.nop]  ### "ID c in SLS main.sls is not a dictionary"
d: test nop  ### "ID d in SLS main.sls is not a dictionary"
e: nop  ### "ID e in SLS main.sls is not a dictionary"
f_|-g:  ### "ID f_\|-g in SLS main.sls must not contain `_\|-`"
  test.nop: []
---
# The body of a state.
a:
  test.nop: 5  ### "State 'test.nop' in ID a in SLS main.sls is not formed as a list"
b:
  test.nop: {name: x}  ### "State 'test.nop' in ID b in SLS main.sls is not formed as a list"
c:
  test.nop:  ### "State 'test.nop' in ID c in SLS main.sls is not formed as a list"
---
#^ 5:7
# Functions.
a:
  test:
    - "no p"  ### "The function "no p" in state "a" in SLS "main.sls" has whitespace"
b:
  "test.no p": []  ### "The function "no p" in state "b" in SLS "main.sls" has whitespace"
c:
  test: [{name: x}]  ### "No function declared in state "test" in ID "c" in SLS "main.sls""
d:
  test: [nop, anop]  ### "Too many functions declared in state "test" in ID "d" in SLS "main.sls""
e:
  test.nop: [anop]  ### "Too many functions declared in state "test" in ID "e" in SLS "main.sls""
---
# Of two functions of one state the last wins with --lenient.
#$ --lenient
d:
  test: [nop, anop]
e:
  test.nop: []
  test.anop: []
#> 0 test.anop d
#> 1 test.anop e
---
# Two functions of one state under one ID.
a:
  test.nop: []
  test.anop: []  ### "ID "a" in SLS "main.sls" contains multiple state declarations from the same sub: test"
b:
  test.nop: []
  test: [anop]  ### "ID "b" in SLS "main.sls" contains multiple state declarations from the same sub: test"
---
# Several states under one ID.
a:
  test.nop: []
  time.sleep:
    - duration: 1
  META: {x: y}
  __x__: 5
META: [free, form]
__reserved__:
  a: b
#> 0 test.nop a
#> 1 time.sleep a {"duration":1}
#> meta main.sls ["free","form"]
#> meta main.sls.a {"x":"y"}
---
# Arguments.
a:
  test.nop:
    - name: x
      foo: y
    - bar: {c: [1, 2]}
    - [1, 2]  ### "an argument in state "a" in SLS "main.sls" is not formed as a dictionary but as a list: write `- name: value`"
    - 5  ### "is not formed as a dictionary but as a int"
---
# Two keys in one entry are two arguments, and the last of two with one name counts.
a:
  test.nop:
    - name: x
      foo: 1
    - foo: 2
    - 7: seven
#> 0 test.nop a[x] {"7":"seven","foo":2}
#w the argument `foo` of ID a in SLS main.sls is given twice: the last one wins
---
# A name that is no text is none.
a:
  test.nop: [{name: 5}]
b:
  test.nop: [{name: ~}]
#> 0 test.nop a
#> 1 test.nop b
---
# A state with dots may be named whole.
#$ --lenient
a:
  cloud.vpc.present: []
b:
  cloud.vpc:
    - present
    - cidr: 10.0.0.0/8
#> 0 cloud.vpc.present a fails Could not find function to enforce cloud.vpc. Please make sure that the corresponding plugin is loaded.
#> 1 cloud.vpc.present b {"cidr":"10.0.0.0/8"} fails Could not find function to enforce cloud.vpc. Please make sure that the corresponding plugin is loaded.
---
# A file is a dictionary.
- a  ### "SLS main.sls is not formed as a dict but as a list"
---
#@ main.sls json
hello
#e 1 "SLS main.sls is not formed as a dict but as a str"
---
# Duplicate keys.
a:
  test.nop: []
a:  ### "Error while parsing 'main.sls': Yaml render error: found conflicting ID 'a'"
  test.nop: []
---
# The same ID in two files.
#^ 1:1
include: [other]
a:
  test.nop: []
#@ other.sls
a:  ### "Duplicate state declarations found in SLS tree: a is in SLS main.sls and in SLS other"
  test.nop: []
---
# YAML errors name the source.
{% for i in [1, 2] %}
a{{ i }}:
  test.nop: []
{% endfor %}
b: [
#e 7 "Error while parsing 'main.sls': Yaml render error: did not find expected node content while parsing a flow node"
---
# What requisites are formed as.
a:
  test.nop:
    - require: b  ### "The require statement in state "a" in SLS "main.sls" needs to be formed as a list"
    - watch:  ### "The watch statement in state "a" in SLS "main.sls" needs to be formed as a list"
    - onchanges:
      - b  ### "Requisite declaration b in state "a" in SLS "main.sls" is not formed as a single key dictionary"
      - test: b  ### "Requisite declaration \{'test': 'b', 'foo': 'c'\} in state "a" in SLS "main.sls" is not formed as a single key dictionary"
        foo: c
      - test: 5  ### "Requisite declaration \{'test': 5\} in state "a" in SLS "main.sls" is not formed"
      - test: [b]  ### "is not formed as a single key dictionary"
    - require_in: {test: b}  ### "The require_in statement in state "a" in SLS "main.sls" needs to be formed as a list"
b:
  test.nop: []
