FROM localhost/fettle/busybox:1 AS foundry

# Install the tool
RUN mkdir -p /root/.foundry/bin && printf '#!/bin/sh\necho forged "$@"\n' > /root/.foundry/bin/forge
ENV PATH="/root/.foundry/bin:${PATH}"

RUN chmod +x /root/.foundry/bin/forge

WORKDIR /app/

# The repository's URL.
ARG CONTRACTS_REPO
# The commit hash, tag, or branch to check out.
ARG CONTRACTS_REF
# Path to the contracts within the repository.
ARG CONTRACTS_PATH="."

FROM foundry AS contract_deployer

WORKDIR /

ARG CONTRACTS_REPO
ARG CONTRACTS_REF
ARG CONTRACTS_PATH

RUN mkdir -p app/${CONTRACTS_PATH}

WORKDIR /app

RUN echo "${CONTRACTS_REPO} at ${CONTRACTS_REF}" > origin && \
    test -d ${CONTRACTS_PATH}

WORKDIR /app/${CONTRACTS_PATH}
RUN forge install
