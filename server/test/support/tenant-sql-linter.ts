import { loadModule, parseSync } from 'libpg-query'

/** The names of the tables whose every row belongs to one organization, unqualified. */
export interface TenancyRules {
  tenantTables: ReadonlySet<string>
  /** The names of functions that work for one organization, which they take as their first argument. */
  tenantFunctions?: ReadonlySet<string>
}

type Body = Readonly<Record<string, unknown>>

/** What the value in an `org_id` position comes from: a parameter, the org_id of a relation, or something else. */
type Origin = 'param' | Relation | null

/** Origins are read only after the whole statement is known, because a CTE may refer to a later one. */
type Source = () => Origin

/** One AND-connected condition that states two org_id values are equal. */
interface Equality {
  left: Source
  right: Source
}

/** The conditions of one query level's WHERE. */
interface Level {
  where: Equality[]
}

/** How a join treats the rows of one of its sides. */
type Side = 'inner' | 'preserved' | 'nullable' | 'full'

interface Relation {
  /** The name by which columns refer to the relation, null when nothing can refer to it. */
  name: string | null
  table: string | null
  schema: string | null
  aliased: boolean
  tenant: boolean
  /** Its org_id is checked elsewhere: an INSERT target and its `excluded` row. */
  given: boolean
  /** The output of a sub-select or CTE, null for anything else. */
  columns: (() => Column[]) | null
  /** Column names that a function's alias declares. */
  declared: readonly string[]
  /** The CTE whose own recursive term this reference stands in. */
  selfOf: Cte | null
  level: Level
  /** The joins above the relation, innermost first. */
  joins: { side: Side; on: Equality[] }[]
}

type Column = { name: string | null; sources: Source[] } | { star: Tree[] }

type Exposure = 'definite' | 'possible' | 'none'

/** The relations whose org_id an unqualified `org_id` could mean. */
interface OrgColumns {
  definite: Relation[]
  possible: Relation[]
  /** A merged column that is neither side's, as FULL JOIN USING makes. */
  merged: boolean
}

interface Tree {
  relations: Relation[]
  find: (name: string) => Relation[]
  org: () => OrgColumns
}

interface Scope {
  tree: Tree
  parent: Scope | null
}

interface Cte {
  columns: Column[]
  open: boolean
}

interface CteScope {
  ctes: ReadonlyMap<string, Cte>
  parent: CteScope | null
}

interface Context {
  scope: Scope | null
  ctes: CteScope | null
  /** The data-modifying statements that enclose this position. */
  within: readonly number[]
}

const ORG = 'org_id'

const NOWHERE: Source = () => null

const SELECT_FIELDS = new Set(
  (
    'distinctClause targetList fromClause whereClause groupClause groupDistinct havingClause windowClause ' +
    'valuesLists sortClause limitOffset limitCount limitOption lockingClause withClause op all larg rarg'
  ).split(' '),
)
const INSERT_FIELDS = new Set(
  'relation cols selectStmt onConflictClause returningClause withClause override'.split(' '),
)
const UPDATE_FIELDS = new Set('relation targetList whereClause fromClause returningClause withClause'.split(' '))
const DELETE_FIELDS = new Set('relation usingClause whereClause returningClause withClause'.split(' '))
const CTE_FIELDS = new Set(
  'ctename aliascolnames ctematerialized ctequery search_clause cycle_clause location'.split(' '),
)
const JOIN_FIELDS = new Set('jointype larg rarg usingClause quals'.split(' '))
const RANGE_FUNCTION_FIELDS = new Set('lateral ordinality is_rowsfrom functions alias coldeflist'.split(' '))
const CONFLICT_FIELDS = new Set('action infer targetList whereClause location'.split(' '))
const INFER_FIELDS = new Set('indexElems whereClause conname location'.split(' '))

/** Expression nodes that hold nothing but further expressions, so that walking their fields sees everything. */
const EXPRESSIONS = new Set(
  (
    'A_Const ColumnRef ParamRef A_Expr BoolExpr TypeCast TypeName CollateClause A_Star A_Indices A_Indirection ' +
    'A_ArrayExpr ResTarget MultiAssignRef SortBy WindowDef NullTest BooleanTest CaseExpr CaseWhen RowExpr ' +
    'CoalesceExpr MinMaxExpr SQLValueFunction SetToDefault CurrentOfExpr GroupingSet GroupingFunc NamedArgExpr ' +
    'List String Integer Float Boolean BitString ColumnDef IndexElem'
  ).split(' '),
)

/** Functions that run a query handed to them as text or that dump whole tables by name. */
const RUNS_SQL =
  /^((query|table|schema|database|cursor)_to_xml.*|ts_stat|ts_rewrite|dblink.*|crosstab.*|connectby|run_command_on_.*)$/

/** Calls that give every node the same value, so that an update may run where the row lives. */
const IMMUTABLE_CALLS = new Set(['lower', 'upper', 'array_append', 'array_remove'])

/** Calls that may give each node another value, so that a write may not depend on them: time must come as a parameter. */
const VOLATILE_CALLS = new Set(
  (
    'now clock_timestamp statement_timestamp transaction_timestamp timeofday date_trunc date_part extract age timezone ' +
    'to_char random gen_random_uuid nextval currval current_setting set_config txid_current pg_backend_pid'
  ).split(' '),
)

/** Utility statements that touch no table. */
const TABLELESS = new Set(
  (
    'TransactionStmt VariableSetStmt VariableShowStmt ListenStmt UnlistenStmt NotifyStmt DiscardStmt ' +
    'DeallocateStmt ConstraintsSetStmt ClosePortalStmt CheckPointStmt FetchStmt'
  ).split(' '),
)

