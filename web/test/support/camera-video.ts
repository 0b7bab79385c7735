import { type BarcodeShape, type Symbology, encodeBarcode } from '../../src/features/labels/encode-barcode.ts'

const [width, height] = [320, 240]
const white = 235
const black = 16

/** A barcode centered in a white frame, as large as possible. */
function frame(shape: BarcodeShape, symbology: Symbology): Buffer {
  const picture = Buffer.alloc((width * height * 3) / 2, 128)
  picture.fill(white, 0, width * height)
  const room = symbology === 'qr' ? height - 48 : width - 40
  const size = Math.floor(room / shape.width)
  const tall = symbology === 'qr' ? size : 110
  const left = Math.floor((width - shape.width * size) / 2)
  const top = Math.floor((height - shape.height * tall) / 2)
  for (const [x, y, wide, high] of shape.boxes)
    for (let row = top + y * tall; row < top + (y + high) * tall; row++)
      picture.fill(black, row * width + left + x * size, row * width + left + (x + wide) * size)
  return picture
}

/** The video of a camera that films one label after the other, uncompressed (YUV4MPEG2). */
export function cameraVideo(labels: readonly [Symbology, string][], framesEach: number): Buffer {
  const frames = labels.flatMap(([symbology, text]) => {
    const shape = encodeBarcode(symbology, text)
    if (shape === null) throw new Error(`no ${symbology} for ${text}`)
    return Array.from({ length: framesEach }, () => [Buffer.from('FRAME\n'), frame(shape, symbology)]).flat()
  })
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`), ...frames])
}
