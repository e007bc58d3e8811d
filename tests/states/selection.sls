# Undone: the last first, references from memory, other functions as they are.
#$ --invert
a:
  test.present:
    - new_state: 1
b:
  test.present:
    - require: [{test: a}]
c:
  test.absent:
    - require: [{test: b}]
d:
  test.nop: []
e:
  test.present:
    - new_state: ${test:a:x}
    - listen: [{test: a}]
#> 4 test.absent a {"new_state":1} require+ b e
#> 3 test.absent b require+ c
#> 0 test.present c
#> 1 test.nop d
#> 2 test.absent e {"new_state":"<test_|-a_|-a:x>"} arg_bind ~test_|-a_|-a
---
# What has no inverse needs what it needs otherwise; between two that are undone it waits for both.
#$ --invert
a:
  test.present: []
b:
  test.nop: [{onchanges: [{test: a}]}, {x: "${test:c:y}"}, {listen: [{test: c}]}]
c:
  test.nop: [{onfail: [{test: d}]}]
d:
  test.nop: []
e:
  test.present: [{require: [{test: c}, {test: a}]}]
#> 3 test.absent a require+ e
#> 4 test.nop b {"x":"<test_|-c_|-c:y>"} onchanges a arg_bind c
#> 1 test.nop c onfail d
#> 0 test.nop d
#> 2 test.absent e require c
#> 5 test.mod_watch b_listen[b] {"x":"<test_|-c_|-c:y>"} onchanges a listen_any c arg_bind c listener
---
# What requires something goes before that is undone.
#$ --invert
a:
  test.present: []
b:
  test.nop: [{require: [{test: a}]}]
c:
  test.present: [{require: [{test: b}, {test: a}]}]
#> 2 test.absent a order+ b require+ c
#> 0 test.nop b
#> 1 test.absent c require b
---
# A circle that this would make is none.
#$ --invert
a:
  test.present: []
b:
  test.nop: [{onchanges: [{test: a}]}]
c:
  test.present: [{require: [{test: b}, {test: a}]}]
#> 1 test.absent a require+ c
#> 2 test.nop b onchanges a
#> 0 test.absent c
---
# A profile is made before those that use it.
#$ --invert
a:
  test.present: [{acct_profile: p}]
p:
  acct.profile: [{provider_name: x}]
#> 1 test.absent a require+ p profile p
#> 0 acct.profile p {"provider_name":"x"}
---
# One ID with everything that it needs, and that it is needed by says nothing.
#$ --target c
a:
  test.nop: []
b:
  test.nop: [{watch: [{test: a}]}]
c:
  test.nop:
    - onchanges: [{test: b}]
    - x: ${test:e:y}
    - listen: [{test: f}]
d:
  test.nop: [{require_in: [{test: c}]}]
e:
  test.nop: []
f:
  test.nop: []
g:
  test.nop: [{require: [{test: c}]}]
h:
  test.nop: [{prereq: [{test: c}]}]
#> 0 test.nop a
#> 4 test.nop b watch a
#> 5 test.nop c {"x":"<test_|-e_|-e:y>"} onchanges b require d arg_bind e
#> 1 test.nop d
#> 2 test.nop e
#> 3 test.nop f
#> 6 test.mod_watch c_listen[c] {"x":"<test_|-e_|-e:y>"} onchanges b listen_any f require d arg_bind e listener
---
#$ --target aac
aab:  ### "Invalid 'target' for run 'cli': aac. 'target' should be a declaration ID, did you mean `aab`\?"
  test.nop: []
