import { beforeAll, describe, expect, test } from 'vitest'
import { tenancyViolations, loadSqlParser, statementTables } from '../support/tenant-sql-linter.ts'

const rules = { tenantTables: new Set(['assets', 'locations', 'tags', 'organizations', 'credentials']) }

const UNBOUND = 'is not bound to an organization'
const UNKNOWN = 'the linter does not support'

type Safe = [sentence: string, sql: string]
type Unsafe = [sentence: string, sql: string, fragment: string]

const safeReads: Safe[] = [
  ['A select that compares org_id with a parameter is safe', 'SELECT id FROM assets WHERE org_id = $1 AND id = $2'],
  ['The operands of the comparison may be swapped', 'SELECT id FROM assets a WHERE $1 = a.org_id'],
  ['The parameter may carry a cast', 'SELECT id FROM assets a WHERE a.org_id = $1::bigint'],
  ['Nested AND conditions bind', 'SELECT id FROM assets a WHERE a.id > $2 AND (a.name = $3 AND (a.org_id = $1))'],
  ['A quoted name of a tenant table is the same table', 'SELECT "a"."id" FROM "assets" "a" WHERE "a"."org_id" = $1'],
  ['A quoted name in other letter case is another table', 'SELECT id FROM "Assets"'],
  ['A schema-qualified table binds by its plain name', 'SELECT id FROM public.assets WHERE assets.org_id = $1'],
  ['A schema-qualified table binds by its full name', 'SELECT id FROM public.assets WHERE public.assets.org_id = $1'],
  ['A table that is not a tenant table needs no binding', 'SELECT version FROM schema_migrations'],
  ['A select without tables is safe', 'SELECT $1::text, now()'],
  [
    'An inner join binds through equality in its ON',
    'SELECT 1 FROM assets a JOIN locations l ON l.org_id = a.org_id AND l.id = a.location_id WHERE a.org_id = $1',
  ],
  [
    'A parameter in the ON of an inner join binds both sides',
    'SELECT 1 FROM assets a JOIN locations l ON a.org_id = $1 AND l.org_id = a.org_id',
  ],
  [
    'Binding passes along a chain of equalities in any order',
    `SELECT 1 FROM assets a, locations l, tags t
      WHERE t.org_id = l.org_id AND a.org_id = l.org_id AND $1 = t.org_id`,
  ],
  [
    'USING with org_id binds both sides',
    'SELECT 1 FROM assets a JOIN locations l USING (org_id, location_id) WHERE a.org_id = $1',
  ],
  [
    'An unqualified org_id that USING has merged binds both sides',
    'SELECT 1 FROM assets JOIN locations USING (org_id, location_id) WHERE org_id = $1',
  ],
  [
    'A left join binds its right side in its ON',
    'SELECT 1 FROM assets a LEFT JOIN locations l ON l.org_id = a.org_id AND l.id = a.location_id WHERE a.org_id = $1',
  ],
  [
    'A left join binds its right side with its own parameter',
    'SELECT 1 FROM assets a LEFT JOIN locations l ON l.org_id = $2 AND l.id = a.location_id WHERE a.org_id = $1',
  ],
  [
    'A right join binds its left side in its ON',
    'SELECT 1 FROM locations l RIGHT JOIN assets a ON l.org_id = a.org_id WHERE a.org_id = $1',
  ],
  [
    'LEFT JOIN USING binds its right side',
    'SELECT 1 FROM assets a LEFT JOIN locations l USING (org_id, location_id) WHERE org_id = $1',
  ],
  [
    'A join nested in the nullable side binds through the ON of the outer join',
    `SELECT 1 FROM assets a
       LEFT JOIN (locations l JOIN tags t ON t.org_id = l.org_id) ON l.org_id = a.org_id
      WHERE a.org_id = $1`,
  ],
  [
    'A full join of sub-selects that are bound inside is safe',
    `SELECT 1 FROM (SELECT id FROM assets WHERE org_id = $1) a
       FULL JOIN (SELECT id FROM tags WHERE org_id = $1) t ON t.id = a.id`,
  ],
  [
    'An unqualified org_id binds beside relations that have no such column',
    'SELECT 1 FROM assets a JOIN unnest($2::text[]) AS u(name) ON u.name = a.name WHERE org_id = $1',
  ],
  [
    'A correlated sub-select binds through a bound table of the enclosing level',
    'SELECT 1 FROM assets a WHERE a.org_id = $1 AND EXISTS (SELECT 1 FROM tags t WHERE t.org_id = a.org_id)',
  ],
  [
    'A sub-select in the target list binds through the enclosing level',
    'SELECT (SELECT count(*) FROM tags t WHERE t.org_id = a.org_id) FROM assets a WHERE a.org_id = $1',
  ],
  [
    'A LATERAL sub-select binds through a bound table to its left',
    `SELECT 1 FROM assets a
       LEFT JOIN LATERAL (SELECT t.id FROM tags t WHERE t.org_id = a.org_id LIMIT 1) s ON true
      WHERE a.org_id = $1`,
  ],
  [
    'A table binds through a sub-select that puts out a bound org_id',
    `SELECT 1 FROM (SELECT l.org_id, l.id FROM locations l WHERE l.org_id = $1) s
       JOIN assets a ON a.org_id = s.org_id AND a.location_id = s.id`,
  ],
  [
    'A table binds through a CTE that puts out a bound org_id',
    `WITH l AS (SELECT * FROM locations WHERE org_id = $1)
     SELECT 1 FROM assets a JOIN l ON l.org_id = a.org_id`,
  ],
  [
    'A table binds through a CTE that puts out the parameter as org_id',
    'WITH p AS (SELECT $1::bigint AS org_id) SELECT 1 FROM assets a JOIN p ON p.org_id = a.org_id',
  ],
  [
    'A table binds through VALUES whose org_id is a parameter in every row',
    'SELECT 1 FROM assets a JOIN (VALUES ($1::bigint, $2), ($1, $3)) v(org_id, id) ON v.org_id = a.org_id',
  ],
  [
    'A CTE shadows the tenant table of the same name',
    'WITH assets AS (SELECT id FROM public.assets WHERE org_id = $1) SELECT id FROM assets',
  ],
  [
    'Every arm of a UNION may be bound by its own parameter',
    'SELECT id FROM assets WHERE org_id = $1 UNION ALL SELECT id FROM tags WHERE org_id = $2',
  ],
  [
    'A recursive CTE binds its recursive arm through its own rows',
    `WITH RECURSIVE tree AS (
       SELECT l.org_id, l.id FROM locations l WHERE l.org_id = $1 AND l.id = $2
       UNION ALL
       SELECT c.org_id, c.id FROM locations c JOIN tree t ON c.org_id = t.org_id AND c.parent_id = t.id
     )
     SELECT a.id FROM assets a JOIN tree t ON a.org_id = t.org_id AND a.location_id = t.id`,
  ],
  [
    'A recursive CTE with star arms over one tenant table is bound',
    `WITH RECURSIVE tree AS (
       SELECT l.* FROM locations l WHERE l.org_id = $1
       UNION ALL
       SELECT c.* FROM locations c JOIN tree t ON c.org_id = t.org_id AND c.parent_id = t.id
     )
     SELECT * FROM tree`,
  ],
  ['Row locks name aliases and not tables', 'SELECT 1 FROM assets tags WHERE tags.org_id = $1 FOR UPDATE OF tags'],
  [
    'Windows, grouping, ordering and limits are ordinary expressions',
    `SELECT name, count(*) FILTER (WHERE id > 3) OVER w FROM assets WHERE org_id = $1
      GROUP BY GROUPING SETS ((name), ()) HAVING count(*) > 1
     WINDOW w AS (PARTITION BY name) ORDER BY name DESC LIMIT $2 OFFSET $3`,
  ],
]

