import { Group, Text } from '@mantine/core'

export function Logo({ size = 26 }: { size?: number }) {
  return (
    <Group gap={9} wrap="nowrap">
      <img src="/mark.svg" width={size} height={size} alt="" />
      <Text fw={680} fz={size * 0.66} style={{ letterSpacing: '-0.02em' }}>
        Lastseen
      </Text>
    </Group>
  )
}
