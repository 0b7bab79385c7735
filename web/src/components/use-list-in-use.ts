import { type FocusEvent, type PointerEvent, useState } from 'react'

/**
 * Whether the pointer or the keyboard focus is in a list that events change. The rows then stay in place, because a click
 * would hit another row.
 */
export const isListInUse = (): boolean =>
  document.querySelector(':is(.table-wrap, .live-rows):has(:focus-visible)') !== null ||
  (matchMedia('(hover: hover)').matches && document.querySelector(':is(.table-wrap, .live-rows):hover') !== null)

/** Whether the mouse pointer or the focus is in a list, whose rows then stay in place. The handlers are for its element. */
export function useListInUse() {
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isInUse: isHovered || isFocused,
    handlers: {
      onPointerEnter: ({ pointerType }: PointerEvent) => setHovered(pointerType === 'mouse'),
      onPointerLeave: () => setHovered(false),
      onFocus: () => setFocused(true),
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => setFocused(currentTarget.contains(relatedTarget)),
    },
  }
}
