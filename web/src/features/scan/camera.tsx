import { Alert, Button, Group, Stack } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { IconBulb, IconCamera, IconCameraOff } from '../../components/icons.ts'
import { scanCamera } from './barcode-camera.ts'

const cameraErrorMessage = (error: Error): string => {
  if (error.name === 'NotAllowedError')
    return 'The browser is not allowed to use the camera. Allow camera access in its settings.'
  if (error.name === 'NotFoundError') return 'This device has no camera. Use a hand scanner or the code field.'
  return error.message
}

/** The DOM types do not declare the `torch` constraint of a camera. */
type TorchCapabilities = MediaTrackCapabilities & { torch?: boolean }

const hasTorch = (track: MediaStreamTrack): boolean =>
  (track.getCapabilities?.() as TorchCapabilities | undefined)?.torch === true

/**
 * Scans barcodes with the camera after the user starts it. The picture and the children stay in view while the user
 * scrolls through the results.
 */
export function Camera({ onCode, children }: { onCode: (code: string) => void; children: React.ReactNode }) {
  const [isOn, setOn] = useState(false)
  const [track, setTrack] = useState<MediaStreamTrack | null>(null)
  const [isLit, setLit] = useState(false)
  const [problem, setProblem] = useState('')
  const video = useRef<HTMLVideoElement>(null)
  const latest = useRef(onCode)
  latest.current = onCode
  useEffect(() => {
    if (!isOn || video.current === null) return
    const stop = new AbortController()
    scanCamera(video.current, stop.signal, setTrack, (code) => latest.current(code)).catch((error: unknown) => {
      if (stop.signal.aborted) return
      setProblem(cameraErrorMessage(error as Error))
      setOn(false)
    })
    return () => {
      stop.abort()
      setTrack(null)
      setLit(false)
    }
  }, [isOn])
  const toggleLight = async (): Promise<void> => {
    try {
      await track?.applyConstraints({ advanced: [{ torch: !isLit } as MediaTrackConstraintSet] })
      setLit(!isLit)
    } catch {
      setProblem('The light of this camera cannot be turned on.')
    }
  }
  return (
    <>
      <Stack gap="xs" className="scan-sticky">
        {isOn && (
          <div className="scan-box">
            <video ref={video} muted playsInline aria-label="Camera" />
          </div>
        )}
        {children}
      </Stack>
      {problem !== '' && (
        <Alert color="yellow" withCloseButton onClose={() => setProblem('')}>
          {problem}
        </Alert>
      )}
      <Group grow preventGrowOverflow={false} wrap="nowrap" gap="xs">
        <Button
          variant={isOn ? 'default' : 'light'}
          size="md"
          leftSection={isOn ? <IconCameraOff size={18} /> : <IconCamera size={18} />}
          onClick={() => {
            setProblem('')
            setOn(!isOn)
          }}
        >
          {isOn ? 'Stop the camera' : 'Scan with the camera'}
        </Button>
        {track !== null && hasTorch(track) && (
          <Button
            variant="default"
            size="md"
            leftSection={<IconBulb size={18} />}
            aria-pressed={isLit}
            onClick={() => void toggleLight()}
            style={{ flex: '0 0 auto' }}
          >
            Light
          </Button>
        )}
      </Group>
    </>
  )
}
