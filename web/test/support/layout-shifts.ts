import type { BrowserContext } from '@playwright/test'

interface LayoutShift extends PerformanceEntry {
  hadRecentInput: boolean
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[]
}

/** Runs in a page: reports every control that moved by more than two pixels without input of the user. */
function observeShifts(): void {
  const { movedControl } = globalThis as unknown as { movedControl: (message: string) => void }
  const controls = 'a[href], button, input, select, textarea, [role=button], [role=switch], [role=tab]'
  // Rows follow what happens, except under the pointer, and messages make room for each other.
  const rows =
    'tr:not(.table-wrap:hover *), .move-row:not(:is([role=log], .live-rows):hover *), .mantine-Notifications-root'
  const nameOf = (one: Element): string =>
    `${location.pathname}: ${(one.cloneNode() as Element).outerHTML} "${one.textContent.slice(0, 60)}"`
  const report = ({ hadRecentInput, sources }: LayoutShift): void => {
    if (hadRecentInput) return
    for (const { node, previousRect: before, currentRect: after } of sources) {
      const element = node instanceof Element ? node : (node?.parentElement ?? null)
      if (element === null || before.width * before.height === 0 || after.width * after.height === 0) continue
      const own = element.matches(controls)
      const control = own
        ? element
        : (element.closest(controls) ??
          [...element.querySelectorAll(controls)].find((one) => one.closest(rows) === null))
      if (control === undefined || control.closest(rows) !== null) continue
      // A group or a label that only becomes wider or narrower does not move the control that it contains or belongs to.
      const [left, right] = [after.left - before.left, after.right - before.right]
      const shared = left * right <= 0 ? 0 : Math.abs(left) < Math.abs(right) ? left : right
      const x = Math.round(own ? left : shared)
      const y = Math.round(after.top - before.top)
      if (Math.abs(x) > 2 || Math.abs(y) > 2) movedControl(`${nameOf(control)} moved by ${x}, ${y} px`)
    }
  }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) report(entry as LayoutShift)
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Collects the controls that move on any page of the browser context. */
export async function watchLayoutShifts(context: BrowserContext): Promise<string[]> {
  const moved: string[] = []
  await context.exposeBinding('movedControl', (_source, message: string) => void moved.push(message))
  await context.addInitScript(observeShifts)
  return moved
}
