import { PDFDocument, type PDFFont, type PDFPage, StandardFonts, rgb } from 'pdf-lib'
import { boxPath } from './export-labels.ts'
import type { Mark, Sheet } from './label-layout.ts'

const pointsPerMm = 72 / 25.4

type TextMark = Mark & { kind: 'text' }

/** Pixels per millimetre of text that is drawn as an image. */
const imageScale = 24

/** Draws the text with the browser's fonts, which cover every script. */
async function renderText(mark: TextMark, height: number): Promise<ArrayBuffer> {
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(mark.width * imageScale)
  canvas.height = Math.ceil(height * imageScale)
  const context = canvas.getContext('2d')!
  context.font = `${mark.isBold ? 'bold ' : ''}${mark.size * imageScale}px sans-serif`
  context.fillText(mark.text, 0, mark.size * imageScale)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  return blob!.arrayBuffer()
}

/** The standard PDF fonts contain only Latin characters, so other text is embedded as an image. */
async function drawText(page: PDFPage, mark: TextMark, pageHeight: number, font: PDFFont): Promise<void> {
  const supported = new Set(font.getCharacterSet())
  const at = (x: number, y: number) => ({ x: x * pointsPerMm, y: (pageHeight - y) * pointsPerMm })
  if (Array.from(mark.text).every((char) => supported.has(char.codePointAt(0)!))) {
    page.drawText(mark.text, { ...at(mark.x, mark.y), font, size: mark.size * pointsPerMm })
    return
  }
  const height = mark.size * 1.4
  page.drawImage(await page.doc.embedPng(await renderText(mark, height)), {
    ...at(mark.x, mark.y + height - mark.size),
    width: mark.width * pointsPerMm,
    height: height * pointsPerMm,
  })
}

/** All pages as one PDF. Barcodes are vector paths and print sharply at any resolution. */
export async function toPdf(pages: readonly (readonly Mark[])[], { page: [width, height] }: Sheet): Promise<Blob> {
  const pdf = await PDFDocument.create()
  pdf.setTitle('Labels')
  const regular = await pdf.embedFont(StandardFonts.Helvetica)
  const bold = await pdf.embedFont(StandardFonts.HelveticaBold)
  for (const marks of pages) {
    const page = pdf.addPage([width * pointsPerMm, height * pointsPerMm])
    page.drawSvgPath(boxPath(marks), { x: 0, y: height * pointsPerMm, scale: pointsPerMm, color: rgb(0, 0, 0) })
    for (const mark of marks) if (mark.kind === 'text') await drawText(page, mark, height, mark.isBold ? bold : regular)
  }
  return new Blob([new Uint8Array(await pdf.save())], { type: 'application/pdf' })
}
