printf '#!/bin/sh\nprintf "Content-Type: text/plain\\r\\n\\r\\n"; echo "$(hostname): $(printf "INCR visits\\r\\nQUIT\\r\\n" | nc redis 6379)"\n' > site/cgi-bin/visits
chmod +x site/cgi-bin/visits
exec httpd -f -p 5000 -h site
