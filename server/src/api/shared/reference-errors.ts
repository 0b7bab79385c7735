import type { AnyRoute } from '../../http/route.ts'
import { type FieldProblem, apiError } from '../../kernel/errors.ts'
import { InvalidReferenceError, type ReferenceProblem } from '../../records/reference-error.ts'

/** The name and the message that one API has for a problem. */
type Describe = (problem: ReferenceProblem) => Pick<FieldProblem, 'field' | 'message'>

/** A route whose handler's reference errors become validation errors with the field names of its API. */
export const withReferenceErrors = (route: AnyRoute, describe: Describe): AnyRoute => ({
  ...route,
  handle: (context) =>
    route.handle(context).catch((error: unknown) => {
      if (!(error instanceof InvalidReferenceError)) throw error
      const [first, ...rest] = error.problems
      const toField = (problem: ReferenceProblem): FieldProblem => ({ code: problem.code, ...describe(problem) })
      throw apiError.invalid(toField(first), ...rest.map(toField))
    }),
})
