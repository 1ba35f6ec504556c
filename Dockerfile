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
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 DATABASE_URL=sqlite:////data/kirim.db LOG_FORMAT=json
USER kirim
WORKDIR /data
VOLUME /data
# The bot's own word on its settings, its database, Telegram and the service.
HEALTHCHECK --interval=60s --timeout=25s --start-period=20s CMD ["python", "-m", "bot", "check"]
STOPSIGNAL SIGTERM
CMD ["python", "-m", "bot", "run"]
