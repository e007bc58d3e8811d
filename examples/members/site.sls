# The members of a club. `exec/club/member.py` can get, list, create, update and delete one; that makes a state of it.
#
#   fettle state site.sls --acct-file accounts.yml
ada:
  club.member.present:
    - email: ada@example.org
grace:
  club.member.present:
    - email: grace@example.org
    - level: gold
greeting:
  cmd.run:
    - cmd: [echo, 'welcome, ${club.member:grace:email}']
