# A file stands before those that it includes, level by level; each is read once.
include: [b, c]
a:
  test.nop: []
#@ b.sls
include: [d]
b:
  test.nop: []
#@ c.sls
include: [d, e, main]
c:
  test.nop: []
#@ d.sls
include: [b]
d:
  test.nop: []
#@ e.sls
# nothing
#> 0 test.nop a
#> 1 test.nop b
#> 2 test.nop c
#> 3 test.nop d
---
#^ 3:10
# Includes that are none.
include: foo  ### "Include Declaration in SLS main.sls is not formed as a list but as a <class 'str'>"
a:
  test.nop: []
---
include:
  - nope  ### "Could not find SLS ref 'nope' in sources"
  - {b: 5}  ### "an include in SLS main.sls is not formed as a string but as a <class 'dict'>"
  - ..nope  ### "Attempted relative include of "..nope" within SLS main.sls goes beyond top level package"
  - ../../etc/passwd  ### "beyond top level|Could not find SLS ref"
  - ""  ### "Could not find SLS ref '' in sources"
---
#$ --sls main.sls
#$ --sls nope.sls
a:  ### "Could not find SLS ref 'nope.sls' in sources"
  test.nop: []
#@ x.sls
---
# Several files, refs and folders.
#$ --sls main.sls
#$ --sls sub
#$ --sls-sources file://root
a:
  test.nop: []
#@ root/sub/init.sls
include: [.c, ..d]
b:
  test.nop: []
#@ root/sub/c.sls
c:
  test.nop: []
#@ root/d.sls
d:
  test.nop: [{require: [{sls: sub}]}]
#> 0 test.nop a
#> 1 test.nop b
#> 2 test.nop c
#> 3 test.nop d require b
---
# Files that were never written.
#$ --sls x
#$ --sls-sources json://{"x": {"z": {"test.nop": [{"v": "{{ 1 + 1 }}"}]}, "include": ["y"], "a": {"test.nop": []}}, "y": {"b": "test.nop"}}
#> 0 test.nop z {"v":"2"}
#> 1 test.nop a
#> 2 test.nop b
---
# Parameters: of several files the later wins key by key, includes count less.
#$ --params p
#$ --params q.sls
a:
  test.nop:
    - all: {{ params }}
    - a: {{ params.a }}
    - missing: {{ params.get('zzz') }}
    - inside: "x{{ params.get('zzz') }}y"
    - default: {{ params.get('zzz', 5) }}
    - null_default: {{ params.get('zzz', none) }}
    - is_given: {{ 'yes' if params.get('zzz') else 'no' }} {{ params.get('zzz') or 'none' }}
    - nested: {{ params['c'].y }} {{ params.get('c').get('zzz') }}
    - has: {{ 'a' in params }} {{ params | length }} {{ params.keys() | list | sort | join }}
#@ p.sls
include: [r]
a: p
c: {x: p}
#@ q.sls
a: q
b: {{ params.get('a') }}
c: {y: q}
#@ r.sls
a: r
b: r
d: r
#> 0 test.nop a {"a":"q","all":{"a":"q","b":null,"c":{"y":"q"},"d":"r"},"default":5,"has":"True 4 abcd","inside":"xy","is_given":"no none","missing":null,"nested":"q None","null_default":null}
---
#$ --params p
a:
  test.nop:
    - x: {{ params.zzz }}  ### "Error while parsing 'main.sls': Jinja variable: 'params object' has no attribute 'zzz'"
#@ p.sls
a: 1
---
#$ --params nope
a:  ### "Could not find SLS ref 'nope' in sources"
  test.nop: []
---
#$ --param-sources nowhere
a:  ### "the source `nowhere` is neither a folder nor an archive"
  test.nop: []
---
# What one file asks of a parameter, the next one still finds.
#$ --params p
include: [b]
a:
  test.nop:
    - k: {{ params.get('c').get('k') }} {{ params.l.index(2) }}
{% do params.l.append(params.l) %}
#@ b.sls
b:
  test.nop:
    - k: {{ params.get('c').get('k') }} {{ params.l | length }}
#@ p.sls
c: {k: 1}
l: [1, 2]
#> 0 test.nop a {"k":"1 1"}
#> 1 test.nop b {"k":"1 3"}
