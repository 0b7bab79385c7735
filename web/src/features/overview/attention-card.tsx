import { Group, SimpleGrid, Text, ThemeIcon } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { attention } from '../../api/overview.ts'
import type { Attention, Overview } from '../../api/types.ts'
import { IconAlertTriangle, IconCheck, IconChevronRight } from '../../components/icons.ts'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { ago, formatNumber } from '../../lib/time.ts'

interface Problem {
  /** Null when the problem is not a number of records. */
  count: number | null
  text: string
  link: LinkProps
}

/** The server returns at most this many failed imports. */
const maxFailedImports = 20

const plural = (count: number, one: string, several: string): string => (count === 1 ? one : several)

function problemsOf(overview: Overview, found: Attention): Problem[] {
  // Before the first sighting, the first steps say what to do about assets that were never seen.
  const neverSeen = overview.seen_total === 0 ? 0 : overview.assets_total - overview.seen_total
  const { unseen_total: unseen, unseen_after_hours: hours } = overview
  const { silent_readers: readers, unassigned_tags: tags } = found
  const counted: Problem[] = [
    {
      count: neverSeen,
      text: plural(neverSeen, 'asset has never been seen', 'assets have never been seen'),
      link: { to: '/unseen', search: { show: 'never' } },
    },
    {
      count: unseen,
      text: plural(
        unseen,
        `asset has not been seen for ${hours} hours`,
        `assets have not been seen for ${hours} hours`,
      ),
      link: { to: '/unseen' },
    },
    {
      count: readers,
      text: plural(readers, 'reader is silent', 'readers are silent'),
      link: { to: '/readers', search: { show: 'silent' } },
    },
    { count: tags, text: plural(tags, 'unassigned tag', 'unassigned tags'), link: { to: '/readers/inbox' } },
  ]
  return [
    ...counted.filter(({ count }) => count !== null && count > 0),
    ...(found.webhook_is_failing
      ? [{ count: null, text: 'Webhook deliveries are failing', link: { to: '/settings/webhooks' } } as const]
      : []),
    ...found.failed_imports.map(({ id, kind, failed_at }): Problem => ({
      count: null,
      text: `An import of ${kind} failed ${ago(failed_at)}`,
      link: { to: '/import', search: { import: id } },
    })),
  ]
}

/** The problems of the organization, each with a link to the records it concerns. */
export function AttentionCard({
  data,
  isOptional = false,
}: {
  data: Overview
  /** Nothing is shown while there are no problems. */
  isOptional?: boolean
}) {
  const found = useQuery(attention())
  if (isOptional && found.data !== undefined && problemsOf(data, found.data).length === 0) return null
  return (
    <Card title="Needs attention">
      <QueryView query={found} rows={1}>
        {(loaded) => {
          const problems = problemsOf(data, loaded)
          if (problems.length === 0)
            return (
              <Group gap="xs">
                <ThemeIcon size={24} radius="xl" variant="light">
                  <IconCheck size={15} />
                </ThemeIcon>
                <Text size="sm">Nothing needs attention.</Text>
              </Group>
            )
          return (
            <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs" component="ul" className="attention-list">
              {problems.map(({ count, text, link }) => (
                <li key={text}>
                  <Link {...link} className="attention-item">
                    {count === null ? (
                      <IconAlertTriangle size={20} aria-hidden />
                    ) : (
                      <Text span fz={22} fw={660} lh={1} className="number">
                        {formatNumber(count)}
                      </Text>
                    )}{' '}
                    <Text span size="sm" style={{ flex: 1, minWidth: 0 }}>
                      {text}
                    </Text>
                    <IconChevronRight size={16} aria-hidden />
                  </Link>
                </li>
              ))}
              {loaded.failed_imports.length >= maxFailedImports && (
                <Text component="li" size="sm" c="dimmed">
                  The latest {maxFailedImports} failed imports are listed.
                </Text>
              )}
            </SimpleGrid>
          )
        }}
      </QueryView>
    </Card>
  )
}
