import { Lastseen } from '../lastseen.ts'
import { type Command, stringOption } from './args.ts'
import { UsageError } from './errors.ts'
import { isInteractive, prompt, readFirstLine } from './prompt.ts'
import { normalizeUrl, writeSettings } from './settings.ts'

export const accountCommands: Command[] = [
  {
    name: 'login',
    summary: 'check a credential and save it in the config file',
    details:
      'login prompts for the secret, or reads it from standard input. It is not an option, which other users could see.',
    options: {
      url: { type: 'string', value: '<url>', summary: 'the server, such as https://lastseen.example.com' },
      'client-id': { type: 'string', value: '<uuid>', summary: 'the client id of the API key' },
    },
    async run({ out, env }, _args, values) {
      const canPrompt = isInteractive()
      const url = stringOption(values, 'url') ?? (canPrompt ? await prompt('Server: ') : '')
      const clientId = stringOption(values, 'client-id') ?? (canPrompt ? await prompt('Client id: ') : '')
      if (url === '' || clientId === '') throw new UsageError('--url and --client-id are required')
      const baseUrl = normalizeUrl(url)
      const clientSecret = canPrompt ? await prompt('Client secret: ', { isSecret: true }) : await readFirstLine()
      if (clientSecret === '')
        throw new UsageError('the client secret is missing: type it at the prompt or pass it on standard input')
      const { name, scopes } = await new Lastseen({ baseUrl, clientId, clientSecret }).me()
      const path = writeSettings(env, { url: baseUrl, clientId, clientSecret })
      if (out.isJson) out.json({ url: baseUrl, organization: name, scopes, config: path })
      else out.note(`Signed in to ${name} at ${baseUrl}; the credential is saved in ${path}`)
    },
  },
  {
    name: 'whoami',
    summary: 'show the organization and scopes of the credential',
    async run({ out, client }) {
      const me = await client().me()
      if (out.isJson) out.json(me)
      else out.record({ ...me })
    },
  },
]
