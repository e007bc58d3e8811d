# A small machine at home: files, a command, a container, a page that is requested, a thing that
# takes five seconds to start, and a value that one state takes from another.
{% set root = params.get('root', '/tmp/homelab') %}

{{ root }}:
  file.directory: []

{{ root }}/site:
  file.directory:
    - require:
        - file: {{ root }}

{{ root }}/site/index.html:
  file.managed:
    - contents: welcome home
    - require:
        - file: {{ root }}/site

who:
  cmd.run:
    - cmd: [id, -un]

{{ root }}/site/owner.txt:
  file.managed:
    - contents: "kept by ${cmd:who:stdout}"
    - require:
        - file: {{ root }}/site

web:
  container.running:
    - image: {{ params.get('image', 'localhost/fettle/web:1') }}
    - ports: {http: 80}
    - public_ports: {http: {{ params.get('port', 18080) }}}
    - mounts: {/www: {{ root }}/site}
    - require:
        - file: {{ root }}/site/index.html

disk:
  slow.present:
    - seconds: 5

page:
  http.wait_for_successful_query:
    - name: http://127.0.0.1:{{ params.get('port', 18080) }}/index.html
    - match: welcome
    - wait_for: {{ params.get('patience', 60) }}
    - require:
        - container: web
        - slow: disk
