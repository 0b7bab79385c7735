/**
 * Runs the work and returns the longest time, in milliseconds, for which it kept the event loop from other work. It counts
 * the processor time between two ticks, because a busy machine delays ticks that have little to do.
 */
export async function longestTickMs(work: () => unknown): Promise<number> {
  let longest = 0
  let isRunning = true
  const watch = async (): Promise<void> => {
    for (let since = process.cpuUsage(); isRunning; since = process.cpuUsage()) {
      await new Promise((resolve) => setImmediate(resolve))
      longest = Math.max(longest, process.cpuUsage(since).user / 1000)
    }
  }
  const watching = watch()
  try {
    await work()
  } finally {
    await new Promise((resolve) => setImmediate(resolve))
    isRunning = false
    await watching
  }
  return longest
}
