# syntax = docker/dockerfile:1.2
FROM localhost/fettle/busybox:1 AS builder

WORKDIR /app
ADD source/go.mod go.mod
ADD . .

RUN --mount=type=cache,target=/root/.cache \
    --mount=type=cache,target=/tmp/go-build \
    mkdir -p build/bin && cp source/erigon build/bin/erigon && chmod 755 build/bin/erigon && echo kept > /root/.cache/modules

FROM localhost/fettle/busybox:1 AS tools-builder
WORKDIR /app
ADD source/tools .
RUN --mount=type=bind,from=builder,source=/app/source,target=/source sh build-tools /source

FROM localhost/fettle/busybox:1

COPY --from=tools-builder /app/tool /usr/local/bin/

ARG UID=1001
ARG GID=1001
RUN echo "erigon:x:$GID:" >> /etc/group && echo "erigon:x:$UID:$GID::/home/erigon:/bin/sh" >> /etc/passwd && \
    mkdir -p /home/erigon && chown erigon:erigon /home/erigon
USER erigon
RUN mkdir -p ~/.local/share/erigon

COPY --from=builder --chown=1000:1000 /app/build/bin/* /usr/local/bin/

EXPOSE 8545 \
       8551 \
       30303/udp

ARG BUILD_DATE
LABEL org.label-schema.build-date=$BUILD_DATE \
      org.label-schema.name="erigon"

STOPSIGNAL 2
ENTRYPOINT ["erigon"]
