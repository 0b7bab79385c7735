const width = 760
const labelWidth = 370
const rowHeight = 22
const top = 56
const barHeight = 13

const style = `
    svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --fill: #0969da; --missed: #bc4c00 }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --fill: #4493f8; --missed: #f0883e }
    }
    text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: var(--ink) }
    .title { font-size: 16px; font-weight: 600 } .value { font-size: 11px; fill: var(--faint) }
    .paper { fill: var(--paper) } .met { fill: var(--fill) } .missed { fill: var(--missed) }
    line { stroke: var(--ink); stroke-width: 2 }`

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Every value with a lower threshold: these are ratios, and more is better. */
const ratiosOf = (measured) =>
  Object.entries(measured).flatMap(([name, { columns, rows }]) =>
    rows.flatMap((row) =>
      row.flatMap((cell, index) => {
        if (cell?.min === undefined) return []
        const column = columns[index] === 'ratio' ? '' : `, ${columns[index]}`
        return [{ label: `${name}: ${row[0]}${column}`, ...cell }]
      }),
    ),
  )

/** Draws one bar per ratio and a line at its threshold, as SVG for light and dark pages; null without ratios. */
export function toChart(measured) {
  const ratios = ratiosOf(measured)
  if (ratios.length === 0) return null
  const height = top + ratios.length * rowHeight + 10
  const scale = (width - labelWidth - 60) / Math.max(1, ...ratios.map(({ value }) => value))
  const rows = ratios.flatMap(({ label, value, min }, index) => {
    const y = top + index * rowHeight
    const [length, mark] = [value, min].map((ratio) => (labelWidth + ratio * scale).toFixed(1))
    return [
      `<text x="${labelWidth - 10}" y="${y + 11}" text-anchor="end">${escape(label)}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${(value * scale).toFixed(1)}" height="${barHeight}" class="${value >= min ? 'met' : 'missed'}"/>`,
      `<line x1="${mark}" x2="${mark}" y1="${y - 3}" y2="${y + barHeight + 3}"/>`,
      `<text x="${Number(length) + 8}" y="${y + 10}" class="value">${value.toFixed(2)}</text>`,
    ]
  })
  const title = 'Ratios: more is better, the line is the threshold'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `  <title>${title}</title>`,
    `  <style>${style}\n  </style>`,
    `  <rect width="${width}" height="${height}" class="paper"/>`,
    `  <text x="16" y="28" class="title">${title}</text>`,
    ...rows.map((row) => `  ${row}`),
    '</svg>\n',
  ].join('\n')
}
