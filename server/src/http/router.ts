interface Node<T> {
  readonly fixed: Map<string, Node<T>>
  variable?: Node<T>
  methods?: Map<string, T>
}

export interface Match<T> {
  readonly methods: ReadonlyMap<string, T>
  /** The path's variable segments, as they stand in the URL. */
  readonly segments: readonly string[]
}

const newNode = <T>(): Node<T> => ({ fixed: new Map() })

/** Finds what a path names, segment by segment. A fixed segment wins over a variable one; nothing is decoded. */
export class Router<T> {
  readonly #root: Node<T> = newNode()

  add(method: string, path: string, value: T): void {
    let node = this.#root
    for (const segment of path.split('/').slice(1)) {
      if (segment.startsWith('{')) node = node.variable ??= newNode()
      else {
        const next: Node<T> = node.fixed.get(segment) ?? newNode()
        node.fixed.set(segment, next)
        node = next
      }
    }
    node.methods ??= new Map()
    if (node.methods.has(method)) throw new Error(`${method} ${path} is declared twice`)
    node.methods.set(method, value)
  }

  /** The best of what the path names, or null. */
  find(path: string): Match<T> | null {
    return this.all(path)[0] ?? null
  }

  /** Everything the path names, best first: what is fixed may lack a method, or a tail, that the variable has. */
  all(path: string): Match<T>[] {
    const found: Match<T>[] = []
    if (path.startsWith('/')) walk(this.#root, path, 1, [], found)
    return found
  }
}

function walk<T>(node: Node<T>, path: string, start: number, segments: readonly string[], found: Match<T>[]): void {
  if (start > path.length) {
    if (node.methods !== undefined) found.push({ methods: node.methods, segments })
    return
  }
  const slash = path.indexOf('/', start)
  const end = slash === -1 ? path.length : slash
  const segment = path.slice(start, end)
  const fixed = node.fixed.get(segment)
  if (fixed !== undefined) walk(fixed, path, end + 1, segments, found)
  if (segment !== '' && node.variable !== undefined) walk(node.variable, path, end + 1, [...segments, segment], found)
}
