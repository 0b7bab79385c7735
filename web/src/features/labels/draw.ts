import type { Mark, Sheet } from './sheets.ts'

const round = (value: number): string => String(Math.round(value * 1000) / 1000)

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** One page as an SVG file, in millimetres. */
export function toSvg(marks: readonly Mark[], { page: [width, height] }: Sheet): string {
  const boxes = marks
    .flatMap((mark) =>
      mark.kind === 'box'
        ? [`M${round(mark.x)} ${round(mark.y)}h${round(mark.width)}v${round(mark.height)}h-${round(mark.width)}z`]
        : [],
    )
    .join('')
  const texts = marks.flatMap((mark) =>
    mark.kind === 'text'
      ? [
          `<text x="${round(mark.x)}" y="${round(mark.y)}" font-size="${round(mark.size)}"${mark.isBold ? ' font-weight="bold"' : ''}>${escapeXml(mark.text)}</text>`,
        ]
      : [],
  )
  const size = `width="${width}mm" height="${height}mm" viewBox="0 0 ${width} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="Helvetica, Arial, sans-serif"><rect width="${width}" height="${height}" fill="#fff"/><path d="${boxes}"/>${texts.join('')}</svg>`
}

const points = 72 / 25.4

/** Characters the fonts that every PDF reader has can write. */
const isLatin = (text: string): boolean => /^[\x20-\x7e\xa1-\xff…]*$/.test(text)

const pdfText = (text: string): string =>
  Array.from(text.replaceAll('…', '\x85'))
    .map((char) => (/[()\\]/.test(char) ? `\\${char}` : char))
    .join('')

interface Picture {
  name: string
  width: number
  height: number
  bytes: Uint8Array
}

/** Other scripts go in as pictures, drawn by the browser with its own fonts. */
function picture(mark: Mark & { kind: 'text' }, name: string): Picture {
  const scale = 24
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(mark.width * scale)
  canvas.height = Math.ceil(mark.size * 1.4 * scale)
  const pen = canvas.getContext('2d')!
  pen.fillStyle = '#fff'
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillStyle = '#000'
  pen.font = `${mark.isBold ? 'bold ' : ''}${mark.size * scale}px sans-serif`
  pen.fillText(mark.text, 0, mark.size * scale)
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height)
  const bytes = new Uint8Array(canvas.width * canvas.height)
  for (let at = 0; at < bytes.length; at++) bytes[at] = data[at * 4]!
  return { name, width: canvas.width, height: canvas.height, bytes }
}

function pageContent(marks: readonly Mark[], pageHeight: number, pictures: Picture[]): string {
  const at = (value: number): string => round(value * points)
  const up = (value: number): string => round((pageHeight - value) * points)
  return marks
    .map((mark) => {
      if (mark.kind === 'box')
        return `${at(mark.x)} ${up(mark.y + mark.height)} ${at(mark.width)} ${at(mark.height)} re f`
      if (isLatin(mark.text))
        return `BT /${mark.isBold ? 'B' : 'R'} ${at(mark.size)} Tf ${at(mark.x)} ${up(mark.y)} Td (${pdfText(mark.text)}) Tj ET`
      const drawn = picture(mark, `P${pictures.length}`)
      pictures.push(drawn)
      const height = mark.size * 1.4
      return `q ${at(mark.width)} 0 0 ${at(height)} ${at(mark.x)} ${up(mark.y + height - mark.size)} cm /${drawn.name} Do Q`
    })
    .join('\n')
}

const latin1 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff)

/** All pages as one PDF of vectors. */
export function toPdf(pages: readonly (readonly Mark[])[], { page: [width, height] }: Sheet): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const offsets: number[] = []
  let length = 0
  const put = (bytes: Uint8Array<ArrayBuffer>): void => {
    parts.push(bytes)
    length += bytes.length
  }
  const object = (head: string, stream?: Uint8Array): number => {
    offsets.push(length)
    put(latin1(`${offsets.length} 0 obj\n${head}`))
    if (stream !== undefined) {
      put(latin1('\nstream\n'))
      put(new Uint8Array(stream))
      put(latin1('\nendstream'))
    }
    put(latin1('\nendobj\n'))
    return offsets.length
  }
  put(latin1('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n'))
  const font = (name: string): number =>
    object(`<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`)
  const regular = font('Helvetica')
  const bold = font('Helvetica-Bold')
  const tree = 2 + pages.length * 2 + 1
  const kids: number[] = []
  const pictures: Picture[] = []
  const contents = pages.map((marks) => latin1(pageContent(marks, height, pictures)))
  const first = 2 + pages.length * 2 + 2
  const images = pictures.map((one, index) => `/${one.name} ${first + index} 0 R`).join(' ')
  for (const content of contents) {
    const stream = object(`<< /Length ${content.length} >>`, content)
    const box = `[0 0 ${round(width * points)} ${round(height * points)}]`
    const resources = `<< /Font << /R ${regular} 0 R /B ${bold} 0 R >> /XObject << ${images} >> >>`
    kids.push(
      object(`<< /Type /Page /Parent ${tree} 0 R /MediaBox ${box} /Contents ${stream} 0 R /Resources ${resources} >>`),
    )
  }
  object(`<< /Type /Pages /Kids [${kids.map((one) => `${one} 0 R`).join(' ')}] /Count ${kids.length} >>`)
  for (const one of pictures)
    object(
      `<< /Type /XObject /Subtype /Image /Width ${one.width} /Height ${one.height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Length ${one.bytes.length} >>`,
      one.bytes,
    )
  const catalog = object(`<< /Type /Catalog /Pages ${tree} 0 R >>`)
  const start = length
  const table = offsets.map((one) => `${String(one).padStart(10, '0')} 00000 n \n`).join('')
  put(latin1(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${table}`))
  put(latin1(`trailer\n<< /Size ${offsets.length + 1} /Root ${catalog} 0 R >>\nstartxref\n${start}\n%%EOF\n`))
  return new Blob(parts, { type: 'application/pdf' })
}