const unsafeReads: Unsafe[] = [
  ['A tenant table without a condition is rejected', 'SELECT id FROM assets', UNBOUND],
  ['TABLE is a select without a condition', 'TABLE assets', UNBOUND],
  ['A schema-qualified table is rejected like the plain one', 'SELECT id FROM public.assets', UNBOUND],
  ['A quoted table is rejected like the plain one', 'SELECT id FROM "assets"', UNBOUND],
  ['ONLY does not hide a tenant table', 'SELECT id FROM ONLY assets', UNBOUND],
  ['TABLESAMPLE does not hide a tenant table', 'SELECT id FROM assets TABLESAMPLE system (1)', UNBOUND],
  ['A condition under OR does not bind', 'SELECT id FROM assets WHERE org_id = $1 OR public', UNBOUND],
  ['A condition under NOT does not bind', 'SELECT id FROM assets WHERE NOT (org_id = $1)', UNBOUND],
  ['A condition inside CASE does not bind', 'SELECT id FROM assets WHERE CASE WHEN true THEN org_id = $1 END', UNBOUND],
  ['A tested condition does not bind', 'SELECT id FROM assets WHERE (org_id = $1) IS NOT FALSE', UNBOUND],
  ['A condition in HAVING does not bind', 'SELECT org_id FROM assets GROUP BY org_id HAVING org_id = $1', UNBOUND],
  ['A constant does not bind', 'SELECT id FROM assets WHERE org_id = 7', UNBOUND],
  ['IN does not bind', 'SELECT id FROM assets WHERE org_id IN ($1, $2)', UNBOUND],
  ['ANY does not bind', 'SELECT id FROM assets WHERE org_id = ANY($1)', UNBOUND],
  ['IS NOT DISTINCT FROM does not bind', 'SELECT id FROM assets WHERE org_id IS NOT DISTINCT FROM $1', UNBOUND],
  ['An inequality does not bind', 'SELECT id FROM assets WHERE org_id >= $1', UNBOUND],
  ['A row comparison does not bind', 'SELECT id FROM assets WHERE (org_id, id) = ($1, $2)', UNBOUND],
  ['An expression over the parameter does not bind', 'SELECT id FROM assets WHERE org_id = $1 + 0', UNBOUND],
  [
    'A fallback to the column itself does not bind',
    'SELECT id FROM assets WHERE org_id = coalesce($1, org_id)',
    UNBOUND,
  ],
  ['A cast of the column does not bind', 'SELECT id FROM assets WHERE org_id::text = $1', UNBOUND],
  ['An operator from a named schema does not bind', 'SELECT id FROM assets WHERE org_id OPERATOR(my.=) $1', UNBOUND],
  ['A column compared with itself does not bind', 'SELECT id FROM assets a WHERE a.org_id = a.org_id', UNBOUND],
  ['Another column of the table does not bind', 'SELECT id FROM assets a WHERE a.id = $1', UNBOUND],
  ['A parameter compared with a parameter binds nothing', 'SELECT id FROM assets WHERE $1 = $1', UNBOUND],
  ['A parameter cast to an array does not bind', 'SELECT id FROM assets WHERE org_id = $1::bigint[]', UNBOUND],
  [
    'A name that two tables of one level share does not bind',
    'SELECT 1 FROM public.assets, archive.assets WHERE assets.org_id = $1',
    UNBOUND,
  ],
  [
    'Column aliases on a tenant table are rejected because they can rename org_id',
    'SELECT 1 FROM assets a(org_id, id) WHERE a.org_id = $1',
    'may not have its columns renamed',
  ],
  [
    'Two tenant tables that are equal only to each other stay unbound',
    'SELECT 1 FROM assets a JOIN locations l ON l.org_id = a.org_id',
    UNBOUND,
  ],
  [
    'An unqualified org_id does not bind when two tables have it',
    'SELECT 1 FROM assets, locations WHERE org_id = $1',
    UNBOUND,
  ],
  [
    'Binding one of two joined tables leaves the other unbound',
    'SELECT 1 FROM assets a JOIN locations l ON l.id = a.location_id WHERE a.org_id = $1',
    'tenant table locations (alias l)',
  ],
  [
    'The table name does not bind a table that has an alias',
    'SELECT 1 FROM assets a WHERE assets.org_id = $1',
    'tenant table assets (alias a)',
  ],
  [
    'The ON of a left join does not bind its left side',
    'SELECT 1 FROM assets a LEFT JOIN locations l ON l.org_id = a.org_id AND a.org_id = $1',
    'tenant table assets (alias a)',
  ],
  [
    'The ON of a right join does not bind its right side',
    'SELECT 1 FROM locations l RIGHT JOIN assets a ON a.org_id = $1 AND l.org_id = $1',
    'tenant table assets (alias a)',
  ],
  [
    'WHERE does not replace the ON of an outer join',
    'SELECT 1 FROM assets a LEFT JOIN locations l ON l.id = a.location_id WHERE a.org_id = $1 AND l.org_id = $1',
    'tenant table locations (alias l) is not bound to an organization: the ON of its outer join',
  ],
  [
    'The ON of a full join binds neither side',
    'SELECT 1 FROM assets a FULL JOIN tags t ON a.org_id = $1 AND t.org_id = $1',
    'tenant table tags (alias t)',
  ],
  [
    'The merged column of a full join binds neither side',
    'SELECT 1 FROM assets a FULL JOIN tags t USING (org_id) WHERE org_id = $1',
    UNBOUND,
  ],
  [
    'USING without org_id does not bind',
    'SELECT 1 FROM assets a JOIN locations l USING (location_id) WHERE a.org_id = $1',
    'tenant table locations (alias l)',
  ],
  ['NATURAL JOIN is rejected', 'SELECT 1 FROM assets a NATURAL JOIN tags t WHERE a.org_id = $1', 'NATURAL JOIN'],
  [
    'An alias on a join is rejected because it hides the tables in it',
    'SELECT 1 FROM (assets a JOIN tags t ON t.org_id = $1) AS j WHERE j.org_id = $1',
    'alias on a JOIN',
  ],
  [
    'A bound alias of the enclosing level does not bind the same alias inside',
    'SELECT 1 FROM assets a WHERE a.org_id = $1 AND EXISTS (SELECT 1 FROM tags a WHERE a.id = $2)',
    'tenant table tags (alias a)',
  ],
  [
    'An alias reused inside hides the bound one, so equality with it binds nothing',
    `SELECT 1 FROM assets a WHERE a.org_id = $1 AND EXISTS (
       SELECT 1 FROM tags t, credentials a WHERE t.org_id = a.org_id)`,
    'tenant table credentials (alias a)',
  ],
  [
    'A condition inside a sub-select does not bind the enclosing level',
    'SELECT 1 FROM assets a WHERE EXISTS (SELECT 1 WHERE a.org_id = $1) OR true',
    'tenant table assets (alias a)',
  ],
  [
    'A condition on the enclosing table does not bind the table inside',
    'SELECT 1 FROM assets a WHERE a.org_id = $1 AND EXISTS (SELECT 1 FROM tags t WHERE a.org_id = $1)',
    'tenant table tags (alias t)',
  ],
  [
    'An unqualified org_id inside a sub-select means the inner table and so binds nothing',
    'SELECT 1 FROM assets a WHERE a.org_id = $1 AND EXISTS (SELECT 1 FROM tags t WHERE t.org_id = org_id)',
    'tenant table tags (alias t)',
  ],
  [
    'A sub-select correlated with an unbound table is rejected',
    'SELECT 1 FROM assets a WHERE EXISTS (SELECT 1 FROM tags t WHERE t.org_id = a.org_id)',
    'tenant table tags (alias t)',
  ],
  [
    'The ON of a join cannot refer to a table outside that join, so the enclosing alias is meant',
    `SELECT 1 FROM assets a WHERE EXISTS (
       SELECT 1 FROM credentials a, locations l JOIN tags t ON t.org_id = a.org_id
        WHERE a.org_id = $1 AND l.org_id = $1)`,
    'tenant table tags (alias t)',
  ],
  [
    'A sub-select in FROM without LATERAL does not see its neighbours',
    'SELECT 1 FROM assets a, (SELECT t.id FROM tags t WHERE t.org_id = a.org_id) s WHERE a.org_id = $1',
    'tenant table tags (alias t)',
  ],
  [
    'A LATERAL sub-select and its neighbour cannot bind each other',
    `SELECT 1 FROM assets a, LATERAL (SELECT t.org_id FROM tags t WHERE t.org_id = a.org_id) s
      WHERE a.org_id = s.org_id`,
    'tenant table assets (alias a)',
  ],
  [
    'A LATERAL sub-select is rejected when its left side is unbound',
    'SELECT 1 FROM assets a CROSS JOIN LATERAL (SELECT 1 FROM tags t WHERE t.org_id = a.org_id) s',
    'tenant table tags (alias t)',
  ],
  [
    'A condition outside a sub-select does not bind the table inside',
    'SELECT 1 FROM (SELECT org_id, id FROM assets) s WHERE s.org_id = $1',
    'tenant table assets',
  ],
  [
    'A column that a sub-select merely calls org_id does not bind',
    `SELECT 1 FROM (SELECT l.parent_id AS org_id FROM locations l WHERE l.org_id = $1) s
       JOIN assets a ON a.org_id = s.org_id`,
    'tenant table assets (alias a)',
  ],
  [
    'A column that an alias list renames to org_id does not bind',
    `WITH s(org_id, id) AS (SELECT l.id, l.org_id FROM locations l WHERE l.org_id = $1)
     SELECT 1 FROM assets a JOIN s ON s.org_id = a.org_id`,
    'tenant table assets (alias a)',
  ],
  [
    'An alias list over a star does not bind because positions behind the star are unknown',
    `SELECT 1 FROM (SELECT l.* FROM locations l WHERE l.org_id = $1) s(org_id)
       JOIN assets a ON a.org_id = s.org_id`,
    'tenant table assets (alias a)',
  ],
  [
    'A function that puts out org_id does not bind',
    'SELECT 1 FROM assets a JOIN unnest($1::bigint[]) AS u(org_id) ON u.org_id = a.org_id',
    'tenant table assets (alias a)',
  ],
  [
    'A VALUES list with a constant in its org_id column does not bind',
    'SELECT 1 FROM assets a JOIN (VALUES ($1::bigint), (7)) v(org_id) ON v.org_id = a.org_id',
    'tenant table assets (alias a)',
  ],
  [
    'A UNION binds by position, so an arm in another column order does not bind',
    `WITH u AS (
       SELECT org_id, id FROM assets WHERE org_id = $1 UNION ALL SELECT id, org_id FROM tags WHERE org_id = $1
     )
     SELECT 1 FROM locations l JOIN u ON u.org_id = l.org_id`,
    'tenant table locations (alias l)',
  ],
  [
    'A UNION arm with a star does not bind because positions behind the star are unknown',
    `WITH u AS (
       SELECT l.id, l.org_id, l.name FROM locations l WHERE l.org_id = $1
       UNION ALL
       SELECT p.*, t.org_id FROM pairs p, tags t WHERE t.org_id = $1
     )
     SELECT 1 FROM assets a JOIN u ON u.org_id = a.org_id`,
    'tenant table assets (alias a)',
  ],
  [
    'Each arm of a UNION needs its own binding',
    'SELECT id FROM assets WHERE org_id = $1 UNION SELECT id FROM tags',
    'tenant table tags',
  ],
  [
    'The right arm of EXCEPT needs its own binding',
    'SELECT id FROM assets WHERE org_id = $1 EXCEPT (SELECT id FROM tags)',
    'tenant table tags',
  ],
  [
    'The recursive arm of a CTE needs its own binding',
    `WITH RECURSIVE tree AS (
       SELECT l.org_id, l.id FROM locations l WHERE l.org_id = $1
       UNION ALL
       SELECT c.org_id, c.id FROM locations c JOIN tree t ON c.parent_id = t.id
     )
     SELECT id FROM tree`,
    'tenant table locations (alias c)',
  ],
  [
    'A recursive CTE whose recursive arm changes org_id binds nothing',
    `WITH RECURSIVE tree AS (
       SELECT l.org_id, l.id FROM locations l WHERE l.org_id = $1
       UNION ALL
       SELECT c.shared_with, c.id FROM locations c JOIN tree t ON c.org_id = t.org_id
     )
     SELECT id FROM tree`,
    'tenant table locations (alias c)',
  ],
  [
    'An unused CTE still needs its binding',
    'WITH c AS (SELECT * FROM credentials) SELECT id FROM assets WHERE org_id = $1',
    'tenant table credentials',
  ],
  [
    'A CTE does not shadow its table inside its own definition',
    'WITH assets AS (SELECT id FROM assets) SELECT id FROM assets',
    UNBOUND,
  ],
  [
    'A CTE does not shadow a table for the CTEs before it',
    'WITH x AS (SELECT id FROM assets), assets AS (SELECT 1 AS id) SELECT id FROM assets',
    UNBOUND,
  ],
  [
    'A CTE does not shadow a schema-qualified table',
    'WITH assets AS (SELECT 1 AS id) SELECT id FROM public.assets',
    UNBOUND,
  ],
  [
    'A CTE inside a sub-select shadows nothing outside it',
    'SELECT (WITH assets AS (SELECT 1 AS id) SELECT id FROM assets) FROM assets',
    UNBOUND,
  ],
  ['A sub-select in LIMIT is checked', 'SELECT 1 LIMIT (SELECT count(*) FROM tags)', 'tenant table tags'],
  ['A sub-select in ORDER BY is checked', 'SELECT 1 ORDER BY (SELECT max(id) FROM tags)', 'tenant table tags'],
  ['A sub-select in VALUES is checked', 'VALUES ((SELECT max(id) FROM tags))', 'tenant table tags'],
  [
    'A sub-select in a function argument is checked',
    'SELECT 1 FROM unnest(ARRAY(SELECT id FROM tags)) u',
    'table tags',
  ],
  [
    'A sub-select in the ON of a join is checked',
    'SELECT 1 FROM assets a LEFT JOIN unnest($2::int[]) u ON u IN (SELECT id FROM tags) WHERE a.org_id = $1',
    'tenant table tags',
  ],
  ['SELECT INTO is rejected', 'SELECT id INTO copy FROM assets WHERE org_id = $1', 'SELECT INTO'],
  ['A function that runs SQL text is rejected', "SELECT query_to_xml('TABLE assets', true, true, '')", 'runs SQL'],
  [
    'A query inside an SQL/JSON constructor is rejected',
    'SELECT json_array(SELECT id FROM assets)',
    `${UNKNOWN} JsonArrayQueryConstructor`,
  ],
]

