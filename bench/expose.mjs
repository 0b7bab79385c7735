/** Lets the parent process call these methods, one at a time (see startHelper). */
export function expose(methods) {
  process.on('message', async ({ method, argument }) => {
    try {
      process.send({ result: (await methods[method](argument)) ?? null })
    } catch (error) {
      process.send({ error: error.stack })
    }
  })
  process.on('disconnect', () => process.exit())
}
