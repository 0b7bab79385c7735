interface Node<T> {
  readonly fixed: Map<string, Node<T>>
  variable?: Node<T>
  methods?: Map<string, T>
}

export interface Match<T> {
  readonly methods: ReadonlyMap<string, T>
  /** The path's variable segments, not decoded. */
  readonly segments: readonly string[]
}

const newNode = <T>(): Node<T> => ({ fixed: new Map() })

/** Matches paths segment by segment. A fixed segment takes precedence over a variable one; segments are not decoded. */
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

  /** The match, or null. A path that exists with fixed segments has the methods of those segments only, as in OpenAPI. */
  find(path: string): Match<T> | null {
    return path.startsWith('/') ? walk(this.#root, path, 1, []) : null
  }
}

function walk<T>(node: Node<T>, path: string, start: number, segments: readonly string[]): Match<T> | null {
  if (start > path.length) return node.methods === undefined ? null : { methods: node.methods, segments }
  const slash = path.indexOf('/', start)
  const end = slash === -1 ? path.length : slash
  const segment = path.slice(start, end)
  const fixed = node.fixed.get(segment)
  const found = fixed === undefined ? null : walk(fixed, path, end + 1, segments)
  if (found !== null || segment === '' || node.variable === undefined) return found
  return walk(node.variable, path, end + 1, [...segments, segment])
}

const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods of the Allow header for a path whose routes have these methods. */
export function allowedMethods(methods: readonly string[]): string[] {
  const all = new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)
  return methodOrder.filter((method) => all.has(method))
}
