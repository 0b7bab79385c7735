export const say = (line) => process.stderr.write(`${line}\n`)

/** Starts things and stops them in reverse, also after a failure halfway. */
export class Started {
  #stops = []

  async add(starting) {
    const thing = await starting
    this.#stops.push(() => thing.stop())
    return thing
  }

  async stop() {
    for (const stop of this.#stops.splice(0).reverse())
      await stop().catch((error) => say(`While stopping: ${error.message}`))
  }
}
