import { ActionIcon, Badge, Box, Button, Group, Tabs, Text } from '@mantine/core'
import { useState } from 'react'
import { useAssetNames } from '../../api/assets.ts'
import type { ResolvedCode } from '../../api/types.ts'
import { IconX } from '../../components/icons.ts'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { formatNumber } from '../../lib/time.ts'
import type { StocktakeResult } from './stocktake.ts'

function Scanned({ one, note, onDrop }: { one: ResolvedCode; note: React.ReactNode; onDrop: () => void }) {
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
        aria-label={`Take ${one.name ?? one.code} off the list`}
        onClick={onDrop}
      >
        <IconX size={16} />
      </ActionIcon>
    </div>
  )
}

const Nothing = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed" py="md" ta="center">
    {children}
  </Text>
)

/** Found, elsewhere, missing, unknown: the four answers of a stocktake. */
export function Results({
  result,
  mayAttach,
  onDrop,
  onAttach,
}: {
  result: StocktakeResult
  mayAttach: boolean
  onDrop: (code: string) => void
  onAttach: (code: string) => void
}) {
  const { found, elsewhere, missing, unknown } = result
  const [tab, setTab] = useState<string | null>('found')
  const nameOf = useAssetNames(tab === 'missing' ? missing.slice(0, 300).map((one) => one.asset_external_key) : [])
  const tabs = [
    { value: 'found', label: 'Found', size: found.length, color: 'harbor' },
    { value: 'elsewhere', label: 'Elsewhere', size: elsewhere.length, color: 'blue' },
    { value: 'missing', label: 'Missing', size: missing.length, color: 'yellow' },
    { value: 'unknown', label: 'Unknown', size: unknown.length, color: 'red' },
  ]
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false}>
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
        {found.length === 0 && <Nothing>Nothing of what is expected here was scanned yet.</Nothing>}
        {found.map((one) => (
          <Scanned key={one.code} one={one} note={one.external_key} onDrop={() => onDrop(one.code)} />
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="elsewhere" pt="xs">
        {elsewhere.length === 0 && <Nothing>Nothing that belongs to another location.</Nothing>}
        {elsewhere.map((one) => (
          <Scanned
            key={one.code}
            one={one}
            onDrop={() => onDrop(one.code)}
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
        {missing.length === 0 && <Nothing>Nothing is missing.</Nothing>}
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
        {unknown.length === 0 && <Nothing>Every code is known.</Nothing>}
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
              aria-label={`Take ${one.code} off the list`}
              onClick={() => onDrop(one.code)}
            >
              <IconX size={16} />
            </ActionIcon>
          </div>
        ))}
      </Tabs.Panel>
    </Tabs>
  )
}
