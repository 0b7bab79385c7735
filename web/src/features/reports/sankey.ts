import type { Flow } from '../../api/types.ts'

export interface SankeyNode {
  id: number | null
  y: number
  height: number
}

export interface SankeyLink {
  flow: Flow
  /** The index of the node on the left. */
  source: number
  /** The vertical middles of both ends. */
  fromY: number
  toY: number
  width: number
}

const flowsHeight = 304
const nodeGap = 16

const total = (flows: readonly Flow[]): number => flows.reduce((sum, flow) => sum + flow.moves, 0)

function groupBy<Key>(flows: readonly Flow[], keyOf: (flow: Flow) => Key): Map<Key, Flow[]> {
  const groups = new Map<Key, Flow[]>()
  for (const flow of flows) {
    const group = groups.get(keyOf(flow))
    if (group === undefined) groups.set(keyOf(flow), [flow])
    else group.push(flow)
  }
  return groups
}

/**
 * The layout of a Sankey diagram. Each location has one node on the left and one on the right, because assets move in both
 * directions. The nodes on the right are in the order of the nodes on the left that lead to them, so that few links cross.
 */
export function sankeyLayout(flows: readonly Flow[]): {
  left: SankeyNode[]
  right: SankeyNode[]
  links: SankeyLink[]
  height: number
} {
  const bySource = groupBy(flows, (flow) => flow.from_location_id)
  const byTarget = groupBy(flows, (flow) => flow.to_location_id)
  const rows = Math.max(bySource.size, byTarget.size)
  const pixelsPerMove = flowsHeight / Math.max(1, total(flows))
  const place = (groups: Iterable<[number | null, Flow[]]>): SankeyNode[] => {
    let next = 0
    return [...groups].map(([id, group]) => {
      const node = { id, y: next, height: Math.max(2, total(group) * pixelsPerMove) }
      next += node.height + nodeGap
      return node
    })
  }
  const left = place(bySource)
  const sourceOf = new Map(left.map((node, index) => [node.id, index]))
  const meanSource = (group: readonly Flow[]): number =>
    group.reduce((sum, flow) => sum + sourceOf.get(flow.from_location_id)! * flow.moves, 0) / total(group)
  const right = place([...byTarget].sort(([, a], [, b]) => meanSource(a) - meanSource(b)))
  const targetOf = new Map(right.map((node, index) => [node.id, index]))
  const ordered = flows.toSorted(
    (a, b) =>
      sourceOf.get(a.from_location_id)! - sourceOf.get(b.from_location_id)! ||
      targetOf.get(a.to_location_id)! - targetOf.get(b.to_location_id)!,
  )
  const usedLeft = left.map(() => 0)
  const usedRight = right.map(() => 0)
  const links = ordered.map((flow): SankeyLink => {
    const [source, target] = [sourceOf.get(flow.from_location_id)!, targetOf.get(flow.to_location_id)!]
    const width = flow.moves * pixelsPerMove
    const fromY = left[source]!.y + usedLeft[source]! + width / 2
    const toY = right[target]!.y + usedRight[target]! + width / 2
    usedLeft[source]! += width
    usedRight[target]! += width
    return { flow, source, fromY, toY, width }
  })
  return { left, right, links, height: flowsHeight + rows * (nodeGap + 2) }
}
