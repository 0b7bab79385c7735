import { makeDataset, signingIn } from './database.mjs'
import { startLoad, startService } from './processes.mjs'

/** A service over an organization of ten thousand assets, and callers who know it. */
export async function startLoaded(started, postgres, { name, credentials, profileDir, ...more }) {
  const dataset = await makeDataset(postgres.url, 10_000, credentials, name)
  const { url, sample } = dataset
  const service = await started.add(startService({ url, folder: postgres.folder, name, profileDir, ...more }))
  const load = await started.add(startLoad())
  const signIn = signingIn(service.port, dataset.credentials, (tokens) => load.prepare({ name, sample, tokens }))
  await signIn()
  return { service, signIn, load: (run) => load.run({ port: service.port, dataset: name, ...run }) }
}
