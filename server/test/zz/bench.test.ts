import { it } from 'vitest'
import { Site, useTracking, database } from '../support/tracking.ts'
import { recordReads } from '../../src/pipeline/record-reads.ts'
import type { Instant } from '../../src/kernel/instant.ts'
const context = useTracking('2026-05-04T12:00:00Z')
it('bench', async () => {
  const site = await Site.open(context.app, 'A', 'B')
  const sql = database(context.app)
  const o = site.org.orgId
  await sql`insert into assets (org_id,id,external_key,name,metadata,is_active,valid_from,created_at,updated_at,search_text) select ${o}, g, 'k'||g, 'n', '{}', true, now(), now(), now(), '' from generate_series(1,2000) g`
  await sql`insert into tags (org_id,id,asset_id,tag_type,value,match_value,created_at) select ${o}, g, g, 'barcode', 't'||g, 't'||g, now() from generate_series(1,2000) g`
  for (let round = 0; round < 3; round++) {
    const t = performance.now()
    for (let m = 0; m < 30; m++) {
      const mm = String(m).padStart(2, '0')
      const reads = Array.from({ length: 1000 }, (_, i) => ({ identities: [{ type: 'barcode' as const, value: 't' + (i + 1) }], readerId: site.readerId, antenna: (m % 2) + 1, observedAt: `2026-05-04T0${round}:${mm}:01.000000Z` as Instant }))
      await recordReads(context.app.core, o, reads)
    }
    console.log('fresh ms per 1000-batch', ((performance.now() - t) / 30).toFixed(1))
    const t2 = performance.now()
    for (let m = 0; m < 30; m++) {
      const mm = String(m).padStart(2, '0')
      const reads = Array.from({ length: 1000 }, (_, i) => ({ identities: [{ type: 'barcode' as const, value: 't' + (i + 1) }], readerId: site.readerId, antenna: (m % 2) + 1, observedAt: `2026-05-04T0${round}:${mm}:01.000000Z` as Instant }))
      await recordReads(context.app.core, o, reads)
    }
    console.log('redelivered ms per 1000-batch', ((performance.now() - t2) / 30).toFixed(1))
  }
}, 120000)