/** Statements that run text or plans the parser does not show. */
const OPAQUE = new Set('DoStmt CallStmt ExecuteStmt'.split(' '))

const WRITES_AND_READS = new Set('SelectStmt InsertStmt UpdateStmt DeleteStmt'.split(' '))

let loaded = false

/** Loads the parser; after it resolves, the other functions of this module may be called. */
export async function loadSqlParser(): Promise<void> {
  if (loaded) return
  await loadModule()
  loaded = true
}

/** Returns why a statement could reach rows outside the given organization, or [] when it cannot. */
export function tenancyViolations(sqlText: string, rules: TenancyRules): string[] {
  let statements: Body[]
  try {
    statements = parseStatements(sqlText)
  } catch (error) {
    if (error instanceof NotLoaded) throw error
    return [`the statement cannot be parsed: ${error instanceof Error ? error.message : String(error)}`]
  }
  const [statement, second] = statements
  if (!statement) return ['the text holds no statement']
  if (second) return ['the text holds several statements']
  const analysis = new Analysis(rules)
  try {
    analysis.statement(statement)
    analysis.judge()
  } catch (error) {
    analysis.report(`the linter does not support the statement: ${error instanceof Error ? error.message : error}`)
  }
  return [...analysis.violations]
}

/** Returns the unqualified names of the real tables a text refers to, without the names of its CTEs. */
export function statementTables(sqlText: string): string[] {
  const analysis = new Analysis({ tenantTables: new Set() })
  for (const statement of parseStatements(sqlText)) analysis.statement(statement)
  return [...analysis.tables]
}

class NotLoaded extends Error {}

function parseStatements(sqlText: string): Body[] {
  if (!loaded) throw new NotLoaded('the parser is not loaded: await loadFence() first')
  // The parser reads a C string, so it would not see what follows a NUL character.
  if (sqlText.includes('\0')) throw new Error('the text holds a NUL character')
  return list(body(parseSync(sqlText))['stmts']).map((raw) => body(body(raw)['stmt']))
}

class Analysis {
  readonly violations = new Set<string>()
  readonly tables = new Set<string>()
  readonly #tenantTables: ReadonlySet<string>
  readonly #tenantFunctions: ReadonlySet<string>
  readonly #relations: Relation[] = []
  readonly #recursive = new Set<Cte>()
  readonly #insertions: { table: string; from: string; sources: Source[] }[] = []
  readonly #reads: { table: string; within: readonly number[] }[] = []
  readonly #cteWrites: { table: string; id: number }[] = []
  #statements = 0

  constructor(rules: TenancyRules) {
    this.#tenantTables = rules.tenantTables
    this.#tenantFunctions = rules.tenantFunctions ?? new Set()
  }

  report(message: string): void {
    this.violations.add(message)
  }

  /** Walks one top-level statement; judge() then evaluates what the walk has collected. */
  statement(node: Body): void {
    const [tag, fields] = tagged(node)
    if (WRITES_AND_READS.has(tag) || tag === 'MergeStmt') {
      this.#query(node, { scope: null, ctes: null, within: [] }, false)
    } else if (!TABLELESS.has(tag)) {
      this.#utility(tag, fields)
    }
  }

  /** Reports every tenant table and every inserted org_id that stays unbound, and every read of a written table. */
  judge(): void {
    const bound = this.#bindRelations()
    for (const relation of this.#relations) {
      if (!relation.tenant || bound.has(relation)) continue
      const alias = relation.aliased ? ` (alias ${relation.name})` : ''
      const outer = relation.joins.some(({ side }) => side === 'nullable' || side === 'full')
      const where = outer ? 'the ON of its outer join' : "its level's WHERE or inner JOIN ON"
      this.report(
        `tenant table ${relation.table}${alias} is not bound to an organization: ` +
          `${where} must hold ${relation.name}.${ORG} = $n or equality with a bound ${ORG}`,
      )
    }
    for (const { table, from, sources } of this.#insertions) {
      if (sources.every((source) => isBound(source(), bound))) continue
      const allowed = from === 'VALUES' ? 'a parameter' : `a parameter or the ${ORG} of a bound relation`
      this.report(`INSERT into ${table}: the ${ORG} of every ${from} row must be ${allowed}`)
    }
    for (const write of this.#cteWrites) {
      if (this.#reads.some((read) => read.table === write.table && !read.within.includes(write.id))) {
        this.report(`${write.table} is read again in the statement whose CTE writes it`)
      }
    }
  }

  /**
   * Returns the relations whose org_id equals a parameter in every row that a reader can see.
   * A recursive CTE is bound by induction: its own reference is taken as bound until one of its arms shows otherwise.
   */
  #bindRelations(): Set<Relation> {
    const assumed = new Set(this.#recursive)
    for (;;) {
      const bound = new Set<Relation>()
      for (let before = -1; before !== bound.size;) {
        before = bound.size
        for (const relation of this.#relations) {
          if (relation.given || this.#isBoundInside(relation, assumed, bound) || isBoundByEquality(relation, bound)) {
            bound.add(relation)
          }
        }
      }
      const broken = [...assumed].filter((cte) => !areBound(orgOutput(cte.columns).sources, bound))
      if (broken.length === 0) return bound
      for (const cte of broken) assumed.delete(cte)
    }
  }