const safeWrites: Safe[] = [
  [
    'A write may go by the time that comes as a parameter',
    'DELETE FROM tags WHERE org_id = $1 AND created_at < $2::timestamptz RETURNING id',
  ],
  ['An update with a bound target is safe', 'UPDATE assets SET name = $3 WHERE org_id = $1 AND id = $2'],
  [
    'An update binds its target through a bound table in FROM',
    'UPDATE assets a SET name = l.name FROM locations l WHERE l.org_id = $1 AND a.org_id = l.org_id AND a.id = $2',
  ],
  [
    'Immutable expressions are allowed in SET',
    `UPDATE assets SET name = lower(upper($3)), seen_at = greatest(seen_at, $4::timestamptz), note = coalesce($5, note),
       labels = array_append(array_remove(labels, $6), $6),
       data = data || $7::jsonb, n = CASE WHEN n > 3 THEN 0 ELSE n END
      WHERE org_id = $1 AND id = $2 RETURNING old.name, new.name`,
  ],
  ['A delete with a bound target is safe', 'DELETE FROM assets WHERE org_id = $1 AND id = $2 RETURNING id'],
  [
    'A delete binds its USING tables through the target',
    'DELETE FROM assets a USING tags t WHERE a.org_id = $1 AND t.org_id = a.org_id AND t.asset_id = a.id',
  ],
  [
    'A sub-select in RETURNING binds through the target',
    `DELETE FROM assets a WHERE a.org_id = $1
     RETURNING (SELECT name FROM locations l WHERE l.org_id = old.org_id LIMIT 1)`,
  ],
  ['An insert with a parameter for org_id is safe', 'INSERT INTO assets (org_id, name) VALUES ($1, $2)'],
  [
    'Every row of an insert may have its own parameter',
    'INSERT INTO assets (name, org_id) VALUES ($2, $1::bigint), ($4, $3)',
  ],
  [
    'An upsert on a key that includes org_id is safe',
    `INSERT INTO assets AS a (org_id, id, name) VALUES ($1, $2, $3)
     ON CONFLICT (org_id, id) DO UPDATE SET name = excluded.name WHERE a.name <> excluded.name`,
  ],
  ['ON CONFLICT DO NOTHING needs no key', 'INSERT INTO tags (org_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING'],
  [
    'ON CONFLICT may name a constraint',
    'INSERT INTO tags (org_id, id) VALUES ($1, $2) ON CONFLICT ON CONSTRAINT tags_pkey DO UPDATE SET id = excluded.id',
  ],
  [
    'An insert from a select may put the parameter in each row',
    'INSERT INTO tags (org_id, name) SELECT $1, u.name FROM unnest($2::text[]) AS u(name) ON CONFLICT DO NOTHING',
  ],
  [
    'An insert from a select may take org_id from a bound table',
    'INSERT INTO tags (org_id, asset_id) SELECT a.org_id, a.id FROM assets a WHERE a.org_id = $1 RETURNING id',
  ],
  [
    'A write may use what a CTE returned from another write',
    `WITH made AS (INSERT INTO locations (org_id, name) VALUES ($1, $2) RETURNING org_id, id)
     INSERT INTO assets (org_id, location_id) SELECT made.org_id, made.id FROM made RETURNING id`,
  ],
  [
    'A table may bind through the rows a CTE has changed',
    `WITH gone AS (DELETE FROM assets WHERE org_id = $1 AND id = $2 RETURNING *)
     SELECT t.id FROM tags t JOIN gone ON t.org_id = gone.org_id`,
  ],
  [
    'A CTE that writes may read its own table inside the same write',
    `WITH gone AS (
       DELETE FROM tags WHERE org_id = $1 AND id IN (SELECT t.id FROM tags t WHERE t.org_id = $1 LIMIT 10) RETURNING id
     )
     SELECT id FROM gone`,
  ],
]

