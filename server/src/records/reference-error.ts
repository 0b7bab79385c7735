/** A reference of a record to a location that cannot be used. Each API has its own names for these fields. */
export interface ReferenceProblem {
  field: 'parent' | 'location'
  /** How the request named the location. */
  by: 'id' | 'key'
  /** The location does not exist, or id and key name different locations. */
  code: 'fk_not_found' | 'ambiguous_fields'
}

/** Thrown by commands; the routes of each API convert it with `withReferenceErrors`. */
export class InvalidReferenceError extends Error {
  readonly problems: readonly [ReferenceProblem, ...ReferenceProblem[]]

  constructor(...problems: [ReferenceProblem, ...ReferenceProblem[]]) {
    super(problems.map(({ field, by, code }) => `${field} by ${by}: ${code}`).join('; '))
    this.problems = problems
  }
}
