export type Measure = (text: string) => number

/** Measures texts in the font of the page. */
export function textMeasure(fontSize: number): Measure {
  const context = document.createElement('canvas').getContext('2d')!
  context.font = `${fontSize}px ${getComputedStyle(document.body).fontFamily}`
  return (text) => context.measureText(text).width
}

/**
 * The text, or the longest part of it that fits into a width. The middle is left out, because names of neighbours often
 * differ only at their end. Empty when nothing but the ellipsis would fit.
 */
export function fitText(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text
  const letters = Array.from(text)
  const shortened = (length: number): string => {
    const end = Math.floor(length / 2)
    return `${letters
      .slice(0, length - end)
      .join('')
      .trimEnd()}…${letters
      .slice(letters.length - end)
      .join('')
      .trimStart()}`
  }
  for (let length = letters.length - 1; length > 0; length--) {
    const part = shortened(length)
    if (measure(part) <= width) return part
  }
  return ''
}
