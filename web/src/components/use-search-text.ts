import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

const pauseMs = 200

/**
 * The text of a search field, which the URL holds. The URL follows when the user stops typing; the field follows the URL when
 * a link or Back changes it. `q` is the text in the URL.
 */
export function useSearchText(q = '', change: (q: string | undefined) => void) {
  const [typed, setTyped] = useState(q)
  // The texts that were sent to the URL: when it gets them, the user may have typed more.
  const sent = useRef<string[]>([])
  const apply = useDebouncedCallback((text: string) => {
    sent.current.push(text)
    change(text === '' ? undefined : text)
  }, pauseMs)
  useEffect(() => {
    const index = sent.current.indexOf(q)
    sent.current = index === -1 ? [] : sent.current.slice(index + 1)
    if (index === -1) setTyped(q)
  }, [q])
  const type = (text: string): void => {
    setTyped(text)
    apply(text.trim())
  }
  return { typed, type }
}
