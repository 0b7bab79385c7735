import { Alert, Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { IconCamera, IconCameraOff } from '../../components/icons.ts'
import { scanCamera } from './barcode-camera.ts'

const cameraErrorMessage = (error: Error): string => {
  if (error.name === 'NotAllowedError')
    return 'The browser is not allowed to use the camera. Allow camera access in its settings.'
  if (error.name === 'NotFoundError') return 'This device has no camera. Use a hand scanner or the code field.'
  return error.message
}

/** Scans barcodes with the camera after the user starts it. */
export function Camera({ onCode }: { onCode: (code: string) => void }) {
  const [isOn, setOn] = useState(false)
  const [problem, setProblem] = useState('')
  const video = useRef<HTMLVideoElement>(null)
  const latest = useRef(onCode)
  latest.current = onCode
  useEffect(() => {
    if (!isOn || video.current === null) return
    const stop = new AbortController()
    scanCamera(video.current, stop.signal, (code) => {
      if ('vibrate' in navigator) navigator.vibrate(40)
      latest.current(code)
    }).catch((error: unknown) => {
      if (stop.signal.aborted) return
      setProblem(cameraErrorMessage(error as Error))
      setOn(false)
    })
    return () => stop.abort()
  }, [isOn])
  return (
    <>
      {isOn && (
        <div className="scan-box">
          <video ref={video} muted playsInline aria-label="Camera" />
        </div>
      )}
      {problem !== '' && (
        <Alert color="yellow" withCloseButton onClose={() => setProblem('')}>
          {problem}
        </Alert>
      )}
      <Button
        variant={isOn ? 'default' : 'light'}
        size="md"
        fullWidth
        leftSection={isOn ? <IconCameraOff size={18} /> : <IconCamera size={18} />}
        onClick={() => {
          setProblem('')
          setOn(!isOn)
        }}
      >
        {isOn ? 'Stop the camera' : 'Scan with the camera'}
      </Button>
    </>
  )
}
