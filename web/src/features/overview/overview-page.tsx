import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { attention, overview } from '../../api/overview.ts'
import type { Overview } from '../../api/types.ts'
import { Page } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { AttentionCard } from './attention-card.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LocationsCard } from './locations-card.tsx'
import { MovesCard } from './moves-card.tsx'
import { MovesChart } from './moves-chart.tsx'

function Loaded({ data }: { data: Overview }) {
  if (data.locations.length === 0 || data.assets_total === 0 || data.seen_total === 0)
    return (
      <Stack>
        <AttentionCard data={data} isOptional />
        <FirstSteps data={data} />
      </Stack>
    )
  return (
    <Stack>
      <AttentionCard data={data} />
      <div className="overview-grid">
        <LocationsCard data={data} />
        <MovesCard />
        <MovesChart />
      </div>
    </Stack>
  )
}

export function OverviewPage() {
  const data = useQuery(overview())
  // The problems are at the top: the rest of the page waits for them, so that it does not shift.
  const isWaiting = useQuery(attention()).isLoading
  return (
    <Page title="Overview" lead="What needs attention, where the assets are, and what has moved.">
      {isWaiting ? <Skeleton /> : <QueryView query={data}>{(loaded) => <Loaded data={loaded} />}</QueryView>}
    </Page>
  )
}
