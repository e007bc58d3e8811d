# Every requisite, by ID.
a:
  test.nop: []
b:
  test.nop:
    - require: [{test: a}]
    - watch: [{test: a}]
    - onchanges: [{test: a}]
    - onfail: [{test: a}]
c:
  test.nop:
    - require_any: [{test: a}, {test: b}]
    - watch_any: [{test: a}]
    - onchanges_any: [{test: a}]
    - onfail_any: [{test: a}]
    - onfail_all: [{test: b}]
#> 0 test.nop a
#> 1 test.nop b require a watch a onchanges a onfail a
#> 2 test.nop c require_any a require_any b watch_any a onchanges_any a onfail_any a onfail b
---
# By name, by pattern, by file, by the name among several, with the function behind the state.
a:
  test.nop: [{name: myname}]
b:
  test.nop: [{require: [{test: myname}]}]
c:
  test.nop: [{require: [{test: "my*"}]}]
d:
  test.nop: [{require: [{test: "m[!a-x]name"}]}]
e:
  test.nop: [{require: [{test: "a[myname]"}]}]
f:
  test.nop: [{require: [{sls: other}]}]
g:
  test.nop: [{require: [{test.nop: a}]}]
h:
  time.sleep: [{duration: 0}, {require: [{test: "?"}]}]
include: [other]
#@ other.sls
x:
  test.nop: []
y:
  time.sleep: [{duration: 0}]
#> 0 test.nop a[myname]
#> 3 test.nop b require a[myname]
#> 4 test.nop c require a[myname]
#> 5 test.nop d require a[myname]
#> 6 test.nop e require a[myname]
#> 7 test.nop f require x y
#> 8 test.nop g require a[myname]
#> 9 time.sleep h {"duration":0} require a[myname] b c d e f g x
#> 1 test.nop x
#> 2 time.sleep y {"duration":0}
---
# `sls` names a state of `sls.run`, too, by ID, name or pattern; which file it brings says nothing.
a:
  sls.run: [{name: n}, {sls_sources: [b]}]
c:
  test.nop: [{require: [{sls: a}]}]
d:
  test.nop: [{require: [{sls: n}]}]
e:
  test.nop: [{require: [{sls: "?"}]}]
#@ b.sls
x: {test.nop: []}
#> 0 sls.run a[n] {"sls_sources":["b"]}
#> 1 test.nop c require a[n]
#> 2 test.nop d require a[n]
#> 3 test.nop e require a[n]
---
# What is not there.
abc:
  test.nop: [{require: [{test: abd}]}]  ### "Requisite 'require test:abd' not found in current run. Verify the syntax, did you mean `abc`\?"
b:
  test.nop: [{watch: [{tset: abc}]}]  ### "Requisite 'watch' state 'tset': not found in current run. Verify the syntax, did you mean `test`\?"
c:
  test.nop: [{require: [{sls: none}]}]  ### "Requisite 'require sls:none' not found in current run"
d:
  test.nop: [{require: [{test: "x*"}]}]  ### "Requisite 'require test:x\*' not found"
e:
  test.nop: [{require_in: [{test: zzz}]}]  ### "Requisite 'require_in test:zzz' not found in current run"
f:
  test.nop: [{require: [{test: "abc[x]"}]}]  ### "Requisite 'require test:abc\[x\]' not found"
g:
  test.nop: [{x: "${test:zzz:y}"}]  ### "Requisite 'arg_bind test:zzz' not found"
---
# With --lenient it fails that state only.
#$ --lenient
a:
  test.nop: [{require: [{test: zzz}]}, {x: "${test:yyy:y}"}]
b:
  test.nop: [{require: [{test: a}]}]
#> 0 test.nop a {"x":"${test:yyy:y}"} require arg_bind fails Requisite 'require test:zzz' not found in current run. Verify the syntax. / Requisite 'arg_bind test:yyy' not found in current run. Verify the syntax.
#> 1 test.nop b require a
---
# What a former run left is there, for `require` and references.
#$ --remembers cloud.vpc_|-net_|-net
a:
  test.nop:
    - require: [{cloud.vpc: net}]
    - id: ${cloud.vpc:net:resource_id}
#> 0 test.nop a {"id":"<cloud.vpc_|-net_|-net:resource_id>"} require ~cloud.vpc_|-net_|-net arg_bind ~cloud.vpc_|-net_|-net
---
# But not for the others.
#$ --remembers cloud.vpc_|-net_|-net
a:
  test.nop:
    - watch: [{cloud.vpc: net}]  ### "Requisite 'watch' state 'cloud.vpc': not found"
---
# The inverse ones.
a:
  test.nop:
    - require_in: [{test: c}]
    - watch_in: [{test: c}]
    - onchanges_in: [{test: c}]
    - onfail_in: [{test: c}]
    - prereq_in: [{test: b}]
    - listen_in: [{test: b}]
b:
  test.nop: []
