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
#> 6 test.mod_watch c_listen[c] {"x":"<test_|-e_|-e:y>"} listen_any f listener
---
#$ --target aac
aab:  ### "Invalid 'target' for run 'cli': aac. 'target' should be a declaration ID, did you mean `aab`\?"
  test.nop: []