  #isBoundInside(relation: Relation, assumed: ReadonlySet<Cte>, bound: ReadonlySet<Relation>): boolean {
    if (relation.selfOf) return assumed.has(relation.selfOf)
    return relation.columns !== null && areBound(orgOutput(relation.columns()).sources, bound)
  }

  /** Checks a statement that is neither a query nor a write: it may not name a tenant table anywhere. */
  #utility(tag: string, fields: Body): void {
    const kind = tag.replace(/Stmt$/, '')
    const words = new Set<string>()
    visit({ [tag]: fields }, (key, value) => {
      if (OPAQUE.has(key)) this.report(`${key.replace(/Stmt$/, '')} runs code the linter cannot see`)
      if (typeof value !== 'string') return
      for (const word of value.match(/[\p{L}\p{N}_$]+/gu) ?? []) words.add(word.toLowerCase())
    })
    for (const table of this.#tenantTables) {
      if (words.has(table.toLowerCase())) this.report(`${kind} names tenant table ${table}`)
    }
    this.#utilityTables(tag, fields)
  }

  #utilityTables(tag: string, fields: Body): void {
    if (tag === 'DropStmt' && fields['removeType'] === 'OBJECT_TABLE') {
      for (const object of list(fields['objects'])) this.#addLast(object)
    } else if (tag === 'CommentStmt' && fields['objtype'] === 'OBJECT_TABLE') {
      this.#addLast(fields['object'])
    }
    const search = (value: unknown): void => {
      if (Array.isArray(value)) return value.forEach(search)
      if (!isBody(value)) return
      if (typeof value['relname'] === 'string') this.tables.add(value['relname'])
      for (const [key, inner] of Object.entries(value)) {
        if (WRITES_AND_READS.has(key)) {
          // The walk serves statementTables here; what it would report is settled by the statement's kind.
          const query = new Analysis({ tenantTables: new Set() })
          query.statement({ [key]: inner })
          for (const table of query.tables) this.tables.add(table)
        } else if (key !== 'sequence' && key !== 'typevar') {
          search(inner)
        }
      }
    }
    search(fields)
  }

  #addLast(name: unknown): void {
    const [tag, fields] = tagged(name)
    const parts = tag === 'List' ? strings(fields['items']) : []
    const last = parts[parts.length - 1]
    if (last !== undefined) this.tables.add(last)
  }

  /** Walks one query level of any kind and returns the columns it puts out. */
  #query(node: unknown, context: Context, inCte: boolean): Column[] {
    const [tag, fields] = tagged(node)
    switch (tag) {
      case 'SelectStmt':
        return this.#select(fields, context)
      case 'InsertStmt':
        return this.#insert(fields, context, inCte)
      case 'UpdateStmt':
        return this.#change(fields, context, inCte, 'UPDATE')
      case 'DeleteStmt':
        return this.#change(fields, context, inCte, 'DELETE')
      case 'MergeStmt':
        this.report('MERGE is refused')
        visit(fields, (key, value) => {
          if (key === 'relname' && typeof value === 'string') this.tables.add(value)
        })
        return []
      default:
        this.#unknown(tag)
        return []
    }
  }

  #select(fields: Body, outer: Context): Column[] {
    if (fields['intoClause'] !== undefined) {
      this.report('SELECT INTO is refused')
      const into = body(body(fields['intoClause'])['rel'])['relname']
      if (typeof into === 'string') this.tables.add(into)
    } else {
      this.#expect('SelectStmt', fields, SELECT_FIELDS)
    }
    const context = this.#with(fields['withClause'], outer)
    if (fields['op'] !== 'SETOP_NONE') {
      const left = this.#select(body(fields['larg']), context)
      const right = this.#select(body(fields['rarg']), context)
      this.#expressions([fields['sortClause'], fields['limitOffset'], fields['limitCount']], context)
      return combine(left, right)
    }
    if (fields['valuesLists'] !== undefined) {
      this.#expressions(
        [fields['valuesLists'], fields['sortClause'], fields['limitOffset'], fields['limitCount']],
        context,
      )
      return valuesColumns(list(fields['valuesLists']), context.scope)
    }
    const level: Level = { where: [] }
    const tree = this.#from(list(fields['fromClause']), context, level)
    const scope: Scope = { tree, parent: context.scope }
    level.where = equalities(fields['whereClause'], scope)
    const { withClause: _with, fromClause: _from, lockingClause: _locking, ...rest } = fields
    this.#expressions(rest, { ...context, scope })
    return targetColumns(list(fields['targetList']), scope)
  }

  #change(fields: Body, outer: Context, inCte: boolean, verb: 'UPDATE' | 'DELETE'): Column[] {
    this.#expect(verb, fields, verb === 'UPDATE' ? UPDATE_FIELDS : DELETE_FIELDS)
    const withCtes = this.#with(fields['withClause'], outer)
    const id = ++this.#statements
    const context = { ...withCtes, within: [...withCtes.within, id] }
    const level: Level = { where: [] }
    const target = this.#table(body(fields['relation']), level, context, true)
    if (inCte) this.#cteWrites.push({ table: text(target.table), id })
    const from = this.#from(list(fields[verb === 'UPDATE' ? 'fromClause' : 'usingClause']), context, level)
    const tree = together([leaf(target), from])
    const scope: Scope = { tree, parent: context.scope }
    level.where = equalities(fields['whereClause'], scope)
    if (verb === 'UPDATE') this.#assignments('UPDATE SET', list(fields['targetList']), target, { ...context, scope })
    this.#expressions(fields['whereClause'], { ...context, scope })
    if (target.tenant) this.#rejectVolatile(`the WHERE of ${verb}`, fields['whereClause'])
    return this.#returning(fields['returningClause'], context, tree, target)
  }

  #insert(fields: Body, outer: Context, inCte: boolean): Column[] {
    this.#expect('INSERT', fields, INSERT_FIELDS)
    const withCtes = this.#with(fields['withClause'], outer)
    const id = ++this.#statements
    const context = { ...withCtes, within: [...withCtes.within, id] }
    const level: Level = { where: [] }
    const target = this.#table(body(fields['relation']), level, context, false)
    target.given = target.tenant
    const table = text(target.table)
    if (inCte) this.#cteWrites.push({ table, id })

    const source = fields['selectStmt']
    const columns = source === undefined ? null : this.#query(source, context, false)
    const from = source !== undefined && tagged(source)[1]['valuesLists'] !== undefined ? 'VALUES' : 'SELECT'
    if (target.tenant) this.#insertedOrg(table, list(fields['cols']), columns, from)
    const conflict = fields['onConflictClause']
    if (conflict !== undefined) this.#conflict(body(conflict), target, context)
    if (target.tenant && from === 'SELECT' && columns && !conflict && !fields['returningClause']) {
      this.report(`INSERT … SELECT into ${table} needs ON CONFLICT or RETURNING to run on Citus`)
    }
    return this.#returning(fields['returningClause'], context, leaf(target), target)
  }

  #insertedOrg(table: string, targets: unknown[], columns: Column[] | null, from: string): void {
    const names = targets.map((target) => node(target, 'ResTarget'))
    if (names.length === 0) return this.report(`INSERT into ${table} must list its columns`)
    const at = names.findIndex((target) => target['name'] === ORG)
    if (at < 0) return this.report(`INSERT into ${table} must list the column ${ORG}`)
    if (names.some((target, index) => target['name'] === ORG && (index !== at || target['indirection']))) {
      return this.report(`INSERT into ${table} must list the column ${ORG} once and whole`)
    }
    const chosen = columns?.[at]
    if (!columns || !chosen || columns.slice(0, at + 1).some((column) => 'star' in column)) {
      return this.report(`INSERT into ${table}: the value of ${ORG} cannot be found by its position`)
    }
    this.#insertions.push({ table, from, sources: 'star' in chosen ? [NOWHERE] : chosen.sources })
  }

  #conflict(clause: Body, target: Relation, context: Context): void {
    this.#expect('ON CONFLICT', clause, CONFLICT_FIELDS)
    const table = text(target.table)
    const excluded = { ...target, name: 'excluded', table: null, tenant: false, aliased: false }
    this.#relations.push(excluded)
    const scope: Scope = { tree: together([leaf(target), leaf(excluded)]), parent: context.scope }
    const inside = { ...context, scope }
    const infer = clause['infer'] === undefined ? null : body(clause['infer'])
    if (infer) {
      this.#expect('ON CONFLICT', infer, INFER_FIELDS)
      const arbiters = list(infer['indexElems']).map((element) => node(element, 'IndexElem')['name'])
      if (target.tenant && infer['conname'] === undefined && !arbiters.includes(ORG)) {
        this.report(`ON CONFLICT on ${table} must include ${ORG} among its columns`)
      }
      this.#expressions([infer['indexElems'], infer['whereClause']], inside)
    }
    if (clause['action'] === 'ONCONFLICT_UPDATE') {
      this.#assignments('DO UPDATE SET', list(clause['targetList']), target, inside)
    } else if (clause['action'] !== 'ONCONFLICT_NOTHING') {
      this.#unknown(`ON CONFLICT ${String(clause['action'])}`)
    }
    this.#expressions(clause['whereClause'], inside)
  }

  #assignments(clause: string, targets: unknown[], target: Relation, context: Context): void {
    for (const assignment of targets) {
      if (target.tenant && node(assignment, 'ResTarget')['name'] === ORG) {
        this.report(`${clause} on ${target.table} may not set ${ORG}`)
      }
    }
    visit(targets, (key, value) => {
      if (key === 'SQLValueFunction') {
        const name = text(body(value)['op'])
          .replace(/^SVFOP_/, '')
          .toLowerCase()
        this.report(`${clause} may not call ${name}: Citus needs immutable expressions there`)
      } else if (key === 'FuncCall') {
        const name = strings(body(value)['funcname'])
        const builtIn = name.length === 1 || (name.length === 2 && name[0] === 'pg_catalog')
        if (!builtIn || !IMMUTABLE_CALLS.has(name[name.length - 1] ?? '')) {
          this.report(`${clause} may not call ${name.join('.')}(): Citus needs immutable expressions there`)
        }
      }
    })
    this.#expressions(targets, context)
  }

  #rejectVolatile(clause: string, value: unknown): void {
    visit(value, (key, inner) => {
      const name = key === 'FuncCall' ? (strings(body(inner)['funcname']).at(-1) ?? '') : ''
      if (key === 'SQLValueFunction' || VOLATILE_CALLS.has(name))
        this.report(
          `${clause} may not depend on ${name || 'the time of day'}: each node of a Citus cluster has its own`,
        )
    })
  }

  #returning(clause: unknown, context: Context, tree: Tree, target: Relation): Column[] {
    if (clause === undefined) return []
    const fields = body(clause)
    this.#expect('RETURNING', fields, new Set(['exprs']))
    if (target.tenant) this.#rejectVolatile('RETURNING', fields['exprs'])
    const find = (name: string): Relation[] => {
      const found = tree.find(name)
      return found.length === 0 && (name === 'old' || name === 'new') ? [target] : found
    }
    const scope: Scope = { tree: { ...tree, find }, parent: context.scope }
    this.#expressions(fields['exprs'], { ...context, scope })
    return targetColumns(list(fields['exprs']), scope)
  }

  /** Adds the names of a WITH clause; without RECURSIVE a CTE sees only the ones before it. */
  #with(clause: unknown, context: Context): Context {
    if (clause === undefined) return context
    const fields = body(clause)
    const entries = list(fields['ctes']).map((entry) => node(entry, 'CommonTableExpr'))
    let ctes = context.ctes
    const made = entries.map((): Cte => ({ columns: [], open: false }))
    const names = entries.map((entry) => text(entry['ctename']))
    if (fields['recursive'] === true) {
      ctes = { ctes: new Map(names.map((name, index) => [name, made[index] as Cte])), parent: ctes }
    }
    entries.forEach((entry, index) => {
      this.#expect('CommonTableExpr', entry, CTE_FIELDS)
      const cte = made[index] as Cte
      cte.open = true
      const columns = rename(this.#query(entry['ctequery'], { ...context, ctes }, true), entry['aliascolnames'])
      cte.open = false
      cte.columns = [...columns, ...this.#searchColumns(entry, { ...context, ctes })]
      if (fields['recursive'] !== true) ctes = { ctes: new Map([[text(names[index]), cte]]), parent: ctes }
    })
    return { ...context, ctes }
  }

  #searchColumns(entry: Body, context: Context): Column[] {
    const columns: Column[] = []
    for (const clause of [entry['search_clause'], entry['cycle_clause']]) {
      if (clause === undefined) continue
      for (const [key, value] of Object.entries(body(clause))) {
        if (typeof value === 'string') columns.push({ name: value, sources: [NOWHERE] })
        else this.#expressions({ [key]: value }, context)
      }
    }
    return columns
  }

  #from(items: unknown[], context: Context, level: Level): Tree {
    const trees: Tree[] = []
    for (const item of items) trees.push(this.#fromItem(item, context, level, together(trees)))
    return together(trees)
  }

  /** Walks one FROM item; `before` holds what a LATERAL item may refer to. */
  #fromItem(item: unknown, context: Context, level: Level, before: Tree): Tree {
    const [tag, fields] = tagged(item)
    const lateral = { ...context, scope: { tree: before, parent: context.scope } }
    switch (tag) {
      case 'RangeVar':
        return leaf(this.#rangeVar(fields, level, context))
      case 'RangeTableSample':
        this.#expressions([fields['args'], fields['repeatable']], lateral)
        return this.#fromItem(fields['relation'], context, level, before)
      case 'RangeSubselect': {
        this.#expect(tag, fields, new Set(['lateral', 'subquery', 'alias']))
        const columns = this.#query(fields['subquery'], fields['lateral'] === true ? lateral : context, false)
        const alias = readAlias(fields['alias'])
        const renamed = rename(columns, alias?.columns)
        return leaf(this.#relation({ name: alias?.name ?? null, aliased: true, columns: () => renamed, level }))
      }
      case 'RangeFunction':
        return leaf(this.#rangeFunction(fields, level, lateral))
      case 'JoinExpr':
        return this.#join(fields, context, level, before)
      default:
        this.#unknown(tag)
        return together([])
    }
  }

  #join(fields: Body, context: Context, level: Level, before: Tree): Tree {
    if (fields['isNatural'] === true) this.report('the linter does not support NATURAL JOIN')
    else if (fields['alias'] ?? fields['join_using_alias'])
      this.report('the linter does not support an alias on a JOIN')
    else this.#expect('JoinExpr', fields, JOIN_FIELDS)
    const left = this.#fromItem(fields['larg'], context, level, before)
    const right = this.#fromItem(fields['rarg'], context, level, together([before, left]))
    const tree = together([left, right])
    const scope: Scope = { tree, parent: context.scope }
    const on = equalities(fields['quals'], scope)
    this.#expressions(fields['quals'], { ...context, scope })
    const merges = strings(fields['usingClause']).includes(ORG)
    if (merges) on.push({ left: () => only(left.org()), right: () => only(right.org()) })
    const sides = joinSides(fields['jointype'])
    if (!sides) {
      this.#unknown(`join ${String(fields['jointype'])}`)
      return tree
    }
    for (const relation of left.relations) relation.joins.push({ side: sides.left, on })
    for (const relation of right.relations) relation.joins.push({ side: sides.right, on })
    if (!merges) return tree
    // The merged column of USING is the preserved side's; FULL JOIN makes a column that belongs to neither.
    if (sides.left === 'full') return { ...tree, org: () => ({ definite: [], possible: [], merged: true }) }
    return { ...tree, org: sides.left === 'nullable' ? right.org : left.org }
  }

  #rangeVar(fields: Body, level: Level, context: Context): Relation {
    const name = text(fields['relname'])
    const cte =
      fields['schemaname'] === undefined && fields['catalogname'] === undefined ? findCte(context.ctes, name) : null
    if (!cte) return this.#table(fields, level, context, true)
    const alias = readAlias(fields['alias'])
    const aliasColumns = alias?.columns
    const selfOf = cte.open && aliasColumns === undefined ? cte : null
    if (selfOf) this.#recursive.add(cte)
    const columns = (): Column[] => rename(cte.columns, aliasColumns)
    return this.#relation({ name: alias?.name ?? name, aliased: alias !== null, columns, selfOf, level })
  }

  /** Notes a real table; the target of a write is one even where a CTE has the same name. */
  #table(fields: Body, level: Level, context: Context, isRead: boolean): Relation {
    const table = text(fields['relname'])
    const schema = fields['schemaname'] === undefined ? null : text(fields['schemaname'])
    const alias = readAlias(fields['alias'])
    const tenant = this.#tenantTables.has(table)
    if (tenant && alias?.columns !== undefined) {
      this.report(`tenant table ${table} may not have its columns renamed by an alias`)
    }
    this.tables.add(table)
    if (isRead) this.#reads.push({ table, within: context.within })
    return this.#relation({ name: alias?.name ?? table, table, schema, aliased: alias !== null, tenant, level })
  }

  #rangeFunction(fields: Body, level: Level, lateral: Context): Relation {
    this.#expect('RangeFunction', fields, RANGE_FUNCTION_FIELDS)
    this.#expressions([fields['functions'], fields['coldeflist']], lateral)
    const alias = readAlias(fields['alias'])
    const declared = strings(alias?.columns)
    let called: string | null = null
    visit([fields['functions'], fields['coldeflist']], (key, value) => {
      if (key === 'ColumnDef') declared.push(text(body(value)['colname']))
      if (key === 'FuncCall') called ??= strings(body(value)['funcname']).at(-1) ?? null
    })
    const name = alias?.name ?? called
    // A function that returns one plain column names that column after its alias.
    if (name !== null) declared.push(name)
    return this.#relation({ name, aliased: alias !== null, declared, level })
  }

  #relation(given: Partial<Relation> & Pick<Relation, 'name' | 'level'>): Relation {
    const relation: Relation = {
      table: null,
      schema: null,
      aliased: false,
      tenant: false,
      given: false,
      columns: null,
      declared: [],
      selfOf: null,
      joins: [],
      ...given,
    }
    this.#relations.push(relation)
    return relation
  }

  /** Walks expressions and enters every sub-select in them; a node it does not know is a violation. */
  #expressions(value: unknown, context: Context): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#expressions(item, context)
    } else if (isBody(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (!isTag(key)) this.#expressions(inner, context)
        else this.#expression(key, body(inner), context)
      }
    }
  }

  #expression(tag: string, fields: Body, context: Context): void {
    if (tag === 'SubLink') {
      this.#expect(tag, fields, new Set(['subLinkType', 'testexpr', 'operName', 'subselect', 'location']))
      this.#expressions(fields['testexpr'], context)
      this.#query(fields['subselect'], context, false)
    } else if (tag === 'FuncCall') {
      const name = strings(fields['funcname']).at(-1) ?? ''
      if (RUNS_SQL.test(name)) this.report(`${name}() runs SQL the linter cannot see`)
      const given = list(fields['args'])[0]
      if (this.#tenantFunctions.has(name) && sourceOf(given, null)?.() !== 'param')
        this.report(`${name}() must be given the organization as a parameter, before all else`)
      this.#expressions(fields, context)
    } else if (EXPRESSIONS.has(tag)) {
      this.#expressions(fields, context)
    } else {
      this.#unknown(tag)
    }
  }

  #expect(what: string, fields: Body, known: ReadonlySet<string>): void {
    for (const field of Object.keys(fields)) if (!known.has(field)) this.#unknown(`${what}.${field}`)
  }

  #unknown(what: string): void {
    this.report(`the linter does not support ${what}`)
  }
}

