import { ActionIcon, Alert, Badge, Box, Button, Stack, Tabs, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useAssetNames } from '../../api/assets.ts'
import type { ResolvedCode } from '../../api/types.ts'
import { IconCheck, IconX } from '../../components/icons.ts'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { counted, formatNumber } from '../../lib/time.ts'
import { type StocktakeResult, isPossibleCode, maxExpected } from './stocktake.ts'
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
        {counted(total, 'asset')} {total === 1 ? 'is' : 'are'} at {locationName} now.
      </Text>
      <Text size="sm">
        {formatNumber(expectedCount)} expected here, {formatNumber(elsewhereCount)} from elsewhere,{' '}
        {formatNumber(missingCount)} missing.
      </Text>
    </Alert>
  )
}

const maxListedWaiting = 20

/** The codes that wait for the server. A code that is resolved within a moment is not shown. */
export function WaitingCodes({ codes, onRemove }: { codes: readonly string[]; onRemove: (code: string) => void }) {
  const [wasWaiting] = useDebouncedValue(codes.length > 0, 800)
  if (codes.length === 0 || !wasWaiting) return null
  return (
    <Alert color="yellow" role="status" aria-label="Waiting codes">
      <Text size="sm" fw={600}>
        {formatNumber(codes.length)} waiting
      </Text>
      <Text size="sm">They are sent when the server can be reached. Keep this tab open.</Text>
      {codes.slice(0, maxListedWaiting).map((code) => (
        <div className="move-row" key={code}>
          <Code code={code} />
          <RemoveButton name={code} onRemove={() => onRemove(code)} />
        </div>
      ))}
      {codes.length > maxListedWaiting && (
        <Text size="sm">and {formatNumber(codes.length - maxListedWaiting)} more</Text>
      )}
    </Alert>
  )
}

const Code = ({ code }: { code: string }) => (
  <Text size="sm" className="key" lineClamp={2} style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>
    {code}
  </Text>
)

const RemoveButton = ({ name, onRemove }: { name: string; onRemove: () => void }) => (
  <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${name} from the list`} onClick={onRemove}>
    <IconX size={16} />
  </ActionIcon>
)

function ScannedAsset({ one, note, onRemove }: { one: ResolvedCode; note: React.ReactNode; onRemove: () => void }) {
  return (
    <div className="move-row">
      <Box style={{ flex: 1, minWidth: 0 }}>
        <AssetLink id={one.id!} name={one.name ?? one.code} />
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      </Box>
      <RemoveButton name={one.name ?? one.code} onRemove={onRemove} />
    </div>
  )
}

const EmptyTab = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed" py="md" ta="center">
    {children}
  </Text>
)

const maxListedMissing = 300

/** The result of a stocktake: found, elsewhere, missing and unknown. */
export function Results({
  result,
  expectedTotal,
  tab,
  onTab,
  mayAttach,
  onRemove,
  onAttach,
}: {
  result: StocktakeResult
  /** The number of assets last seen at the location. */
  expectedTotal: number
  tab: string
  onTab: (tab: string) => void
  mayAttach: boolean
  onRemove: (code: string) => void
  onAttach: (code: string) => void
}) {
  const { found, elsewhere, missing, unknown } = result
  const nameOf = useAssetNames(
    tab === 'missing' ? missing.slice(0, maxListedMissing).map((one) => one.asset_external_key) : [],
  )
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
            <Stack gap={3} align="center">
              <Text size="sm" span>
                {one.label}
              </Text>
              {/* Wide enough for three digits, so that the tabs stay in place while the counts change. */}
              <Badge size="sm" miw={40} color={one.size === 0 ? 'gray' : one.color} data-count={one.value}>
                {formatNumber(one.size)}
              </Badge>
            </Stack>
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
                `${one.external_key ?? ''}, never seen`
              ) : (
                <>
                  {one.external_key}, {one.location_id !== null && 'last at '}
                  <LocationLink id={one.location_id} name={one.location_name} /> <RelativeTime at={one.last_seen_at} />
                </>
              )
            }
          />
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="missing" pt="xs">
        {missing.length === 0 && <EmptyTab>No asset is missing.</EmptyTab>}
        {expectedTotal > maxExpected && (
          <Text size="sm" py={6}>
            Compared with the first {formatNumber(maxExpected)} of {formatNumber(expectedTotal)} assets that are
            expected here.
          </Text>
        )}
        {missing.length > maxListedMissing && (
          <Text size="sm" py={6}>
            First {formatNumber(maxListedMissing)} of {formatNumber(missing.length)} missing assets.
          </Text>
        )}
        {missing.slice(0, maxListedMissing).map((one) => (
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
            <Code code={one.code} />
            {!isPossibleCode(one.code) ? (
              <Text size="xs" c="dimmed">
                Not a key or tag
              </Text>
            ) : mayAttach ? (
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
                Ask a manager to attach it
              </Text>
            )}
            <RemoveButton name={one.code} onRemove={() => onRemove(one.code)} />
          </div>
        ))}
      </Tabs.Panel>
    </Tabs>
  )
}
