import { Lastseen } from '../lastseen.ts'
import { ask, firstLine, isAtTerminal } from './ask.ts'
import { checkedUrl, writeSettings } from './settings.ts'
import { UsageError } from './problems.ts'
import { type Command, textOf } from './usage.ts'

export const account: Command[] = [
  {
    words: 'login',
    about: 'check a credential and keep it in the config file',
    more: 'The secret is asked for, or read from standard input; it is never an option, because others can see those.',
    options: {
      url: { type: 'string', value: '<address>', about: 'the server, such as https://lastseen.example.com' },
      'client-id': { type: 'string', value: '<uuid>', about: 'the client id of the API key' },
    },
    async run({ out, env }, _args, values) {
      const [isHere, given] = [isAtTerminal(), (name: string) => textOf(values, name)]
      const url = given('url') ?? (isHere ? await ask('Server: ') : '')
      const clientId = given('client-id') ?? (isHere ? await ask('Client id: ') : '')
      if (url === '' || clientId === '') throw new UsageError('--url and --client-id are needed')
      const baseUrl = checkedUrl(url)
      const clientSecret = isHere ? await ask('Client secret: ', { isSecret: true }) : await firstLine()
      if (clientSecret === '') throw new UsageError('the client secret is missing')
      const { name, scopes } = await new Lastseen({ baseUrl, clientId, clientSecret }).me()
      const path = writeSettings(env, { url: baseUrl, clientId, clientSecret })
      if (out.isJson) out.json({ url: baseUrl, organization: name, scopes, config: path })
      else out.note(`Signed in to ${name} at ${baseUrl}; kept in ${path}`)
    },
  },
  {
    words: 'whoami',
    about: 'show the organization and scopes of the credential',
    async run({ out, client }) {
      const me = await client().me()
      if (out.isJson) out.json(me)
      else out.facts({ ...me })
    },
  },
]
