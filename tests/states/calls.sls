# Everything that is not there is told at once.
a:
  tset.nop: []  ### "Could not find function to enforce tset. Please make sure that the corresponding plugin is loaded. Did you mean `test`\?"
b:
  time.slep: []  ### "Could not find function to enforce time.slep. Please make sure that the corresponding plugin is loaded. Did you mean `sleep`\?"
c:
  time.sleep:
    - durration: 5  ### "'durration' is an invalid keyword argument for 'time.sleep', did you mean `duration`\?"
    - requir: [{test: a}]  ### "'requir' is an invalid keyword argument for 'time.sleep', did you mean `require`\?"
    - duration: 1
d:
  time.sleep: []  ### "states.time.sleep is missing required argument\(s\): duration"
e:
  cmd.run:
    - shell: "yes"  ### "states.cmd.run is expecting a boolean value for 'shell' but got 'yes'"
f:
  cmd.run:
    - shell: ~
    - is_string_output: ${test:a:b}  ### "Requisite 'arg_bind' state 'test': not found"
---
# What built-in states take is known before anything runs.
a:
  time.sleep:
    - duration: "5"  ### "`duration` must be a number of seconds, not \"5\""
b:
  time.sleep:
    - duration: .nan  ### "`duration` must be a number of seconds, not .nan"
c:
  time.sleep:
    - duration: ~  ### "`duration` must be a number of seconds, not null"
d:
  http.query:
    - headers: [a]  ### "`headers` must be a dictionary of names and lines of text, not \["a"\]"
e:
  exec.run:
    - args: ${test:f:a}
    - path: 7  ### "`path` must be a string, not 7"
f:
  test.nop: []
---
# So is what they could never use.
c0:
  cmd.run:
    - umask: "9"  ### "`umask` must be octal digits such as '022', not \"9\""
c1:
  cmd.run:
    - umask: 01777  ### "`umask` must be octal digits such as '022', not 1777"
c2:
  cmd.run:
    - timeout: 0  ### "`timeout` must be a number of seconds above 0, not 0"
c3:
  cmd.run:
    - success_retcodes: [0, 300]  ### "`success_retcodes` must be a list of exit codes from 0 to 255, not \[0,300\]"
c4:
  cmd.run:
    - success_retcodes: 3  ### "`success_retcodes` must be a list of exit codes"
c5:
  cmd.run:
    - env: {"a=b": c}  ### "`env` must be a dictionary whose keys are names of variables"
c6:
  file.directory:
    - mode: "0999"  ### "`mode` must be octal digits such as '0644', not \"0999\""
c7:
  file.directory:
    - user: "a:b"  ### "`user` must be a name or a number, not \"a:b\""
c8:
  file.directory:
    - group: -1  ### "`group` must be a name or a number, not -1"
c9:
  container.running:
    - image: nginx
    - memory: -5  ### "`memory` must be a whole number from 1 on, not -5"
c10:
  container.running:
    - image: nginx
    - cpu: 0.5  ### "`cpu` must be a whole number from 1 on, not 0.5"
c11:
  container.running:
    - image: nginx
    - restart: sometimes  ### "`restart` must be `always` or `no`, not \"sometimes\""
c12:
  container.running:
    - image: nginx
    - wait: soon  ### "`wait` must be seconds or a duration such as `2m`, not \"soon\""
c13:
  container.running:
    - image: nginx
    - wait: -2m  ### "`wait` must be seconds or a duration"
c14:
  http.query:
    - url: "ftp://x"  ### "`url` must be a URL such as http://localhost:8080/, not \"ftp://x\""
c15:
  http.query:
    - url: "http://x:99999/"  ### "`url` must be a URL"
c16:
  http.query:
    - url: "http:///x"  ### "`url` must be a URL"
c17:
  http.query:
    - method: "G ET"  ### "`method` must be a method such as `GET`, not \"G ET\""
c18:
  http.query:
    - status: [200, 99]  ### "`status` must be a code such as 200, or a list of them, not \[200,99\]"
c19:
  http.query:
    - headers: {"a b": c}  ### "`headers` must be a dictionary of names and lines of text"
c20:
  http.query:
    - headers: {a: "b\nc"}  ### "`headers` must be a dictionary of names and lines of text"
c21:
  data.write:
    - parameters: 5  ### "`parameters` must be a dictionary, not 5"
c22:
  sls.run:
    - sls_sources: [a, 5]  ### "`sls_sources` must be a ref, or a list of refs, not \[\"a\",5\]"
c23:
  cmd.run:
    - env: ["A=1"]  ### "`env` must be a dictionary whose keys are names of variables, or a list of such"
