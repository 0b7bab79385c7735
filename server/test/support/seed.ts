import fc from 'fast-check'

// `npm test` names a fixed seed and `npm run test:all` a new one each time; both print it.
const seed = process.env['TEST_SEED']
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
