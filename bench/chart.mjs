import { whole } from './figures.mjs'
import { operations } from './operations.mjs'

const width = 760
const labelWidth = 190
const valueWidth = 70
const bar = { height: 13, gap: 2 }
const groupGap = 14
const head = 70
const panelHead = 34

/** Who is shown, in the order of the bars. */
const shown = [
  { who: 'service', name: 'Lastseen' },
  { who: 'floor', name: 'floor: bare node:http, the same statements' },
  { who: 'parse', name: 'Parse Server' },
]

const style = `
    svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --service: #0969da; --floor: #afb8c1; --parse: #bc4c00 }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --service: #4493f8; --floor: #656c76; --parse: #f0883e }
    }
    text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: var(--ink) }
    .title { font-size: 16px; font-weight: 600 }
    .size { font-weight: 600 }
    .value, .name { font-size: 11px; fill: var(--faint) }
    .paper { fill: var(--paper) } .service { fill: var(--service) } .floor { fill: var(--floor) } .parse { fill: var(--parse) }`

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const text = (x, y, content, kind = '', anchor = 'start') =>
  `<text x="${x}" y="${y}"${kind && ` class="${kind}"`} text-anchor="${anchor}">${escape(content)}</text>`
const rect = (x, y, w, h, kind) =>
  `<rect x="${x}" y="${y}" width="${Math.max(1, w).toFixed(1)}" height="${h}" class="${kind}"/>`

/** The rates of each operation that has something to be compared with, by size. */
function panelsOf({ register, parse }) {
  const panels = new Map()
  for (const { operation, size, servicePerSecond, floorPerSecond } of register?.result.lines ?? []) {
    const beside = parse?.result.find((line) => line.operation === operation && line.size === size)
    const rates = { service: servicePerSecond, floor: floorPerSecond, parse: beside?.parsePerSecond ?? null }
    if (rates.floor === null && rates.parse === null) continue
    if (!panels.has(size)) panels.set(size, [])
    panels.get(size).push({ title: operations[operation].title, rates })
  }
  return panels
}

function drawGroup({ title, rates }, top, scale) {
  const bars = shown.filter(({ who }) => rates[who] !== null)
  const height = bars.length * (bar.height + bar.gap)
  const parts = [text(labelWidth - 10, top + height / 2 + 3, title, '', 'end')]
  bars.forEach(({ who }, index) => {
    const y = top + index * (bar.height + bar.gap)
    const length = rates[who] * scale
    parts.push(rect(labelWidth, y, length, bar.height, who))
    parts.push(text((labelWidth + length + 6).toFixed(1), y + bar.height - 3, whole(rates[who]), 'value'))
  })
  return { parts, height: height + groupGap }
}

/** Bars of throughput as SVG, readable on light and dark paper; null when the run has nothing to draw. */
export function chartOf(report) {
  const panels = panelsOf(report.parts)
  if (panels.size === 0) return null
  const all = [...panels.values()].flat().map(({ rates }) => rates)
  const most = Math.max(...all.flatMap((rates) => Object.values(rates)))
  const drawn = shown.filter(({ who }) => all.some((rates) => rates[who] !== null))
  const scale = (width - labelWidth - valueWidth) / most
  const parts = [text(16, 28, 'Requests per second: more is better', 'title')]
  let left = 16
  for (const { who, name } of drawn) {
    parts.push(rect(left, 43, 11, 11, who), text(left + 16, 53, name, 'name'))
    left += 40 + name.length * 6
  }
  let top = head
  for (const [size, groups] of panels) {
    parts.push(text(16, top + 18, `${whole(size)} assets`, 'size'))
    top += panelHead
    for (const group of groups) {
      const bars = drawGroup(group, top, scale)
      parts.push(...bars.parts)
      top += bars.height
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img">`,
    `  <title>Requests per second: ${drawn.map(({ name }) => name).join(', ')}</title>`,
    `  <style>${style}\n  </style>`,
    `  <rect width="${width}" height="${top}" class="paper"/>`,
    ...parts.map((part) => `  ${part}`),
    '</svg>',
    '',
  ].join('\n')
}
