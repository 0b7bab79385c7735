import { ActionIcon, Button, Group, Menu, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteView, saveView, savedViews } from '../../api/saved-views.ts'
import { ErrorAlert, notify, notifyError } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { IconBookmark, IconPlus, IconX } from '../../components/icons.ts'
import { assetSearch } from '../../routes/search-params.ts'

type Search = ReturnType<typeof assetSearch>

/** A view holds filters, order and columns, but neither the page nor an open dialog. */
const toView = ({ page: _page, create: _create, ...search }: Search): string => JSON.stringify(search)

function parseView(text: string): Search {
  try {
    return assetSearch(JSON.parse(text) as Record<string, unknown>)
  } catch {
    return {}
  }
}

/** The views of the asset list that the user has saved on the server. */
export function ViewsMenu({ search, onApply }: { search: Search; onApply: (search: Search) => void }) {
  const queries = useQueryClient()
  const views = useQuery(savedViews())
  const [isNaming, setNaming] = useState(false)
  const [name, setName] = useState('')
  const refresh = () => queries.invalidateQueries({ queryKey: ['saved-views'] })
  const current = views.data?.find((one) => toView(parseView(one.search)) === toView(search))
  const close = (): void => {
    setNaming(false)
    setName('')
    save.reset()
  }
  const save = useMutation({
    mutationFn: () => saveView({ name: name.trim(), search: toView(search) }),
    onSuccess: async (saved) => {
      notify(`The view “${saved.name}” was saved.`)
      close()
      await refresh()
    },
  })
  const remove = useMutation({ mutationFn: deleteView, onSuccess: refresh, onError: notifyError })
  return (
    <>
      <Menu position="bottom-end" shadow="md" width={240}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} />}>
            {current?.name ?? 'Views'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.isLoading && <Menu.Label>Loading …</Menu.Label>}
          {views.isError && (
            <>
              <Menu.Label>The saved views could not be loaded</Menu.Label>
              <Menu.Item closeMenuOnClick={false} onClick={() => void views.refetch()}>
                Try again
              </Menu.Item>
            </>
          )}
          {views.data?.length === 0 && <Menu.Label>No saved views yet</Menu.Label>}
          {views.data?.map((one) => (
            <Group key={one.id} gap={4} wrap="nowrap">
              <Menu.Item style={{ flex: 1, minWidth: 0 }} onClick={() => onApply(parseView(one.search))}>
                <Text size="sm" truncate fw={one === current ? 650 : undefined}>
                  {one.name}
                </Text>
              </Menu.Item>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Delete the view ${one.name}`}
                loading={remove.isPending && remove.variables === one.id}
                disabled={remove.isPending}
                onClick={() => remove.mutate(one.id)}
              >
                <IconX size={14} />
              </ActionIcon>
            </Group>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconPlus size={15} />} onClick={() => setNaming(true)}>
            Save this view
          </Menu.Item>
          <Menu.Item onClick={() => onApply({})}>Reset view</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <GuardedModal guards={name === '' ? null : 'input'} opened={isNaming} onClose={close} title="Save this view">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (name.trim() !== '') save.mutate()
          }}
        >
          <Stack>
            <TextInput
              label="Name"
              description="The view keeps the filters, the order and the columns. It replaces a view with the same name."
              maxLength={80}
              data-autofocus
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            {save.isError && <ErrorAlert error={save.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" disabled={name.trim() === ''} loading={save.isPending}>
                Save
              </Button>
            </Group>
          </Stack>
        </form>
      </GuardedModal>
    </>
  )
}
