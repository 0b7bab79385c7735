import JsBarcode from 'jsbarcode'
import { encode } from 'uqr'

/** A barcode as black boxes on a grid, for SVG, PDF and video output. */
export interface BarcodeShape {
  width: number
  height: number
  boxes: readonly (readonly [x: number, y: number, width: number, height: number])[]
}

export type Symbology = 'qr' | 'code128'

function qr(text: string): BarcodeShape {
  const { data, size } = encode(text, { ecc: 'M', border: 0 })
  const boxes: [number, number, number, number][] = []
  data.forEach((row, y) => {
    for (let x = 0; x < size; x++) {
      if (row[x] !== true) continue
      const from = x
      while (x + 1 < size && row[x + 1] === true) x++
      boxes.push([from, y, x - from + 1, 1])
    }
  })
  return { width: size, height: size, boxes }
}

/** Returns null when the text contains a character that Code 128 cannot encode. */
function code128(text: string): BarcodeShape | null {
  if (!/^[\x20-\x7e]+$/.test(text)) return null
  const target: { encodings?: { data: string }[] } = {}
  JsBarcode(target, text, { format: 'CODE128' })
  const bits = (target.encodings ?? []).map((one) => one.data).join('')
  const boxes: [number, number, number, number][] = []
  for (const run of bits.matchAll(/1+/g)) boxes.push([run.index, 0, run[0].length, 1])
  return { width: bits.length, height: 1, boxes }
}

export const encodeBarcode = (symbology: Symbology, text: string): BarcodeShape | null =>
  symbology === 'qr' ? qr(text) : code128(text)
