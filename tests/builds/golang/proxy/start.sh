until wget -q -O /www/index.html http://backend:8000/index.html; do sleep 0.2; done
exec httpd -f -p 80 -h /www
