import { send } from './client.ts'

interface MetricFamily {
  name: string
  type: string
  help: string
}

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** The output of /metrics, parsed. */
export interface Metrics {
  families: MetricFamily[]
  samples: Sample[]
  /** The sum of all samples with this name and at least these labels. */
  sum(name: string, labels?: Record<string, string>): number
}

export function parseMetrics(text: string): Metrics {
  const families = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(
    ([, name = '', help = '', type = '']) => ({ name, type, help }),
  )
  const samples = [...text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text])),
    value: Number(value),
  }))
  const hasLabels = (sample: Sample, labels: Record<string, string>): boolean =>
    Object.entries(labels).every(([name, value]) => sample.labels[name] === value)
  return {
    families,
    samples,
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name && hasLabels(sample, labels))
        .reduce((sum, { value }) => sum + value, 0),
  }
}

export async function readMetrics(url: string): Promise<Metrics> {
  return parseMetrics((await send(url, 'GET', '/metrics')).text)
}
