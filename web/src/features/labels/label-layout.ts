import { type Symbology, encodeBarcode } from './encode-barcode.ts'

/** A label sheet format, in millimetres. */
export interface Sheet {
  value: string
  label: string
  page: readonly [width: number, height: number]
  columns: number
  rows: number
  cell: readonly [width: number, height: number]
  /** Upper left corner of the first label, and the distance from one label to the next. */
  margin: readonly [x: number, y: number]
  pitch: readonly [x: number, y: number]
}

export const sheets: readonly Sheet[] = [
  {
    value: 'a4-24',
    label: 'A4, 24 labels (64 × 34 mm)',
    page: [210, 297],
    columns: 3,
    rows: 8,
    cell: [63.5, 33.9],
    margin: [7.25, 12.9],
    pitch: [66, 33.9],
  },
  {
    value: 'a4-65',
    label: 'A4, 65 labels (38 × 21 mm)',
    page: [210, 297],
    columns: 5,
    rows: 13,
    cell: [38.1, 21.2],
    margin: [4.75, 10.7],
    pitch: [40.6, 21.2],
  },
  {
    value: 'letter-30',
    label: 'Letter, 30 labels (2⅝ × 1 in)',
    page: [215.9, 279.4],
    columns: 3,
    rows: 10,
    cell: [66.7, 25.4],
    margin: [4.8, 12.7],
    pitch: [69.85, 25.4],
  },
  {
    value: 'roll-62',
    label: 'Roll, one label of 62 × 29 mm',
    page: [62, 29],
    columns: 1,
    rows: 1,
    cell: [62, 29],
    margin: [0, 0],
    pitch: [62, 29],
  },
]

export interface LabelItem {
  code: string
  name: string
  /** The code is the key, because the record has no barcode tag. */
  isFallback: boolean
}

export type Mark =
  | { kind: 'box'; x: number; y: number; width: number; height: number }
  | { kind: 'text'; x: number; y: number; size: number; width: number; text: string; isBold: boolean }

const padding = 2.5

const charactersThatFit = (width: number, size: number): number => Math.max(4, Math.floor(width / (size * 0.56)))

const truncate = (text: string, maxLength: number): string => {
  const characters = Array.from(text)
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** One line, or two lines when the text is longer and contains a space to break at. */
function wrap(text: string, maxLength: number): string[] {
  if (Array.from(text).length <= maxLength) return [text]
  const breakAt = text.slice(0, maxLength + 1).lastIndexOf(' ')
  return breakAt < 1
    ? [truncate(text, maxLength)]
    : [text.slice(0, breakAt), truncate(text.slice(breakAt + 1), maxLength)]
}

const textSizes = (height: number): { name: number; key: number } => {
  const name = height < 24 ? 2.6 : 3.4
  return { name, key: name * 0.82 }
}

/** The width and height of the code on a label, in millimetres. */
export function codeSize(symbology: Symbology, [width, height]: Sheet['cell']): readonly [number, number] {
  const side = height - 2 * padding
  if (symbology === 'qr') return [side, side]
  const { name, key } = textSizes(height)
  return [width - 2 * padding - 4, side - name - key - 2.5]
}

/** The marks of one label. */
function layOutLabel(
  item: LabelItem,
  symbology: Symbology,
  left: number,
  top: number,
  [width, height]: Sheet['cell'],
): Mark[] {
  const marks: Mark[] = []
  const shape = encodeBarcode(symbology, item.code)
  const isQr = symbology === 'qr'
  const { name: nameSize, key: keySize } = textSizes(height)
  const [codeWidth, codeHeight] = codeSize(symbology, [width, height])
  const boxLeft = left + padding + (isQr ? 0 : 2)
  if (shape !== null)
    for (const [x, y, w, h] of shape.boxes)
      marks.push({
        kind: 'box',
        x: boxLeft + (x / shape.width) * codeWidth,
        y: top + padding + (y / shape.height) * codeHeight,
        width: (w / shape.width) * codeWidth,
        height: (h / shape.height) * codeHeight,
      })
  const textLeft = isQr ? left + padding + codeHeight + 2.5 : left + padding + 2
  const textWidth = left + width - padding - textLeft
  const base = isQr ? top + height / 2 : top + padding + codeHeight + nameSize + 0.8
  const line = (text: string, size: number, y: number, isBold: boolean): Mark => ({
    kind: 'text',
    x: textLeft,
    y,
    size,
    width: textWidth,
    text: truncate(text, charactersThatFit(textWidth, size)),
    isBold,
  })
  const lines = isQr ? wrap(item.name, charactersThatFit(textWidth, nameSize)) : [item.name]
  lines.reverse().forEach((text, index) => {
    marks.push(line(text, nameSize, base - (isQr ? 0.6 : 0) - index * nameSize * 1.2, true))
  })
  marks.push(line(shape === null ? `${item.code} (cannot be encoded)` : item.code, keySize, base + keySize + 1, false))
  return marks
}

/** The marks of every page. */
export function layOutLabels(items: readonly LabelItem[], sheet: Sheet, symbology: Symbology): Mark[][] {
  const perPage = sheet.columns * sheet.rows
  const pages: Mark[][] = []
  items.forEach((item, index) => {
    const position = index % perPage
    if (position === 0) pages.push([])
    const left = sheet.margin[0] + (position % sheet.columns) * sheet.pitch[0]
    const top = sheet.margin[1] + Math.floor(position / sheet.columns) * sheet.pitch[1]
    pages.at(-1)!.push(...layOutLabel(item, symbology, left, top, sheet.cell))
  })
  return pages
}
