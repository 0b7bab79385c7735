interface Detected {
  rawValue: string
}

interface Detector {
  detect(source: HTMLVideoElement): Promise<Detected[]>
}

interface DetectorClass {
  new (options: { formats: string[] }): Detector
  getSupportedFormats(): Promise<string[]>
}

const formats = ['qr_code', 'code_128', 'code_39', 'ean_13', 'ean_8', 'upc_a', 'upc_e', 'itf', 'data_matrix', 'codabar']

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms))

/** The browser's own reader, where there is one. */
async function builtIn(): Promise<Detector | null> {
  const made = (window as { BarcodeDetector?: DetectorClass }).BarcodeDetector
  if (made === undefined) return null
  const supported = await made.getSupportedFormats().catch((): string[] => [])
  const wanted = formats.filter((one) => supported.includes(one))
  return wanted.length === 0 ? null : new made({ formats: wanted })
}

/** Otherwise a library that comes with the app and runs in the page; loaded only now. */
async function fromLibrary(): Promise<Detector> {
  const { BrowserMultiFormatReader } = await import('@zxing/browser')
  const reader = new BrowserMultiFormatReader()
  const canvas = document.createElement('canvas')
  return {
    async detect(video) {
      canvas.width = video.videoWidth
      canvas.height = video.videoHeight
      canvas.getContext('2d', { willReadFrequently: true })!.drawImage(video, 0, 0)
      try {
        return [{ rawValue: reader.decodeFromCanvas(canvas).getText() }]
      } catch {
        return []
      }
    },
  }
}

/** Looks at the camera until told to stop, and calls out every code it sees, the same one once in two seconds. */
export async function scanCamera(
  video: HTMLVideoElement,
  signal: AbortSignal,
  onCode: (code: string) => void,
): Promise<void> {
  const devices = (navigator as { mediaDevices?: MediaDevices }).mediaDevices
  if (devices === undefined) throw new Error('The camera works only over https, or on localhost.')
  const stream = await devices.getUserMedia({ video: { facingMode: 'environment', width: { ideal: 1280 } } })
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop()
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) {
    stop()
    return
  }
  video.srcObject = stream
  await video.play()
  const detector = (await builtIn()) ?? (await fromLibrary())
  const lately = new Map<string, number>()
  while (!signal.aborted) {
    const codes = video.videoWidth > 0 ? await detector.detect(video).catch(() => []) : []
    for (const { rawValue } of codes) {
      const now = Date.now()
      if (rawValue !== '' && now - (lately.get(rawValue) ?? 0) > 2000) onCode(rawValue)
      lately.set(rawValue, now)
    }
    await pause(140)
  }
}
