import { type SankeyLink, type SankeyNode, sankey, sankeyLinkHorizontal } from 'd3-sankey'
import type { Flow } from '../../api/types.ts'

interface Endpoint {
  key: string
  id: number | null
  isSource: boolean
}

type Move = { flow: Flow }

export type Node = SankeyNode<Endpoint, Move>
type Link = SankeyLink<Endpoint, Move>

const flowsHeight = 304
/** The line height of a label. Nodes have this distance, so the labels of neighbours do not overlap. */
export const labelHeight = 16
export const nodeWidth = 8

/** The path of a link. */
export const linkPath: (link: Link) => string | null = sankeyLinkHorizontal<Endpoint, Move>()

/**
 * The layout of a Sankey diagram between two horizontal positions. Each location has one node on the left and one on the
 * right, because assets move in both directions.
 */
export function sankeyLayout(
  flows: readonly Flow[],
  [leftX, rightX]: readonly [number, number],
): { nodes: Node[]; links: Link[]; height: number } {
  const endpoints = new Map<string, Endpoint>()
  const endpointOf = (id: number | null, isSource: boolean): string => {
    const key = `${isSource ? 'from' : 'to'} ${String(id)}`
    endpoints.set(key, { key, id, isSource })
    return key
  }
  const links = flows.map((flow) => ({
    flow,
    value: flow.moves,
    source: endpointOf(flow.from_location_id, true),
    target: endpointOf(flow.to_location_id, false),
  }))
  const sources = [...endpoints.values()].filter((one) => one.isSource)
  const targets = [...endpoints.values()].filter((one) => !one.isSource)
  const height = flowsHeight + Math.max(sources.length, targets.length) * labelHeight
  const layout = sankey<Endpoint, Move>()
    .nodeId((node) => node.key)
    .nodeWidth(nodeWidth)
    .nodePadding(labelHeight)
    .extent([
      [leftX, 0],
      [rightX, height],
    ])
  return { ...layout({ nodes: [...sources, ...targets], links }), height }
}
