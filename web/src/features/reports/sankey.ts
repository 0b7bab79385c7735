import type { Flow } from '../../api/types.ts'

interface Node {
  name: string
}

interface Link {
  source: number
  target: number
  value: number
}

/**
 * The nodes and links of a Sankey diagram. Each location has one node on the left and one on the right, because assets
 * move in both directions and a Sankey diagram must be acyclic. The nodes on the left come first.
 */
export function sankeyData(flows: readonly Flow[]): { nodes: Node[]; links: Link[]; sources: number } {
  const from = new Map(flows.map((flow) => [flow.from_location_id, flow.from_name ?? 'First seen']))
  const to = new Map(flows.map((flow) => [flow.to_location_id, flow.to_name]))
  const [left, right] = [[...from.keys()], [...to.keys()]]
  return {
    nodes: [...from.values(), ...to.values()].map((name) => ({ name })),
    links: flows.map((flow) => ({
      source: left.indexOf(flow.from_location_id),
      target: left.length + right.indexOf(flow.to_location_id),
      value: flow.moves,
    })),
    sources: left.length,
  }
}
