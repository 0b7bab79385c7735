import { useEffect, useRef } from 'react'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

/** A key that was pressed longer ago does not belong to the code. The radio link of a scanner may stall for a moment. */
const maxPauseMs = 1000

/** Handles a hand scanner in keyboard mode, which types fast and ends with Enter, anywhere on the page. */
export function useKeyboardWedge(onCode: (code: string) => void): void {
  const latest = useRef(onCode)
  latest.current = onCode
  useEffect(() => {
    let text = ''
    let last = 0
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.timeStamp - last > maxPauseMs) text = ''
      last = event.timeStamp
      if (event.key === 'Enter' && text.length > 2) {
        event.preventDefault()
        latest.current(text)
        text = ''
      } else if (event.key.length === 1) text += event.key
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
