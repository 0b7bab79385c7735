/**
 * The import law. Each step may import what stands before it, never what stands behind it; folders on one step do not
 * import each other; there are no circles, type imports included.
 */
const steps = [
  ['kernel'],
  ['admission'],
  ['config', 'db', 'http', 'mail'],
  ['embedded-postgres', 'backup', 'organizations', 'users', 'tags'],
  ['records'],
  ['auth', 'locations', 'assets', 'readers'],
  ['tracking', 'accounts'],
  ['webhooks'],
  ['bulk'],
  // What both public surfaces respond alike; they never import each other.
  ['api/shared'],
  ['api/primary', 'api/natural-key', 'api/session', 'ingest', 'simulator', 'jobs'],
  ['app'],
  ['cli'],
]

const inside = (folder) => `^server/src/${folder}/`

const lawful = steps.flatMap((step, index) =>
  step.map((folder) => {
    const later = [...steps.slice(index + 1).flat(), ...step.filter((other) => other !== folder)]
    return {
      name: `${folder.replace('/', '-')}-stays-on-its-step`,
      severity: 'error',
      from: { path: inside(folder) },
      to: { path: [...later.map(inside), '^server/src/main[.]ts$'] },
    }
  }),
)

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-db-knows-the-driver',
      severity: 'error',
      from: { path: '^server/src', pathNot: [inside('db'), inside('backup')] },
      to: { path: 'node_modules/(pg|pg-copy-streams|postgres-array)/' },
    },
    {
      name: 'only-mail-sends-mail',
      severity: 'error',
      from: { path: '^server/src', pathNot: inside('mail') },
      to: { path: 'node_modules/nodemailer/' },
    },
    {
      name: 'only-http-speaks-http',
      severity: 'error',
      from: { path: '^server/src', pathNot: [inside('http')] },
      to: { path: '^(node:)?https?$' },
    },
    {
      // Every outgoing request passes the address guard of webhooks/ssrf-guard.ts.
      name: 'only-webhooks-sends',
      severity: 'error',
      from: { path: '^server/src', pathNot: [inside('webhooks')] },
      to: { path: 'node_modules/undici/' },
    },
    {
      name: 'no-unknown-folder',
      severity: 'error',
      from: {},
      to: { path: '^server/src/', pathNot: ['^server/src/main[.]ts$', ...steps.flat().map(inside)] },
    },
    {
      // The client is a package of its own: it shares the generated descriptions, never source.
      name: 'client-stands-alone',
      severity: 'error',
      from: { path: '^client/src/' },
      to: { pathNot: ['^client/src/', 'node_modules/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'client-library-has-no-dependencies',
      severity: 'error',
      from: { path: '^client/src/', pathNot: '^client/src/cli/' },
      to: { path: 'node_modules/' },
    },
    {
      name: 'client-library-runs-in-browsers',
      severity: 'error',
      from: { path: '^client/src/', pathNot: '^client/src/cli/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'client-library-knows-no-command-line',
      severity: 'error',
      from: { path: '^client/src/', pathNot: '^client/src/cli/' },
      to: { path: '^client/src/cli/' },
    },
    {
      name: 'server-knows-no-client',
      severity: 'error',
      from: { path: '^server/src/' },
      to: { path: '^client/' },
    },
    ...lawful,
  ],
  options: {
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'] },
    doNotFollow: { path: 'node_modules' },
  },
}
