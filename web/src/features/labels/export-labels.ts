import type { Mark, Sheet } from './label-layout.ts'

const round = (value: number): string => String(Math.round(value * 1000) / 1000)

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The barcode boxes of a page as one SVG path, in millimetres. */
export const boxPath = (marks: readonly Mark[]): string =>
  marks
    .flatMap((mark) =>
      mark.kind === 'box'
        ? [`M${round(mark.x)} ${round(mark.y)}h${round(mark.width)}v${round(mark.height)}h-${round(mark.width)}z`]
        : [],
    )
    .join('')

/** One page as an SVG file, in millimetres. */
export function toSvg(marks: readonly Mark[], { page: [width, height] }: Sheet): string {
  const texts = marks.flatMap((mark) =>
    mark.kind === 'text'
      ? [
          `<text x="${round(mark.x)}" y="${round(mark.y)}" font-size="${round(mark.size)}"${mark.isBold ? ' font-weight="bold"' : ''}>${escapeXml(mark.text)}</text>`,
        ]
      : [],
  )
  const size = `width="${width}mm" height="${height}mm" viewBox="0 0 ${width} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="Helvetica, Arial, sans-serif"><rect width="${width}" height="${height}" fill="#fff"/><path d="${boxPath(marks)}"/>${texts.join('')}</svg>`
}