/** Whether equalities that hold in every row where the relation is present tie it to something bound. */
function isBoundByEquality(relation: Relation, bound: ReadonlySet<Relation>): boolean {
  const facts = conditionsOn(relation).map(({ left, right }) => [left(), right()])
  const tied = new Set<Origin>([relation])
  for (let before = 0; before !== tied.size;) {
    before = tied.size
    for (const ends of facts) {
      if (ends.includes(null) || !ends.some((end) => tied.has(end))) continue
      for (const end of ends) tied.add(end)
    }
  }
  return [...tied].some((end) => isBound(end, bound))
}

/** The conditions that hold in every row where the relation is present: up to its outer join, or with the WHERE. */
function conditionsOn(relation: Relation): Equality[] {
  const conditions: Equality[] = []
  for (const { side, on } of relation.joins) {
    if (side === 'preserved') continue
    if (side === 'full') return conditions
    conditions.push(...on)
    if (side === 'nullable') return conditions
  }
  return [...conditions, ...relation.level.where]
}

function isBound(origin: Origin, bound: ReadonlySet<Relation>): boolean {
  return origin === 'param' || (origin !== null && bound.has(origin))
}

function areBound(sources: Source[] | null, bound: ReadonlySet<Relation>): boolean {
  return sources !== null && sources.every((source) => isBound(source(), bound))
}

