import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLocationCounts } from '../api/overview.ts'

/** A link with the location's name, or with its key until the names are loaded. */
export function LocationLink({
  id,
  fallback,
  name,
}: {
  id: number | null
  fallback?: string | null
  name?: string | null
}) {
  const counts = useLocationCounts()
  if (id === null)
    return (
      <Text span inherit c="dimmed">
        No location
      </Text>
    )
  const shown = name ?? counts.get(id)?.name ?? fallback ?? 'Deleted location'
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
