# Kirim in a container: slim, not root, with a health check. `docker build -t kirim . && docker run --env-file .env kirim`
#
# What is installed is what the lock files name, checked by hash. Nothing is fetched to build the package. The sandbox isn't
# part of the image: .dockerignore leaves its folder out.
# `make digests` puts the image's digest behind its name.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
COPY requirements.lock requirements-build.lock ./
# hadolint ignore=DL3042  the cache isn't part of the image
RUN python -m venv /build && python -m venv --without-pip /venv \
    && /build/bin/pip install --require-hashes --no-deps -r requirements-build.lock \
    && /build/bin/pip --python /venv/bin/python install --require-hashes --no-deps -r requirements.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY bot bot
COPY locales locales
RUN /build/bin/python -m hatchling build -t wheel -d /wheel \
    && /build/bin/pip --python /venv/bin/python install --no-index --no-deps /wheel/*.whl

FROM ${PYTHON_IMAGE}
RUN useradd --create-home --uid 10001 kirim && mkdir /data && chown kirim /data
COPY --from=build /venv /venv
# PYTHONSAFEPATH: no code is imported from the folder with the data.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1 DATABASE_URL=sqlite:////data/kirim.db LOG_FORMAT=json HTTP_HOST=0.0.0.0 HTTP_PORT=8080
# By number, so that Kubernetes can see that it isn't root.
USER 10001:10001
WORKDIR /data
VOLUME /data
# Only behind a TLS proxy, never exposed directly: wallet pages (PUBLIC_URL is the proxy's address), and the tools for AI
# agents if `kirim-mcp` runs instead.
EXPOSE 8080 3333
# Asks the bot about its database and its workers, without a proxy that the environment may name.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["python", "-c", "import os; from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open(f'http://127.0.0.1:{os.environ[\"HTTP_PORT\"]}/livez', timeout=5)"]
STOPSIGNAL SIGTERM
CMD ["python", "-m", "bot", "run"]
