import { cpus, totalmem } from 'node:os'
import { parts } from './parts.mjs'

export function machineFacts(postgresVersion) {
  const processors = cpus()
  const memoryGib = Math.round(totalmem() / 2 ** 30)
  return {
    processor: `${processors[0]?.model ?? 'unknown'}, ${processors.length} cores`,
    memory: `${memoryGib} GiB`,
    system: `${process.platform} ${process.arch}`,
    node: process.version.slice(1),
    postgres: postgresVersion,
  }
}

const measured = (report) => parts.filter(({ name }) => report[name] !== undefined)

export function render(report) {
  const { processor, memory, system, node, postgres } = report.machine
  return [
    ...measured(report).flatMap(({ name, render }) => [render(report[name]), '']),
    `${processor}, ${memory}, ${system}, Node ${node}, PostgreSQL ${postgres}.`,
  ].join('\n')
}

/** Bars that were missed, failures included. */
export const misses = (report) => measured(report).flatMap(({ name, misses }) => misses(report[name]))
