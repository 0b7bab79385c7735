import { ActionIcon, Alert, Badge, Box, Button, Group, Tabs, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useAssetNames } from '../../api/assets.ts'
import type { ResolvedCode } from '../../api/types.ts'
import { IconCheck, IconX } from '../../components/icons.ts'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { formatNumber } from '../../lib/time.ts'
import type { StocktakeResult } from './stocktake.ts'
import type { SavedAssets } from './use-scan.ts'

/** States what was saved at the location, and how many of the expected assets are still missing. */
export function SaveSummary({
  saved,
  locationName,
  missingCount,
}: {
  saved: SavedAssets
  locationName: string
  missingCount: number
}) {
  const { expectedCount, elsewhereCount } = saved
  const total = expectedCount + elsewhereCount
  return (
    <Alert color="harbor" icon={<IconCheck size={18} />} role="status" aria-label="Result">
      <Text size="sm" fw={600}>
        {total === 1 ? 'One asset is' : `${formatNumber(total)} assets are`} at {locationName} now.
      </Text>
      <Text size="sm">
        {formatNumber(expectedCount)} expected here, {formatNumber(elsewhereCount)} from elsewhere,{' '}
        {formatNumber(missingCount)} missing.
      </Text>
    </Alert>
  )
}

/** The codes that wait for the server. A code that is resolved within a moment is not shown. */
export function WaitingCodes({ codes }: { codes: readonly string[] }) {
  const [wasWaiting] = useDebouncedValue(codes.length > 0, 800)
  if (codes.length === 0 || !wasWaiting) return null
  return (
    <Alert color="yellow" role="status" aria-label="Waiting codes">
      <Text size="sm" fw={600}>
        {formatNumber(codes.length)} waiting
      </Text>
      <Text size="sm">The page sends them as soon as the server answers. Keep this tab open.</Text>
      <Text size="sm" className="key" style={{ overflowWrap: 'anywhere' }}>
        {codes.slice(0, 20).join(', ')}
        {codes.length > 20 && ' …'}
      </Text>
    </Alert>
  )
}

function ScannedAsset({ one, note, onRemove }: { one: ResolvedCode; note: React.ReactNode; onRemove: () => void }) {
  return (
    <div className="move-row">
      <Box style={{ flex: 1, minWidth: 0 }}>
        <AssetLink id={one.id!} name={one.name ?? one.code} />
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      </Box>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove ${one.name ?? one.code} from the list`}
        onClick={onRemove}
      >
        <IconX size={16} />
      </ActionIcon>
    </div>
  )
}

const EmptyTab = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed" py="md" ta="center">
    {children}
  </Text>
)

/** The result of a stocktake: found, elsewhere, missing and unknown. */
export function Results({
  result,
  tab,
  onTab,
  mayAttach,
  onRemove,
  onAttach,
}: {
  result: StocktakeResult
  tab: string
  onTab: (tab: string) => void
  mayAttach: boolean
  onRemove: (code: string) => void
  onAttach: (code: string) => void
}) {
  const { found, elsewhere, missing, unknown } = result
  const nameOf = useAssetNames(tab === 'missing' ? missing.slice(0, 300).map((one) => one.asset_external_key) : [])
  const tabs = [
    { value: 'found', label: 'Found', size: found.length, color: 'harbor' },
    { value: 'elsewhere', label: 'Elsewhere', size: elsewhere.length, color: 'blue' },
    { value: 'missing', label: 'Missing', size: missing.length, color: 'yellow' },
    { value: 'unknown', label: 'Unknown', size: unknown.length, color: 'red' },
  ]
  return (
    <Tabs value={tab} onChange={(value) => onTab(value ?? 'found')} keepMounted={false}>
      <Tabs.List grow>
        {tabs.map((one) => (
          <Tabs.Tab key={one.value} value={one.value} px={6}>
            <Group gap={5} justify="center" wrap="wrap">
              <Text size="sm" span>
                {one.label}
              </Text>
              <Badge size="sm" color={one.size === 0 ? 'gray' : one.color} data-count={one.value}>
                {formatNumber(one.size)}
              </Badge>
            </Group>
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="found" pt="xs">
        {found.length === 0 && <EmptyTab>No expected asset was scanned yet.</EmptyTab>}
        {found.map((one) => (
          <ScannedAsset key={one.code} one={one} note={one.external_key} onRemove={() => onRemove(one.code)} />
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="elsewhere" pt="xs">
        {elsewhere.length === 0 && <EmptyTab>No asset from another location was scanned.</EmptyTab>}
        {elsewhere.map((one) => (
          <ScannedAsset
            key={one.code}
            one={one}
            onRemove={() => onRemove(one.code)}
            note={
              one.last_seen_at === null ? (
                `${one.external_key ?? ''}, never seen before`
              ) : (
                <>
                  {one.external_key}, last at <LocationLink id={one.location_id} name={one.location_name} />{' '}
                  <RelativeTime at={one.last_seen_at} />
                </>
              )
            }
          />
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="missing" pt="xs">
        {missing.length === 0 && <EmptyTab>No asset is missing.</EmptyTab>}
        {missing.slice(0, 300).map((one) => (
          <div className="move-row" key={one.asset_id}>
            <Box style={{ flex: 1, minWidth: 0 }}>
              <AssetLink id={one.asset_id} name={nameOf(one.asset_external_key)} />
            </Box>
            <Text size="xs" c="dimmed">
              last seen <RelativeTime at={one.asset_last_seen} />
            </Text>
          </div>
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="unknown" pt="xs">
        {unknown.length === 0 && <EmptyTab>There are no unknown codes.</EmptyTab>}
        {unknown.map((one) => (
          <div className="move-row" key={one.code}>
            <Text size="sm" className="key" style={{ flex: 1, minWidth: 0 }}>
              {one.code}
            </Text>
            {mayAttach ? (
              <Button
                size="compact-sm"
                variant="light"
                aria-label={`Attach ${one.code}`}
                onClick={() => onAttach(one.code)}
              >
                Attach
              </Button>
            ) : (
              <Text size="xs" c="dimmed">
                a manager can attach it
              </Text>
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ${one.code} from the list`}
              onClick={() => onRemove(one.code)}
            >
              <IconX size={16} />
            </ActionIcon>
          </div>
        ))}
      </Tabs.Panel>
    </Tabs>
  )
}