const unsafeWrites: Unsafe[] = [
  [
    'A delete that goes by the clock of the node is rejected',
    'DELETE FROM tags WHERE org_id = $1 AND created_at < now()',
    'the WHERE of DELETE may not depend on now',
  ],
  [
    'An update that goes by the time of day is rejected',
    'UPDATE assets SET name = $2 WHERE org_id = $1 AND valid_to < current_timestamp',
    'the WHERE of UPDATE may not depend on the time of day',
  ],
  [
    'An update that cuts a stored time to the day of a session is rejected',
    "UPDATE assets SET name = $2 WHERE org_id = $1 AND date_trunc('day', valid_to) = $3",
    'the WHERE of UPDATE may not depend on date_trunc',
  ],
  [
    'RETURNING may not make up a value',
    'UPDATE assets SET name = $2 WHERE org_id = $1 RETURNING gen_random_uuid()',
    'RETURNING may not depend on gen_random_uuid',
  ],
  ['An update without a binding is rejected', 'UPDATE assets SET name = $2 WHERE id = $1', UNBOUND],
  [
    'An update may not move a row to another organization',
    'UPDATE assets SET org_id = $2 WHERE org_id = $1',
    'may not set org_id',
  ],
  [
    'A row assignment may not set org_id either',
    'UPDATE assets SET (name, org_id) = ($3, $2) WHERE org_id = $1',
    'UPDATE SET on assets may not set org_id',
  ],
  [
    'An update whose FROM table alone is bound is rejected',
    'UPDATE assets a SET name = l.name FROM locations l WHERE l.org_id = $1 AND a.location_id = l.id',
    'tenant table assets (alias a)',
  ],
  [
    'An update whose FROM table is unbound is rejected',
    'UPDATE assets a SET name = l.name FROM locations l WHERE a.org_id = $1 AND a.location_id = l.id',
    'tenant table locations (alias l)',
  ],
  [
    'An unqualified org_id does not bind an update that reads a second tenant table',
    'UPDATE assets SET name = locations.name FROM locations WHERE org_id = $1',
    'tenant table assets',
  ],
  [
    'A sub-select in SET needs its own binding',
    'UPDATE assets SET name = (SELECT name FROM locations LIMIT 1) WHERE org_id = $1',
    'tenant table locations',
  ],
  [
    'A sub-select in a row assignment needs its own binding',
    'UPDATE assets SET (name, note) = (SELECT name, note FROM locations LIMIT 1) WHERE org_id = $1',
    'tenant table locations',
  ],
  ['now() in SET is refused', 'UPDATE assets SET at = now() WHERE org_id = $1', 'may not call now()'],
  [
    'clock_timestamp() in SET is refused',
    'UPDATE assets SET at = clock_timestamp() WHERE org_id = $1',
    'clock_timestamp()',
  ],
  [
    'current_timestamp in SET is refused',
    'UPDATE assets SET at = current_timestamp WHERE org_id = $1',
    'current_timestamp',
  ],
  ['random() deep in SET is refused', 'UPDATE assets SET n = coalesce(n, 1 + random()) WHERE org_id = $1', 'random()'],
  ['date_trunc() in SET is refused', "UPDATE assets SET at = date_trunc('day', $2) WHERE org_id = $1", 'date_trunc()'],
  [
    'AT TIME ZONE in SET is rejected',
    "UPDATE assets SET at = at AT TIME ZONE 'UTC' WHERE org_id = $1",
    'pg_catalog.timezone()',
  ],
  [
    'A function of another schema in SET is rejected',
    'UPDATE assets SET name = my.lower(name) WHERE org_id = $1',
    'my.lower()',
  ],
  ['A delete without a condition is rejected', 'DELETE FROM assets', UNBOUND],
  ['A delete at a cursor is rejected', 'DELETE FROM assets WHERE CURRENT OF c', UNBOUND],
  [
    'A delete whose USING table is unbound is rejected',
    'DELETE FROM assets a USING tags t WHERE a.org_id = $1 AND t.asset_id = a.id',
    'tenant table tags (alias t)',
  ],
  [
    'A delete whose USING table alone is bound is rejected',
    'DELETE FROM assets a USING tags t WHERE t.org_id = $1 AND t.asset_id = a.id',
    'tenant table assets (alias a)',
  ],
  [
    'A CTE does not shadow the target of a write',
    'WITH assets AS (SELECT 1 AS id) DELETE FROM assets',
    'tenant table assets',
  ],
  [
    'A sub-select in RETURNING needs its own binding',
    'UPDATE assets SET name = $2 WHERE org_id = $1 RETURNING (SELECT count(*) FROM credentials)',
    'tenant table credentials',
  ],
  [
    'A write inside a CTE needs its own binding',
    'WITH gone AS (DELETE FROM tags RETURNING id) SELECT id FROM assets WHERE org_id = $1',
    'tenant table tags',
  ],
  ['An insert without a column list is rejected', 'INSERT INTO assets VALUES ($1, $2)', 'must list its columns'],
  ['An insert of default values is rejected', 'INSERT INTO assets DEFAULT VALUES', 'must list its columns'],
  ['An insert without org_id is rejected', 'INSERT INTO assets (name) VALUES ($1)', 'must list the column org_id'],
  ['An insert of a constant org_id is rejected', 'INSERT INTO assets (org_id) VALUES (7)', 'must be a parameter'],
  ['An insert of a default org_id is rejected', 'INSERT INTO assets (org_id) VALUES (DEFAULT)', 'must be a parameter'],
  [
    'An insert is rejected when one of its rows has another org_id',
    'INSERT INTO assets (org_id, name) VALUES ($1, $2), ((SELECT 7), $3)',
    'must be a parameter',
  ],
  [
    'An insert is checked by the position of org_id',
    'INSERT INTO assets (name, org_id) VALUES ($1, lower($2))',
    'must be a parameter',
  ],
  [
    'An expanded row in VALUES hides the position of org_id',
    "INSERT INTO assets (id, org_id, name) VALUES ((json_populate_record(null::pair, '{}')).*, $1)",
    'cannot be found by its position',
  ],
  [
    'An expanded row in SELECT hides the position of org_id',
    'INSERT INTO assets (id, org_id, name) SELECT (p.pair).*, $1 FROM pairs p RETURNING id',
    'cannot be found by its position',
  ],
  [
    'A star before org_id hides its position',
    'INSERT INTO assets (id, org_id) SELECT x.*, $1 FROM pairs x RETURNING id',
    'cannot be found by its position',
  ],
  [
    'An insert from a select may not take org_id from an unbound table',
    'INSERT INTO tags (org_id, name) SELECT p.org_id, p.name FROM pairs p RETURNING id',
    'must be a parameter or the org_id of a bound relation',
  ],
  [
    'An insert from a select may not take another column as org_id',
    'INSERT INTO tags (org_id, name) SELECT a.id, a.name FROM assets a WHERE a.org_id = $1 RETURNING id',
    'must be a parameter or the org_id of a bound relation',
  ],
  [
    'The merged org_id of a full join is not the bound one',
    `WITH s AS (SELECT $1::bigint AS org_id)
     INSERT INTO tags (org_id) SELECT org_id FROM s FULL JOIN pairs p USING (org_id) RETURNING id`,
    'must be a parameter or the org_id of a bound relation',
  ],
  [
    'The merged org_id of a right join is the one of its right side',
    `WITH s AS (SELECT $1::bigint AS org_id)
     INSERT INTO tags (org_id) SELECT org_id FROM s RIGHT JOIN pairs p USING (org_id) RETURNING id`,
    'must be a parameter or the org_id of a bound relation',
  ],
  [
    'Every arm of an inserted UNION must give a bound org_id',
    'INSERT INTO tags (org_id) SELECT $1 UNION ALL SELECT 7 ON CONFLICT DO NOTHING',
    'must be a parameter or the org_id of a bound relation',
  ],
  [
    'An upsert on a key without org_id is rejected',
    'INSERT INTO assets (org_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET id = excluded.id',
    'must include org_id',
  ],
  [
    'An expression over org_id in the key does not count as org_id',
    'INSERT INTO assets (org_id, id) VALUES ($1, $2) ON CONFLICT ((org_id % 2), id) DO NOTHING',
    'must include org_id',
  ],
  [
    'An upsert may not set org_id',
    'INSERT INTO assets (org_id, id) VALUES ($1, $2) ON CONFLICT (org_id, id) DO UPDATE SET org_id = excluded.org_id',
    'DO UPDATE SET on assets may not set org_id',
  ],
  [
    'now() in DO UPDATE SET is refused',
    'INSERT INTO assets (org_id, id) VALUES ($1, $2) ON CONFLICT (org_id, id) DO UPDATE SET at = now()',
    'DO UPDATE SET may not call now()',
  ],
  [
    'A sub-select in DO UPDATE needs its own binding',
    `INSERT INTO tags (org_id, n) VALUES ($1, $2)
     ON CONFLICT (org_id) DO UPDATE SET n = (SELECT n FROM assets LIMIT 1)`,
    'tenant table assets',
  ],
  [
    'An insert from a select without ON CONFLICT or RETURNING is rejected for Citus',
    'INSERT INTO tags (org_id, name) SELECT $1, u FROM unnest($2::text[]) u',
    'needs ON CONFLICT or RETURNING',
  ],
  [
    'A statement may not read a table that one of its CTEs writes',
    `WITH made AS (INSERT INTO tags (org_id, name) VALUES ($1, $2) RETURNING id)
     SELECT count(*) FROM tags WHERE org_id = $1`,
    'tags is read again',
  ],
  [
    'A statement may not change a table that one of its CTEs writes',
    `WITH gone AS (DELETE FROM tags WHERE org_id = $1 AND id = $2 RETURNING id)
     UPDATE public.tags SET name = $3 WHERE org_id = $1`,
    'tags is read again',
  ],
  [
    'MERGE is rejected',
    'MERGE INTO assets a USING tags t ON a.org_id = $1 WHEN MATCHED THEN DELETE',
    'MERGE is refused',
  ],
  [
    'Renamed old and new rows in RETURNING are rejected',
    'UPDATE assets SET name = $2 WHERE org_id = $1 RETURNING WITH (OLD AS o) o.name',
    `${UNKNOWN} RETURNING.options`,
  ],
]

