# Idem's places: what is written as a list counts from 100000, short forms come after all of these.
a:
  test.nop: [{order: last}]
b:
  test.nop: [{order: -1}]
c:
  test.nop: [{order: -2}]
d:
  test.nop: [{order: first}]
e:
  test.nop: []
f:
  test.nop: [{order: 1}]
g:
  test.nop: [{order: 0}]
h:
  test.nop: [{order: 100001}]
i: test.nop
j:
  test:
    - nop
k:
  test.nop: [{order: last}]
z:
  test.nop: [{order: 100004}]
m:
  test.nop: [{order: 1.5}]
#> 0 test.nop d
#> 1 test.nop g
#> 2 test.nop f
#> 3 test.nop m
#> 4 test.nop e
#> 5 test.nop h
#> 6 test.nop j
#> 7 test.nop z
#> 8 test.nop i
#> 9 test.nop c
#> 10 test.nop b
#> 11 test.nop a
#> 12 test.nop k
---
a:
  test.nop: [{order: abc}]  ### "the order of ID a in SLS main.sls must be `first`, `last` or a number"
b:
  test.nop: [{order: [1]}]  ### "the order of ID b"
c:
  test.nop: [{order: 1.0e+300}]  ### "the order of ID c"
---
# All that wait for nothing run first, in their order; then all that wait for these.
a:
  test.nop: [{require: [{test: b}]}]
b:
  test.nop: [{require: [{test: c}]}]
c:
  test.nop: []
d:
  test.nop: []
e:
  test.nop: [{require: [{test: d}]}]
#> 4 test.nop a require b
#> 2 test.nop b require c
#> 0 test.nop c
#> 1 test.nop d
#> 3 test.nop e require d
---
# Circles are told as circles.
a:
  test.nop: [{require: [{test: b}]}]  ### "A recursive requisite was found: test:a requires test:b \(main.sls:3:25\), test:b watches test:c \(main.sls:5:23\), test:c takes arguments from test:a \(main.sls:7:20\)"
b:
  test.nop: [{watch: [{test: c}]}]
c:
  test.nop: [{foo: "${test:a:x}"}]
d:
  test.nop: [{require: [{test: a}]}]
e:
  test.nop: [{onchanges: [{test: e}]}]  ### "A recursive requisite was found: test:e runs on changes of test:e"
---
# A prereq waits the other way about.
a:
  test.nop: [{prereq: [{test: b}]}]
b:
  test.nop: [{prereq: [{test: a}]}]  ### "A recursive requisite was found: test:a comes after test:b \(main.sls:5:24\), test:b comes after test:a \(main.sls:3:24\)"
---
# What is to be looked at cannot take arguments from what comes later.
a:
  test.nop: [{prereq: [{test: b}]}]
b:
  test.nop: [{foo: "${test:c:x}"}]  ### "A recursive requisite was found: test:a looks at test:b, which takes arguments from test:c \(main.sls:5:20\), test:c requires test:a \(main.sls:7:25\)"
c:
  test.nop: [{require: [{test: a}]}]
---
# A pattern leaves out the state that has it.
a:
  test.nop: [{require: [{test: "*"}]}]
b:
  test.nop: []
c:
  test.nop: []
#> 2 test.nop a require b c
#> 0 test.nop b
#> 1 test.nop c
---
# Two patterns that name each other are a circle.
a1:
  test.nop: [{require: [{test: "a*"}]}]  ### "A recursive requisite was found: test:a1 requires test:a2 \(main.sls:3:25\), test:a2 requires test:a1"
a2:
  test.nop: [{require: [{test: "a*"}]}]
---
# A prereq waits for what the looked at one waits for, unless that would lead in a circle.
a:
  test.nop: [{prereq: [{test: b}, {test: c}]}]
b:
  test.nop: [{require: [{test: d}]}]
c:
  test.nop: [{require: [{test: b}]}]
d:
  test.nop: [{order: last}]
#> 0 test.nop a prereq b prereq c
#> 2 test.nop b require d order+ a
#> 3 test.nop c require b order+ a
#> 1 test.nop d
---
a:
  test.nop: [{prereq: [{test: b}]}]
b:
  test.nop: [{require: [{test: d}]}, {prereq: [{test: c}]}]
c:
  test.nop: [{require: [{test: e}]}]
d:
  test.nop: [{order: last}]
e:
  test.nop: [{order: last}]
#> 2 test.nop a prereq b order+ d e
#> 3 test.nop b require d prereq c order+ e order+ a
#> 4 test.nop c require e order+ b
#> 0 test.nop d
#> 1 test.nop e
---
# Listening gives way when the other one needs it.
a:
  test.nop: [{listen: [{test: b}]}]
b:
  test.nop: [{require: [{test: a}]}]
#> 0 test.nop a
#> 1 test.nop b require a
#> 2 test.mod_watch a_listen[a] listen_any b listener
