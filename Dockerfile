# Kirim in a container: slim, not root, with a health check. `docker build -t kirim . && docker run --env-file .env kirim`
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY locales locales
RUN /venv/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 kirim && mkdir /data && chown kirim /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 DATABASE_URL=sqlite:////data/kirim.db LOG_FORMAT=json HTTP_HOST=0.0.0.0 HTTP_PORT=8080
USER kirim
WORKDIR /data
VOLUME /data
# Only behind a TLS proxy, never exposed directly: wallet pages (PUBLIC_URL is the proxy's address), and the tools for AI
# agents if `kirim-mcp` runs instead.
EXPOSE 8080 3333
# Asks the bot about its database and its workers, without a proxy that the environment may name.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["python", "-c", "import os; from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open(f'http://127.0.0.1:{os.environ[\"HTTP_PORT\"]}/livez', timeout=5)"]
STOPSIGNAL SIGTERM
CMD ["python", "-m", "bot", "run"]
