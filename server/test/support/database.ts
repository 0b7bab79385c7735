import postgres from 'postgres'
import { inject } from 'vitest'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** A database of its own with the newest schema and no rows. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const name = `lastseen_${process.pid}_${Math.random().toString(36).slice(2)}`
  const admin = postgres(inject('clusterUrl'), { max: 1, onnotice: () => undefined })
  for (let tries = 0; ; tries++) {
    try {
      await admin.unsafe(`create database ${name} template ${inject('templateName')}`)
      break
    } catch (error) {
      // Two files cloning at the same moment: the template counts as in use for the other one.
      if (tries === 50 || (error as { code?: string }).code !== '55006') throw error
      await new Promise((resume) => setTimeout(resume, 100))
    }
  }
  const url = new URL(inject('clusterUrl'))
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.end({ timeout: 5 })
    },
  }
}
