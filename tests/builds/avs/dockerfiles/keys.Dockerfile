FROM localhost/fettle/busybox:1

RUN printf '#!/bin/sh\necho "{\\"address\\": \\"0x$2-$3\\"}"\n' > /usr/bin/keys && chmod +x /usr/bin/keys

ENTRYPOINT ["keys"]
