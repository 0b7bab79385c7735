import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ErrorAlert } from '../../components/feedback.tsx'
import { IconDownload } from '../../components/icons.ts'
import { download } from '../../lib/download.ts'

/** Downloads a file that the server generates. */
export function CsvButton({
  path,
  query,
  name,
}: {
  path: string
  query: Record<string, string | number | boolean | null | undefined>
  name: string
}) {
  const action = useMutation({ mutationFn: () => download(path, name, query) })
  return (
    <>
      <Button
        size="sm"
        variant="default"
        leftSection={<IconDownload size={16} />}
        loading={action.isPending}
        onClick={() => action.mutate()}
      >
        Export CSV
      </Button>
      {action.isError && <ErrorAlert error={action.error} />}
    </>
  )
}
