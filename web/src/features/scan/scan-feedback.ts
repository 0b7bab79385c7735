export type ScanOutcome = 'found' | 'elsewhere' | 'unknown'

/** What is shown of the latest scan. A location and a waiting code have no signal. */
export type ShownOutcome = ScanOutcome | 'location' | 'waiting'

const storageKey = 'lastseen.scan-sound'

export const isSoundOn = (): boolean => localStorage.getItem(storageKey) !== 'off'
export const setSoundOn = (isOn: boolean): void => localStorage.setItem(storageKey, isOn ? 'on' : 'off')

/** Hertz of the tones that follow each other, and the vibration in milliseconds, with pauses. */
const signals: Record<ScanOutcome, { tones: readonly number[]; vibration: readonly number[] }> = {
  found: { tones: [1320], vibration: [40] },
  elsewhere: { tones: [880, 1175], vibration: [40, 60, 40] },
  unknown: { tones: [330, 247], vibration: [180] },
}

const toneSeconds = 0.11
let audio: AudioContext | null = null

function playTones(tones: readonly number[]): void {
  audio ??= new AudioContext()
  const context = audio
  void context.resume()
  tones.forEach((hertz, index) => {
    const start = context.currentTime + index * toneSeconds
    const [tone, volume] = [context.createOscillator(), context.createGain()]
    tone.frequency.value = hertz
    volume.gain.setValueAtTime(0.2, start)
    volume.gain.exponentialRampToValueAtTime(0.001, start + toneSeconds)
    tone.connect(volume).connect(context.destination)
    tone.start(start)
    tone.stop(start + toneSeconds)
  })
}

/** Signals the outcome of a scan by sound and vibration, for users who do not look at the screen. */
export function signalOutcome(outcome: ScanOutcome): void {
  const { tones, vibration } = signals[outcome]
  if ('vibrate' in navigator) navigator.vibrate([...vibration])
  if (isSoundOn()) playTones(tones)
}
