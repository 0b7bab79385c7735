import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLocationCounts } from '../api/overview.ts'

/** A location by its name, or by its key while the names are not there yet. */
export function LocationLink({
  id,
  fallback,
  name,
}: {
  id: number | null
  fallback?: string | null
  name?: string | null
}) {
  const locations = useLocationCounts()
  if (id === null)
    return (
      <Text span inherit c="dimmed">
        nowhere in particular
      </Text>
    )
  const shown = name ?? locations.get(id)?.name ?? fallback ?? 'a deleted location'
  return (
    <Anchor
      inherit
      underline="hover"
      c="inherit"
      renderRoot={(props) => <Link to="/locations/$locationId" params={{ locationId: String(id) }} {...props} />}
    >
      {shown}
    </Anchor>
  )
}

export function AssetLink({ id, name }: { id: number; name: string }) {
  return (
    <Link to="/assets/$assetId" params={{ assetId: String(id) }} className="row-link">
      {name}
    </Link>
  )
}
