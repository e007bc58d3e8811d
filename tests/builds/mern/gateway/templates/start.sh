wget -q -O /www/api.html "http://$BACKEND/index.html" && wget -q -O /www/app.html "http://$FRONTEND/index.html"
exec httpd -f -p 80 -h /www
