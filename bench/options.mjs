import { parseArgs } from 'node:util'
import { parts } from './parts.mjs'

const choicesOf = ({ name, choices }) => choices ?? [name]

/** A list of numbers, or undefined where none is asked for. */
function numbers(name, text, [least, most], example) {
  const given = text?.split(',').map(Number)
  if (given?.some((value) => !(value >= least && value <= most)))
    throw new Error(`--${name} takes numbers from ${least} to ${most}, such as ${example}`)
  return given
}

function chosenParts({ only, all, quick, ...values }, common) {
  const known = parts.flatMap(choicesOf)
  const wanted = only?.split(',') ?? parts.filter((part) => all || !part.isExtra).flatMap(choicesOf)
  const unknown = wanted.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`No such operation: ${unknown.join(', ')}. There are ${known.join(', ')}`)
  const sizes = numbers('sizes', values.sizes, [1_000, 10_000_000], '10000,100000')
  const [rounds] = numbers('rounds', values.rounds, [1, 99], '99') ?? []
  const history = numbers('minutes', values.minutes, [200_000, 1_000_000_000], '1000000,5000000')
  const chosen = []
  for (const part of parts) {
    const names = choicesOf(part).filter((name) => wanted.includes(name))
    const pace = quick ? part.pace.quick : part.pace.full
    const asked = {
      ...(pace.sizes && { ...(sizes && { sizes }), ...(rounds && { rounds }) }),
      ...(pace.history && history && { history }),
    }
    if (names.length > 0) chosen.push({ part, pace: { ...pace, ...asked, ...common, names } })
  }
  return chosen
}

/** What to measure and what to do with it. */
export function readOptions(say) {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      only: { type: 'string' },
      sizes: { type: 'string' },
      minutes: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'string' },
      from: { type: 'string' },
      write: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  })
  const { json, write, from, quick } = values
  const chosen = chosenParts(values, { say, profileDir: values.profile })
  return { chosen, json, isWritten: write, from: from?.split(','), isQuick: quick }
}