c:
  test.nop: []
d:
  test.nop: [{require_in: [{test: "[bc]"}, {sls: o}]}]
include: [o]
#@ o.sls
e:
  test.nop: []
#> 3 test.nop a order+ b
#> 1 test.nop b prereq a require d
#> 4 test.nop c require a watch a onchanges a onfail a require d
#> 0 test.nop d
#> 2 test.nop e require d
#> 5 test.mod_watch b_listen[b] listen_any a require d listener
---
# Those that listen are called after everything else.
a:
  test.nop: [{listen: [{test: c}, {test: b}]}, {z: 2}, {name: foo}]
b:
  test.nop: []
c:
  test.nop: [{order: last}]
#> 2 test.nop a[foo] {"z":2}
#> 0 test.nop b
#> 1 test.nop c
#> 3 test.mod_watch a_listen[foo] {"z":2} listen_any c listen_any b listener
---
# Bindings written by hand.
a:
  test.nop: []
b:
  test.nop:
    - q: foo
    - m: {k: 1}
    - l: [1, 2]
    - arg_bind:
      - test:
        - a:
          - x: q
          - l[0]: z
          - n: deep:er
          - o: m:j
          - p: l[1]
#> 0 test.nop a
#> 1 test.nop b {"deep":{"er":"<test_|-a_|-a:n>"},"l":[1,"<test_|-a_|-a:p>"],"m":{"j":"<test_|-a_|-a:o>","k":1},"q":"<test_|-a_|-a:x>","z":"<test_|-a_|-a:l[0]>"} arg_bind a
---
a:
  test.nop: []
b:
  test.nop:
    - q: foo
    - arg_bind:
      - test:
        - a:
          - x: q:r  ### "there is no position `q:r` among the arguments of ID b"
          - y: l[0]  ### "there is no position `l\[0\]`"
          - z: l[x]  ### "Cannot parse argument value for key "l\[x\]""
          - y: 5  ### "Requisite declaration 5 in state "b" in SLS "main.sls" is not formed as a single key"
      - test: [a]  ### "Requisite declaration a in state"
    - arg_bind: 7  ### "The arg_bind statement in state "b" in SLS "main.sls" needs to be formed as a list"
---
# References in texts keep what stands around them.
a:
  test.nop: []
b:
  test.nop:
    - name: n-${test:a:x}
    - p: ${test:a:l[1]:k[0]}
    - q: "pre ${test:a:x} mid ${test:a:y} post"
    - r: {s: ["${test:a:x}", {"${test:a:x}": 1}]}
    - whole: "${test:a:}"
    - plain: "${HOME} ${a:b} $x ${test:a"
#> 0 test.nop a
#> 1 test.nop b[n-${test:a:x}] name "n-<test_|-a_|-a:x>" {"p":"<test_|-a_|-a:l[1]:k[0]>","plain":"${HOME} ${a:b} $x ${test:a","q":"pre <test_|-a_|-a:x> mid <test_|-a_|-a:y> post","r":{"s":["<test_|-a_|-a:x>",{"${test:a:x}":1}]},"whole":"<test_|-a_|-a:>"} arg_bind a
---
# A reference names one state.
a:
  test.nop:
    - names: [x, y]
b:
  test.nop:
    - p: ${test:a[x]:v}
    - q: ["ok", "${test:a:v}"]  ### "the reference to test:a matches several states: narrow it as in `a\[name\]`"
    - r: ${test:a[x]:l[-1]}  ### "Cannot parse argument value for key "l\[-1\]" for index "-1""
---
# What a module needs without saying so, and what runs one at a time.
a:
  test.treq: []
b:
  test.nop: []
c:
  test.nop: []
d:
  test.unique_op: []
e:
  test.unique_op: []
#> 4 test.treq a require+ b c
#> 0 test.nop b
#> 1 test.nop c
#> 2 test.unique_op d pool test.unique_op
#> 3 test.unique_op e pool test.unique_op
---
# Who uses a profile needs the state that makes it.
a:
  test.acct: [{acct_profile: p}]
b:
  acct.profile: [{provider_name: test}, {profile_name: p}]
c:
  test.acct: [{acct_profile: q}]
#> 2 test.acct a require+ b profile p
#> 0 acct.profile b {"profile_name":"p","provider_name":"test"}
#> 1 test.acct c profile q
---
# What listens gets an ID of its own.
a:
  test.nop: [{listen: [{test: b}]}]
#e 3 "the ID a_listen is the one under which a listens: give it another name"
b: test.nop
a_listen: test.nop
---
# Several names of one ID listen under one, too.
a:
  test.nop: [{listen: [{test: b}]}, {names: [p, q]}]
b: test.nop
#> 1 test.nop a[p]
#> 2 test.nop a[q]
#> 0 test.nop b
#> 3 test.mod_watch a_listen[p] listen_any b listener
#> 4 test.mod_watch a_listen[q] listen_any b listener