c24:
  test.configurable_test_state:
    - result: 7  ### "`result` must be true, false or `Random`, not 7"
---
# What is good passes, and what a reference gives is known later.
a:
  cmd.run: [{cmd: ls}, {umask: "0022"}, {timeout: 0.5}, {success_retcodes: [0, 255, "${test:z:code}"]}, {env: [{A: "${test:z:a}"}, {B: 5}]}]
b:
  cmd.run: [{cmd: ls}, {umask: 22}, {timeout: "${test:z:t}"}]
c:
  file.directory: [{mode: 755}, {user: root}, {group: 0}]
d:
  file.directory: [{mode: "02755"}]
e:
  container.running: [{image: nginx}, {memory: 64}, {cpu: 500}, {restart: "no"}, {wait: 1m30s}]
f:
  container.running: [{image: nginx}, {restart: always}, {wait: 5}]
g:
  http.query: [{url: "http://[::1]:8080/a?b=http://x:0"}, {method: PURGE}, {status: 404}, {headers: {x-a: "b c", n: 5}}]
h:
  http.query: [{url: "https://me:pw@host"}, {status: [200, 404]}, {headers: "${test:z:h}"}]
z:
  test.configurable_test_state: [{result: Random}]
y:
  time.sleep: [{duration: -1}]  ### "`duration` must be a number of seconds, not -1"
---
# With --lenient they fail one state, and arguments that are not known are warnings.
#$ --lenient
a:
  tset.nop: []
c:
  time.sleep:
    - durration: 5
d:
  test.nop: []
#> 0 tset.nop a fails Could not find function to enforce tset. Please make sure that the corresponding plugin is loaded.
#> 1 time.sleep c {"durration":5} fails states.time.sleep is missing required argument(s): duration
#> 2 test.nop d
#w 'durration' is an invalid keyword argument for 'time.sleep', did you mean `duration`?
---
# Settings.
a:
  test.nop:
    - sensitive: [x]
    - x: 5
    - ignore_changes: [x, "a:b[*]:c"]
    - unset: [y]
    - unless: "true"
    - onlyif: ["test -e ${test:b:path}", "true"]
    - check_cmd: "true"
    - retry: {attempts: 3, until: false, interval: 5, splay: 10}
    - failhard: true
    - recreate_on_update: {create_before_destroy: true}
    - recreate_if_deleted: true
    - acct_profile: p
    - reconcile: {wait: {exponential: {wait_in_seconds: 0.5, multiplier: 2, cap: 60, jitter: full}}, attempt: 10m, deadline: 90}
b:
  test.nop:
    - recreate_on_update: {}
    - retry: true
    - __reconcile_wait__: {random: {min_value: 1, max_value: 10}}
c:
  test.nop:
    - reconcile: {wait: {static: {wait_in_seconds: 10}}}
    - parallel: true
#> 2 test.nop a {"x":"********"} arg_bind b sensitive "x" ignore_changes "x" "a:b[*]:c" unset "y" unless "true" onlyif "test -e <test_|-b_|-b:path>" "true" check_cmd "true" recreate first if_deleted failhard retry 3 false 5+10 wait 2 500 2000 0-0 cap 1 attempt 10m0s deadline 1m30s profile p
#> 0 test.nop b recreate retry 2 30+0 wait 1 3000 1000 1-10 0
#> 1 test.nop c wait 0 10000 1000 0-0 0
#w `parallel` has no effect here
---
# Settings that are wrong.
a:
  test.nop:
    - sensitive: x  ### "sensitive requisite should contain a list of sensitive parameters, not x"
    - ignore_changes: [5]  ### "ignore_changes requisite should contain a list of parameter paths, not \[5\]"
    - unset: {a: b}  ### "unset requisite should contain a list of parameters, not \{'a': 'b'\}"
    - recreate_on_update: true  ### "recreate_on_update requisite should contain a dict of parameters, not True"
    - unless: [[1]]  ### "`unless` must be a command or a list of commands"
    - onlyif: []  ### "`onlyif` must be a command or a list of commands"
    - retry: {attempts: 0}  ### "`attempts` must be a whole number from 1 on, not 0"
    - failhard: "yes"  ### "`failhard` must be true or false, not yes"
    - acct_profile: 5  ### "`acct_profile` must be the name of a profile, not 5"
    - runas: root  ### "`runas` is not supported"
b:
  test.nop:
    - recreate_on_update: {create_before: true}  ### "recreate_on_update has no parameter `create_before`"
    - retry: {atempts: 2}  ### "`retry` has no parameter `atempts`, did you mean `attempts`\?"
    - reconcile: {atempt: 2}  ### "`reconcile` has no parameter `atempt`, did you mean `attempt`\?"
