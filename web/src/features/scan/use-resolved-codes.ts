import { useEffect, useMemo, useRef, useState } from 'react'
import { untilConnected } from '../../api/connection.ts'
import type { ResolvedCode } from '../../api/types.ts'
import { isPossibleCode, resolveCodes, unknownCode } from './stocktake.ts'

const retryMs = 5000
const batchSize = 500

const without = (codes: ReadonlySet<string>, removed: readonly string[]): ReadonlySet<string> =>
  new Set([...codes].filter((code) => !removed.includes(code)))

/**
 * Resolves the codes that were not resolved before. One request is sent at a time; codes that are scanned meanwhile are in the
 * next one. After a failure the request is repeated until the server answers or the codes are removed.
 */
export function useResolvedCodes(codes: readonly string[]) {
  const [resolved, setResolved] = useState<ReadonlyMap<string, ResolvedCode>>(new Map())
  // Codes that are resolved again; until then they keep their previous result.
  const [outdated, setOutdated] = useState<ReadonlySet<string>>(new Set())
  const [error, setError] = useState<unknown>(null)
  const [round, setRound] = useState(0)
  const pending = useMemo(
    () => codes.filter((code) => isPossibleCode(code) && (!resolved.has(code) || outdated.has(code))),
    [codes, resolved, outdated],
  )
  const latest = useRef(pending)
  latest.current = pending
  const isPending = pending.length > 0
  useEffect(() => {
    if (!isPending) return
    const stop = new AbortController()
    let retry: ReturnType<typeof setTimeout> | undefined
    const nextRound = (): void => setRound((old) => old + 1)
    const resolve = async (): Promise<void> => {
      await untilConnected()
      if (stop.signal.aborted) return
      const batch = latest.current.slice(0, batchSize)
      try {
        const answers = await resolveCodes(batch, stop.signal)
        setResolved((old) => new Map([...old, ...answers.map((one) => [one.code, one] as const)]))
        setOutdated((old) => without(old, batch))
        setError(null)
        nextRound()
      } catch (problem) {
        if (stop.signal.aborted) return
        setError(problem)
        retry = setTimeout(nextRound, retryMs)
      }
    }
    void resolve()
    return () => {
      stop.abort()
      clearTimeout(retry)
    }
  }, [isPending, round])
  return {
    /** The result of a code, undefined while it waits for the server. */
    resultOf: (code: string): ResolvedCode | undefined =>
      isPossibleCode(code) ? resolved.get(code) : unknownCode(code),
    /** Changes with every result. */
    resolved,
    error: isPending ? error : null,
    resolveAgain: () => setOutdated(new Set(codes)),
  }
}
