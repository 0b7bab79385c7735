# The program and all it needs to run, nothing it was built with.
FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/package.json
COPY server/bin server/bin
COPY web/package.json web/package.json
COPY client/package.json client/package.json
COPY client/bin client/bin
RUN npm ci --omit=dev
COPY . .
RUN node scripts/build.mjs

# Only what the server and the command line depend on; the web app is built and needs nothing any more.
FROM node:20-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/package.json
COPY server/bin server/bin
COPY web/package.json web/package.json
COPY client/package.json client/package.json
COPY client/bin client/bin
RUN npm ci --omit=dev --workspace server --workspace client && rm -rf /root/.npm
COPY --from=build /build/server/dist server/dist
# Libraries of the embedded PostgreSQL get their names here, because whoever runs it may not write there.
RUN node -e "import('/app/server/dist/embedded-postgres/binaries.js').then((it) => it.placePrograms(undefined, '/tmp', console.log))"

FROM node:20-bookworm-slim
RUN ln -s /app/server/bin/packaged.mjs /usr/local/bin/lastseen \
  && mkdir /data && chown node:node /data && chmod 700 /data
WORKDIR /app
COPY --from=packages /app ./
COPY server/migrations server/migrations
COPY --from=build /build/web/dist web/dist
COPY --from=build /build/client/dist client/dist
USER node
ENV NODE_ENV=production LASTSEEN_HOST=0.0.0.0 LASTSEEN_DATA_DIR=/data
VOLUME /data
EXPOSE 8080 1883
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`).then((it) => process.exit(it.ok ? 0 : 1), () => process.exit(1))"]
# The program hears SIGTERM itself, finishes what is running and stops its database.
STOPSIGNAL SIGTERM
ENTRYPOINT ["lastseen"]
CMD ["serve"]
