import { Text } from '@mantine/core'
import { LocationLink } from '../../components/record-links.tsx'

/** A link to a location, and its path unless it is at the top level. */
export function LocationWithPath({ id, name, path }: { id: number | null; name: string | null; path: string }) {
  return (
    <>
      <LocationLink id={id} name={name} />
      {path !== '' && (
        <Text size="xs" c="dimmed">
          {path}
        </Text>
      )}
    </>
  )
}