const safeOthers: Safe[] = [
  ['Transactions are safe', 'BEGIN ISOLATION LEVEL REPEATABLE READ'],
  ['Savepoints are safe, whatever their name', 'SAVEPOINT assets'],
  ['Settings are safe', "SET LOCAL statement_timeout = '5s'"],
  ['Listening on a channel is safe, whatever its name', 'LISTEN tags'],
  ['Notifying a channel is safe, whatever its name', "NOTIFY tags, 'x'"],
  ['A utility statement on another table is safe', 'TRUNCATE assets_staging'],
  ['A trailing semicolon is not a second statement', 'COMMIT;'],
]

const unsafeOthers: Unsafe[] = [
  ['A text the parser rejects is rejected', 'SELEC 1', 'cannot be parsed'],
  ['An empty text is rejected', '', 'cannot be parsed'],
  ['A text of comments alone is rejected', '-- nothing', 'no statement'],
  ['A NUL character is rejected because it would hide the rest', 'SELECT 1 \0; DELETE FROM assets', 'NUL'],
  ['Several statements are rejected', 'SELECT 1; DELETE FROM assets', 'several statements'],
  [
    'TRUNCATE of a tenant table is rejected',
    'TRUNCATE schema_migrations, assets',
    'Truncate names tenant table assets',
  ],
  ['COPY of a tenant table is rejected', 'COPY public.assets TO STDOUT', 'Copy names tenant table assets'],
  [
    'COPY of a bound query is rejected too',
    'COPY (SELECT 1 FROM assets WHERE org_id = 1) TO STDOUT',
    'Copy names tenant table assets',
  ],
  ['LOCK of a tenant table is rejected', 'LOCK TABLE assets', 'Lock names tenant table assets'],
  ['DROP of a tenant table is rejected', 'DROP TABLE IF EXISTS public.assets', 'Drop names tenant table assets'],
  ['ALTER of a tenant table is rejected', 'ALTER TABLE assets DISABLE ROW LEVEL SECURITY', 'tenant table assets'],
  ['A view over a tenant table is rejected', 'CREATE VIEW v AS SELECT * FROM assets', 'View names tenant table assets'],
  ['A table made from a tenant table is rejected', 'CREATE TABLE c AS TABLE assets', 'names tenant table assets'],
  [
    'A cursor over a tenant table is rejected',
    'DECLARE c CURSOR FOR SELECT 1 FROM assets',
    'names tenant table assets',
  ],
  [
    'A prepared statement over a tenant table is rejected',
    'PREPARE p AS DELETE FROM assets',
    'names tenant table assets',
  ],
  [
    'A function body that mentions a tenant table is rejected',
    'CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DELETE FROM Assets $$',
    'names tenant table assets',
  ],
  ['DO is rejected because its code is not visible', "DO $$ BEGIN EXECUTE 'x'; END $$", 'Do runs code'],
  ['CALL is rejected because its code is not visible', 'CALL purge()', 'Call runs code'],
  ['EXECUTE is rejected because its statement is not visible', 'EXECUTE p', 'Execute runs code'],
  ['EXPLAIN does not hide EXECUTE', 'EXPLAIN ANALYZE EXECUTE p', 'Execute runs code'],
]

