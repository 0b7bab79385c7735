import type { Flow } from '../../api/types.ts'

interface Node {
  key: string
  name: string
  total: number
  y: number
  size: number
}

export interface Band {
  source: number
  target: number
  y1: number
  y2: number
  size: number
  moves: number
  title: string
}

const gap = 12
const least = 14

function nodesOf(flows: readonly Flow[], side: (flow: Flow) => [string, string], scale: number): Node[] {
  const totals = new Map<string, Node>()
  for (const flow of flows) {
    const [key, name] = side(flow)
    const node = totals.get(key) ?? { key, name, total: 0, y: 0, size: 0 }
    node.total += flow.moves
    totals.set(key, node)
  }
  let y = 4
  const nodes = [...totals.values()].sort((a, b) => b.total - a.total)
  for (const node of nodes) {
    node.size = Math.max(least, node.total * scale)
    node.y = y
    y += node.size + gap
  }
  return nodes
}

/** Places on both sides and the bands between them, sized by moves. */
export function ribbons(flows: readonly Flow[]) {
  const all = flows.reduce((sum, one) => sum + one.moves, 0)
  const scale = 320 / Math.max(1, all)
  const from = (one: Flow): [string, string] => [String(one.from_location_id), one.from_name ?? 'First seen']
  const to = (one: Flow): [string, string] => [String(one.to_location_id), one.to_name]
  const sources = nodesOf(flows, from, scale)
  const targets = nodesOf(flows, to, scale)
  const used = new Map<Node, number>()
  const take = (node: Node, size: number): number => {
    const before = used.get(node) ?? (node.size - node.total * scale > 0 ? (node.size - node.total * scale) / 2 : 0)
    used.set(node, before + size)
    return node.y + before + size / 2
  }
  const bands = flows.map((flow): Band => {
    const source = sources.findIndex((one) => one.key === from(flow)[0])
    const target = targets.findIndex((one) => one.key === to(flow)[0])
    const size = flow.moves * scale
    const [y1, y2] = [take(sources[source]!, size), take(targets[target]!, size)]
    return { source, target, y1, y2, size, moves: flow.moves, title: `${from(flow)[1]} → ${flow.to_name}` }
  })
  const bottom = (nodes: readonly Node[]): number => (nodes.at(-1)?.y ?? 0) + (nodes.at(-1)?.size ?? 0) + 6
  return { sources, targets, bands, height: Math.max(bottom(sources), bottom(targets)) }
}