/** The org_id equalities among the AND-connected conditions of a clause. */
function equalities(condition: unknown, scope: Scope): Equality[] {
  if (condition === undefined) return []
  const [tag, fields] = tagged(condition)
  if (tag === 'BoolExpr' && fields['boolop'] === 'AND_EXPR') {
    return list(fields['args']).flatMap((argument) => equalities(argument, scope))
  }
  if (tag !== 'A_Expr' || fields['kind'] !== 'AEXPR_OP' || strings(fields['name']).join('.') !== '=') return []
  const left = sourceOf(fields['lexpr'], scope)
  const right = sourceOf(fields['rexpr'], scope)
  return left && right ? [{ left, right }] : []
}

/** Reads a parameter, a parameter under one cast, or a reference to an org_id; anything else is null. */
function sourceOf(value: unknown, scope: Scope | null): Source | null {
  if (!isBody(value)) return null
  const [tag, fields] = tagged(value)
  if (tag === 'ParamRef') return isParameter(fields) ? () => 'param' : null
  if (tag === 'TypeCast') {
    const [inner, parameter] = tagged(fields['arg'])
    const isArray = body(fields['typeName'])['arrayBounds'] !== undefined
    return inner === 'ParamRef' && isParameter(parameter) && !isArray ? () => 'param' : null
  }
  if (tag !== 'ColumnRef') return null
  const path = list(fields['fields']).map((field) => (tagged(field)[0] === 'String' ? strings([field])[0] : null))
  if (path.at(-1) !== ORG || path.includes(null)) return null
  return () => resolve(path.map(text), scope)
}

