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

  find(path: string): Match<T> | null {
    if (!path.startsWith('/')) return null
    const segments: string[] = []
    let node: Node<T> | undefined = this.#root
    let start = 1
    while (node !== undefined && start <= path.length) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      const segment = path.slice(start, end)
      const fixed: Node<T> | undefined = node.fixed.get(segment)
      if (fixed === undefined && segment !== '') segments.push(segment)
      node = fixed ?? (segment === '' ? undefined : node.variable)
      start = end + 1
    }
    return node?.methods === undefined ? null : { methods: node.methods, segments }
  }
}
