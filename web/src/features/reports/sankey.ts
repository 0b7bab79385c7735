import { type SankeyLink, type SankeyNode, sankey, sankeyLinkHorizontal } from 'd3-sankey'
import type { Flow } from '../../api/types.ts'

interface Place {
  key: string
  id: number | null
  isSource: boolean
}

type Move = { flow: Flow }

export type Node = SankeyNode<Place, Move>
type Link = SankeyLink<Place, Move>

const flowsHeight = 304
const nodeGap = 16
export const nodeWidth = 8

/** The path of a link. */
export const linkPath: (link: Link) => string | null = sankeyLinkHorizontal<Place, Move>()

/**
 * The layout of a Sankey diagram between two horizontal positions. Each location has one node on the left and one on the
 * right, because assets move in both directions.
 */
export function sankeyLayout(
  flows: readonly Flow[],
  [leftX, rightX]: readonly [number, number],
): { nodes: Node[]; links: Link[]; height: number } {
  const places = new Map<string, Place>()
  const placeOf = (id: number | null, isSource: boolean): string => {
    const key = `${isSource ? 'from' : 'to'} ${String(id)}`
    places.set(key, { key, id, isSource })
    return key
  }
  const links = flows.map((flow) => ({
    flow,
    value: flow.moves,
    source: placeOf(flow.from_location_id, true),
    target: placeOf(flow.to_location_id, false),
  }))
  const sources = [...places.values()].filter((one) => one.isSource)
  const targets = [...places.values()].filter((one) => !one.isSource)
  const height = flowsHeight + Math.max(sources.length, targets.length) * nodeGap
  const layout = sankey<Place, Move>()
    .nodeId((node) => node.key)
    .nodeWidth(nodeWidth)
    .nodePadding(nodeGap)
    .extent([
      [leftX, 0],
      [rightX, height],
    ])
  return { ...layout({ nodes: [...sources, ...targets], links }), height }
}
