import { type Symbology, encodeBarcode } from './encode-barcode.ts'
import { counted, formatNumber } from '../../lib/time.ts'
import { type LabelItem, type Sheet, codeSize } from './label-layout.ts'

export interface LabelWarning {
  title: string
  advice: string
  /** The names of the records concerned. */
  names: readonly string[]
}

/** The narrowest bar or module, in millimetres, that an office printer prints and a phone camera reads reliably. */
const minModuleMm: Record<Symbology, number> = { qr: 0.3, code128: 0.19 }

const isTooDense = (item: LabelItem, symbology: Symbology, sheet: Sheet): boolean => {
  const shape = encodeBarcode(symbology, item.code)
  return shape !== null && codeSize(symbology, sheet.cell)[0] / shape.width < minModuleMm[symbology]
}

const labels = (count: number): string => counted(count, 'label')

/** What the user has to know before printing: codes that cannot be scanned, and labels that show the key instead. */
export function findLabelWarnings(items: readonly LabelItem[], sheet: Sheet, symbology: Symbology): LabelWarning[] {
  const warnings: LabelWarning[] = []
  const add = (items: readonly LabelItem[], title: (count: string) => string, advice: string): void => {
    if (items.length > 0)
      warnings.push({ title: title(labels(items.length)), advice, names: items.map((one) => one.name) })
  }
  const isDense = (item: LabelItem): boolean => isTooDense(item, symbology, sheet)
  const fitsAsQr = items.filter(isDense).every((item) => !isTooDense(item, 'qr', sheet))
  const alternative =
    symbology === 'code128' && fitsAsQr
      ? 'Choose QR, or a sheet with larger labels'
      : 'Choose a sheet with larger labels, or shorter codes'
  add(
    items.filter(isDense),
    (count) => `${count} may not scan: the code is too dense`,
    `The code is too long for this size: its bars would be narrower than ${formatNumber(minModuleMm[symbology])} mm. ${alternative}.`,
  )
  add(
    items.filter((item) => encodeBarcode(symbology, item.code) === null),
    (count) => `${count} without a code`,
    'Code 128 holds only letters without accents, digits and common signs. Choose QR.',
  )
  add(
    items.filter((item) => item.isFallback),
    (count) => `${count} with the key instead of a barcode`,
    'These records have no barcode tag, so their labels show the key. Attach a barcode tag to print that instead.',
  )
  return warnings
}
