first:
  test.nop:
    - name: one
    - require:
      - test: second
second:
  test:
    - nop
    - name: two
    - foo: ${test:third:bar}
third: test.nop
#> 2 test.nop first[one] require second[two]
#> 1 test.nop second[two] {"foo":"<test_|-third_|-third:bar>"} arg_bind third
#> 0 test.nop third
