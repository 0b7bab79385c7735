/** Measures point reads with one worker process and with two. */
import { compare } from '../statistics.mjs'
import { apiLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const min = 1.2
const inFlight = 64

export const workers = {
  name: 'workers',
  title: 'Two workers',
  async measure(context) {
    const { scope, isQuick } = context
    const load = await startLoad(scope)
    const pace = { warmUpMs: 1_000, measureMs: isQuick ? 1_000 : 2_000 }
    const targets = {}
    for (const workers of [2, 1]) {
      const name = `workers_${workers}`
      const options = { workers, credentials: isQuick ? 1_000 : 4_000 }
      const { refresh } = await startTarget({ ...context, load }, name, options)
      targets[name] = async () => {
        await refresh()
        return measureLoad(load, apiLoad(name, ['point read'], inFlight), pace)
      }
    }
    const { workers_1: one, workers_2: two } = await compare('workers', isQuick ? 2 : 9, targets)
    const rows = [['point read', one.perSecond, two.perSecond, { value: two.ratio, min }]]
    return { columns: ['operation', 'one worker req/s', 'two workers req/s', 'ratio'], rows }
  },
}