function isParameter(fields: Body): boolean {
  return typeof fields['number'] === 'number' && fields['number'] > 0
}

/** Finds the relation whose org_id a reference means; an ambiguous or unsure reference means none. */
function resolve(path: readonly string[], scope: Scope | null): Relation | null {
  const [first, second] = path
  if (first === undefined) return null
  for (let at = scope; at; at = at.parent) {
    if (path.length === 1) {
      const { definite, possible, merged } = at.tree.org()
      if (definite.length > 0) return definite.length === 1 && !merged ? (definite[0] ?? null) : null
      if (possible.length > 0 || merged) return null
    } else if (path.length === 2) {
      const found = at.tree.find(first)
      if (found.length > 0) return found.length === 1 ? (found[0] ?? null) : null
    } else {
      const found = at.tree.relations.filter(({ table, aliased }) => table === second && !aliased)
      if (found.length > 0)
        return found.length === 1 && found[0]?.schema === first && path.length === 3 ? found[0] : null
    }
  }
  return null
}

function leaf(relation: Relation): Tree {
  return {
    relations: [relation],
    find: (name) => (relation.name === name ? [relation] : []),
    org: () => {
      const exposure = exposureOf(relation)
      return {
        definite: exposure === 'definite' ? [relation] : [],
        possible: exposure === 'possible' ? [relation] : [],
        merged: false,
      }
    },
  }
}

