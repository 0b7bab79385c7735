import { type Attributes, SpanKind, inChildSpan } from '../kernel/tracing.ts'
import { type Sql, render } from './sql.ts'

/** The text of a statement has placeholders where its values are. */
const attributesOf = (statement: Sql): Attributes => ({
  'db.system.name': 'postgresql',
  'db.query.text': render(statement).text,
})

/** Runs a statement in a client span. Statements that belong to no traced request, batch or claim have none. */
export const traceStatement = <Result>(statement: Sql, run: () => Promise<Result>): Promise<Result> =>
  inChildSpan(() => ({ name: 'postgresql', kind: SpanKind.CLIENT, attributes: attributesOf(statement) }), run)