beforeAll(loadSqlParser)

const groups: [string, Safe[], Unsafe[]][] = [
  ['Reading tenant tables', safeReads, unsafeReads],
  ['Writing tenant tables', safeWrites, unsafeWrites],
  ['Other statements', safeOthers, unsafeOthers],
]

for (const [title, safe, unsafe] of groups) {
  describe(title, () => {
    test.each(safe)('%s', (_sentence, sql) => {
      expect(tenancyViolations(sql, rules)).toEqual([])
    })

    test.each(unsafe)('%s', (_sentence, sql, fragment) => {
      expect(tenancyViolations(sql, rules).join('\n')).toContain(fragment)
    })
  })
}

describe('The tables of a statement', () => {
  test('Real tables are listed once, by their unqualified names', () => {
    const sql = 'SELECT 1 FROM public.assets a JOIN tags t ON true WHERE EXISTS (SELECT 1 FROM assets)'
    expect(statementTables(sql)).toEqual(['assets', 'tags'])
  })

  test('The names of CTEs are left out where they are in scope', () => {
    const sql = 'WITH tags AS (SELECT id FROM assets), x AS (SELECT id FROM tags) SELECT 1 FROM x, public.locations'
    expect(statementTables(sql)).toEqual(['assets', 'locations'])
  })

  test('The target of a write is listed even where a CTE has its name', () => {
    expect(statementTables('WITH tags AS (SELECT 1) INSERT INTO tags (id) SELECT 1 FROM tags')).toEqual(['tags'])
  })

  test('The tables of utility statements are listed', () => {
    expect(statementTables('TRUNCATE assets, tags')).toEqual(['assets', 'tags'])
    expect(statementTables('DROP TABLE public.assets')).toEqual(['assets'])
    expect(statementTables('EXPLAIN WITH x AS (SELECT 1) SELECT 1 FROM x, assets')).toEqual(['assets'])
  })

  test('A text the parser rejects throws', () => {
    expect(() => statementTables('SELEC 1')).toThrow()
  })
})