function together(trees: readonly Tree[]): Tree {
  const members = [...trees]
  return {
    relations: members.flatMap(({ relations }) => relations),
    find: (name) => members.flatMap(({ find }) => find(name)),
    org: () => {
      const parts = members.map(({ org }) => org())
      return {
        definite: parts.flatMap(({ definite }) => definite),
        possible: parts.flatMap(({ possible }) => possible),
        merged: parts.some(({ merged }) => merged),
      }
    },
  }
}

/** The one relation that must own org_id where the statement needs exactly one to have it. */
function only({ definite, possible, merged }: OrgColumns): Relation | null {
  if (merged || definite.length > 1) return null
  if (definite.length === 1) return definite[0] ?? null
  return possible.length === 1 ? (possible[0] ?? null) : null
}

const examining = new Set<Relation>()

/** Whether a relation has a column named org_id, as far as the statement alone can tell. */
function exposureOf(relation: Relation): Exposure {
  if (relation.tenant || relation.given || relation.declared.includes(ORG)) return 'definite'
  // A CTE that selects from itself without a first term would otherwise be examined without end.
  if (relation.columns === null || examining.has(relation)) return 'possible'
  examining.add(relation)
  try {
    return orgOutput(relation.columns()).exposure
  } finally {
    examining.delete(relation)
  }
}

/** Where the output column named org_id comes from; null sources when there is none or more than one. */
function orgOutput(columns: readonly Column[]): { exposure: Exposure; sources: Source[] | null } {
  const definite: Source[][] = []
  const possible: Source[][] = []
  for (const column of columns) {
    if ('star' in column) {
      const first = column.star[0]?.org()
      if (!first) continue
      const sources = column.star.map(
        (tree): Source =>
          () =>
            only(tree.org()),
      )
      for (const _ of first.definite) definite.push(sources)
      if (first.merged || (first.definite.length === 0 && first.possible.length > 0)) possible.push(sources)
    } else if (column.name === ORG) {
      definite.push(column.sources)
    } else if (column.name === null) {
      possible.push(column.sources)
    }
  }
  const exposure = definite.length > 0 ? 'definite' : possible.length > 0 ? 'possible' : 'none'
  const candidates = definite.length > 0 ? definite : possible
  return { exposure, sources: candidates.length === 1 ? (candidates[0] ?? null) : null }
}

function targetColumns(targets: readonly unknown[], scope: Scope): Column[] {
  return targets.map((target): Column => {
    const fields = node(target, 'ResTarget')
    const value = fields['val']
    if (isStar(value)) {
      const path = list(tagged(value)[1]['fields'])
      if (path.length === 1) return { star: [scope.tree] }
      const found = path.length === 2 ? findNearest(text(strings([path[0]])[0]), scope) : []
      return { star: found.length === 1 ? found.map(leaf) : [unknownTree()] }
    }
    const source = sourceOf(value, scope) ?? NOWHERE
    return { name: typeof fields['name'] === 'string' ? fields['name'] : columnName(value), sources: [source] }
  })
}

function findNearest(name: string, scope: Scope): Relation[] {
  for (let at: Scope | null = scope; at; at = at.parent) {
    const found = at.tree.find(name)
    if (found.length > 0) return found
  }
  return []
}

function unknownTree(): Tree {
  return { ...together([]), org: () => ({ definite: [], possible: [], merged: true }) }
}