c:
  test.nop: [{reconcile: {attempt: -1}}]  ### "`attempt` must be seconds or a duration such as `10m`, not -1"
d:
  test.nop: [{reconcile: {deadline: soon}}]  ### "`deadline` must be seconds or a duration"
---
# Waits that are misused.
a:
  test.nop: [{reconcile: {wait: 5}}]  ### "`wait` must be a dictionary of one algorithm, as in \{static: \{wait_in_seconds: 3\}\}, not 5"
b:
  test.nop: [{reconcile: {wait: {statc: {wait_in_seconds: 3}}}}]  ### "there is no wait algorithm `statc`, did you mean `static`\?"
c:
  test.nop: [{reconcile: {wait: {static: {}}}}]  ### "a wait needs `wait_in_seconds`"
d:
  test.nop: [{reconcile: {wait: {static: {wait_in_seconds: -1}}}}]  ### "`wait_in_seconds` must be a number of seconds, not -1"
e:
  test.nop: [{reconcile: {wait: {random: {min_value: 5, max_value: 5}}}}]  ### "`min_value` of the wait `random` must be below `max_value`: 5 is not below 5"
f:
  test.nop: [{reconcile: {wait: {random: {min_value: 1.5, max_value: 5}}}}]  ### "`min_value` must be a whole number of seconds, not 1.5"
g:
  test.nop: [{reconcile: {wait: {exponential: {wait_in_seconds: 1}}}}]  ### "a wait needs `multiplier`"
h:
  test.nop: [{reconcile: {wait: {exponential: {wait_in_seconds: 1, multiplier: 0}}}}]  ### "must not be 0"
i:
  test.nop: [{reconcile: {wait: {static: {wait_in_seconds: 1, max: 4}}}}]  ### "the wait `static` has no parameter `max`"
j:
  test.nop: [{reconcile: {wait: {static: {wait_in_seconds: 1, jitter: some}}}}]  ### "`jitter` must be `none`, `full`, `equal` or `decorrelated`, not some"
k:
  test.nop: [{reconcile: {wait: {static: {wait_in_seconds: .nan}}}}]  ### "`wait_in_seconds` must be a number"
---
# What is sensitive must be there.
a:
  time.sleep: [{duration: 1}, {sensitive: [durtion]}]
#> 0 time.sleep a {"duration":1} sensitive "durtion"
#w ID a has no argument `durtion` to mark as sensitive, did you mean `duration`?
---
# What a state returns may have any name.
a:
  cmd.run: [{cmd: ls}, {sensitive: [stdout]}]
b:
  file.managed: [{name: /a}, {contents: x}, {sensitive: [content]}]
#> 0 cmd.run a {"cmd":"ls"} sensitive "stdout"
#> 1 file.managed b[/a] {"contents":"x"} sensitive "content"
---
# A required argument under another name, where any other is taken.
a:
  test.succeed_with_comment: [{coment: x}]  ### "is missing required argument\(s\): comment; it has `coment`, did you mean `comment`\?"
---
# The built-in states.
a:
  cmd.run: [{cmd: ls}, {creates: /x}]
b:
  file.managed: [{contents: x}, {mode: "0644"}]
c:
  container.running: [{image: nginx}]
d:
  data.write: [{parameters: {}}]
e:
  trigger.build: [{triggers: {}}]
f:
  template.render: []
g:
  render.block: [{sls: ""}]
h:
  exec.run: [{path: test.ping}, {acct_profile: x}]
i:
  exec.stateful: [{path: x}]
j:
  sls.run: [{sls_sources: [x]}, {any: 5}]
k:
  acct.profile: [{provider_name: x}, {key: 5}]
l:
  test.configurable_test_state: [{changes: false}, {result: Random}]
m:
  test.succeed_with_comment: [{comment: x}]
#> 0 cmd.run a {"cmd":"ls","creates":"/x"}
#> 1 file.managed b {"contents":"x","mode":"0644"}
#> 2 container.running c {"image":"nginx"}
#> 3 data.write d {"parameters":{}}
#> 4 trigger.build e {"triggers":{}}
#> 5 template.render f
#> 6 render.block g {"sls":""}
#> 7 exec.run h {"path":"test.ping"} profile x
#> 8 exec.stateful i {"path":"x"}
#> 9 sls.run j {"any":5,"sls_sources":["x"]}
#> 10 acct.profile k {"key":5,"provider_name":"x"}
#> 11 test.configurable_test_state l {"changes":false,"result":"Random"}
#> 12 test.succeed_with_comment m {"comment":"x"}
