import { loadCode } from '../../api/connection.ts'
import { sleep } from '../../lib/sleep.ts'

interface Detected {
  rawValue: string
}

interface Detector {
  detect(source: HTMLVideoElement): Promise<Detected[]>
}

interface DetectorConstructor {
  new (options: { formats: string[] }): Detector
  getSupportedFormats(): Promise<string[]>
}

const formats = ['qr_code', 'code_128', 'code_39', 'ean_13', 'ean_8', 'upc_a', 'upc_e', 'itf', 'data_matrix', 'codabar']

/** The browser's built-in barcode detector, if available. */
async function nativeDetector(): Promise<Detector | null> {
  const DetectorClass = (window as { BarcodeDetector?: DetectorConstructor }).BarcodeDetector
  if (DetectorClass === undefined) return null
  const supported = await DetectorClass.getSupportedFormats().catch((): string[] => [])
  const wanted = formats.filter((one) => supported.includes(one))
  return wanted.length === 0 ? null : new DetectorClass({ formats: wanted })
}

/** A detector based on the ZXing library, which is loaded on demand. */
async function zxingDetector(): Promise<Detector> {
  const { BrowserMultiFormatReader } = await loadCode(() => import('@zxing/browser'))
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

/** Detects codes in the camera image until the signal aborts. Reports the same code at most once per two seconds. */
export async function scanCamera(
  video: HTMLVideoElement,
  signal: AbortSignal,
  onTrack: (track: MediaStreamTrack) => void,
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
  const [track] = stream.getVideoTracks()
  if (track !== undefined) onTrack(track)
  const detector = (await nativeDetector()) ?? (await zxingDetector())
  const lastSeenAt = new Map<string, number>()
  while (!signal.aborted) {
    const codes = video.videoWidth > 0 ? await detector.detect(video).catch(() => []) : []
    for (const { rawValue } of codes) {
      const now = Date.now()
      if (rawValue !== '' && now - (lastSeenAt.get(rawValue) ?? 0) > 2000) onCode(rawValue)
      lastSeenAt.set(rawValue, now)
    }
    await sleep(140)
  }
}
