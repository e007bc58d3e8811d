#!/bin/sh
mkdir -p /site
printf 'AUTH %s\r\nSET title "from the db"\r\nGET title\r\nQUIT\r\n' "$(cat /run/secrets/db-password)" | nc db 6379 > /site/index.html
exec httpd -f -p 8000 -h /site