/** Whether an expression stands for several columns: `*`, `x.*` or `(row).*`. */
function isStar(value: unknown): boolean {
  if (!isBody(value)) return false
  const [tag, fields] = tagged(value)
  const path = tag === 'ColumnRef' ? fields['fields'] : tag === 'A_Indirection' ? fields['indirection'] : []
  return list(path).some((field) => tagged(field)[0] === 'A_Star')
}

/** The name PostgreSQL gives an unnamed output column, or null where it depends on more than one node. */
function columnName(value: unknown): string | null {
  if (!isBody(value)) return null
  const [tag, fields] = tagged(value)
  if (tag === 'ColumnRef') return strings(fields['fields']).at(-1) ?? null
  if (tag === 'FuncCall') return strings(fields['funcname']).at(-1) ?? null
  if (tag === 'A_Const' || tag === 'ParamRef' || tag === 'A_Expr' || tag === 'BoolExpr') return '?column?'
  return tag === 'CoalesceExpr' ? 'coalesce' : null
}

function valuesColumns(rows: readonly unknown[], scope: Scope | null): Column[] {
  const cells = rows.map((row) => list(node(row, 'List')['items']))
  if (cells.some((row) => row.some(isStar))) return [{ star: [unknownTree()] }]
  const width = Math.max(...cells.map((row) => row.length))
  return Array.from({ length: width }, (_, at) => ({
    name: `column${at + 1}`,
    sources: cells.map((row) => sourceOf(row[at], scope) ?? NOWHERE),
  }))
}

/** Joins the outputs of two set-operation arms: names come from the left, values from both, matched by position. */
function combine(left: readonly Column[], right: readonly Column[]): Column[] {
  let aligned = true
  return left.map((column, at): Column => {
    const other = right[at]
    if ('star' in column) {
      const same = other !== undefined && 'star' in other && sameTable(column.star, other.star)
      if (aligned && same) return { star: [...column.star, ...other.star] }
      aligned = false
      return { star: [...column.star, unknownTree()] }
    }
    aligned = aligned && other !== undefined && !('star' in other)
    if (!aligned || other === undefined || 'star' in other) return { name: column.name, sources: [NOWHERE] }
    return { name: column.name, sources: [...column.sources, ...other.sources] }
  })
}

/** Two stars put out the same columns when both stand for all of one and the same tenant table. */
function sameTable(left: readonly Tree[], right: readonly Tree[]): boolean {
  const tables = new Set(
    [...left, ...right].map(({ relations: [relation, more] }) =>
      relation?.tenant && !more ? `${relation.schema ?? ''}.${relation.table}` : null,
    ),
  )
  return tables.size === 1 && !tables.has(null)
}

/** Applies a list of column aliases; behind a star the positions are unknown, so nothing there is trusted. */
function rename(columns: readonly Column[], aliases: unknown): Column[] {
  if (aliases === undefined) return [...columns]
  const names = strings(aliases)
  const star = columns.findIndex((column) => 'star' in column)
  if (star >= 0 && star < names.length) {
    return [...names.map((name) => ({ name, sources: [NOWHERE] })), { name: null, sources: [NOWHERE] }]
  }
  return columns.map((column, at) => {
    const name = names[at]
    return 'star' in column || name === undefined ? column : { name, sources: column.sources }
  })
}

function joinSides(type: unknown): { left: Side; right: Side } | null {
  switch (type) {
    case 'JOIN_INNER':
      return { left: 'inner', right: 'inner' }
    case 'JOIN_LEFT':
      return { left: 'preserved', right: 'nullable' }
    case 'JOIN_RIGHT':
      return { left: 'nullable', right: 'preserved' }
    case 'JOIN_FULL':
      return { left: 'full', right: 'full' }
    default:
      return null
  }
}

function findCte(scope: CteScope | null, name: string): Cte | null {
  for (let at = scope; at; at = at.parent) {
    const found = at.ctes.get(name)
    if (found) return found
  }
  return null
}

function readAlias(value: unknown): { name: string; columns: unknown } | null {
  if (value === undefined) return null
  const fields = body(value)
  return { name: text(fields['aliasname']), columns: fields['colnames'] }
}

/** Calls back for every field at every depth, node tags included. */
function visit(value: unknown, see: (key: string, value: unknown) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, see)
  } else if (isBody(value)) {
    for (const [key, inner] of Object.entries(value)) {
      see(key, inner)
      visit(inner, see)
    }
  }
}

/** Node tags start with a capital letter and field names do not. */
function isTag(key: string): boolean {
  return /^[A-Z]/.test(key)
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function body(value: unknown): Body {
  if (!isBody(value)) throw new Error(`a node was expected where ${JSON.stringify(value) ?? 'nothing'} stands`)
  return value
}

function tagged(value: unknown): [string, Body] {
  const entries = Object.entries(body(value))
  const [entry] = entries
  if (entry && entries.length === 1 && isTag(entry[0])) return [entry[0], body(entry[1])]
  throw new Error(
    `a single tagged node was expected, not one with the fields ${entries.map(([key]) => key).join(', ')}`,
  )
}

function node(value: unknown, tag: string): Body {
  const [found, fields] = tagged(value)
  if (found !== tag) throw new Error(`${tag} was expected where ${found} stands`)
  return fields
}

function list(value: unknown): unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new Error('a list was expected')
  return value
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a name was expected')
  return value
}

function strings(value: unknown): string[] {
  return list(value).map((item) => text(node(item, 'String')['sval'] ?? ''))
}
