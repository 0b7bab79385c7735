import { createHash } from 'node:crypto'
import { anchor, badge, baseOf, block, curlOf, errorTypesOf, isError, isOpen } from './reference-operation.ts'
import { type Operation, operationsOf, pill, renderOperation, responsesOf, shell } from './reference-operation.ts'
import { chip, type Dict, dict, each, esc, examplesOf, fieldsOf, fold, json } from './reference-schema.ts'
import { list, nameOf, prose, resolve, table, text } from './reference-schema.ts'
import { referenceStyle } from './reference-style.ts'

type Part = 'openapi' | 'info' | 'servers' | 'tags' | 'paths' | 'components' | 'security'
/** Any OpenAPI 3.0 document; nothing about its parts is taken for granted. */
export type OpenApiDocument = { [part in Part]?: unknown }

type Group = { name: string; description: unknown; members: Operation[] }

/** The tags in the document's order, then tags that only operations name; tags without operations are left out. */
function groupsOf(doc: Dict, operations: Operation[]): Group[] {
  const declared = list(doc.tags).map(dict)
  const names = new Set([...declared.map((tag) => text(tag.name)), ...operations.map((operation) => operation.tag)])
  return [...names]
    .map((name) => ({
      name,
      description: declared.find((tag) => tag.name === name)?.description,
      members: operations.filter((operation) => operation.tag === name),
    }))
    .filter((group) => group.members.length > 0)
}

const groupId = (group: Group): string => `tag-${group.name.replace(/\W+/g, '-').toLowerCase()}`
const plainRow = (name: string, cell: string): string => `<tr><th scope="row">${name}</th><td>${cell}</td></tr>`

/** The command that gets a token: the document's own token operation, else one made from the token address. */
function tokenCommand(doc: Dict, operations: Operation[], flows: Dict[]): string {
  const address = text(flows.map((flow) => flow.tokenUrl).find(Boolean))
  const open = operations.filter((operation) => isOpen(operation) && operation.method === 'post')
  const known = open.find(({ path }) => address.endsWith(path)) ?? open.find(({ path }) => /token/i.test(path))
  if (known) return curlOf(doc, known)
  const origin = baseOf(doc).replace(/^(https?:\/\/[^/]+|\$BASE_URL).*$/, '$1')
  const target = /^https?:/.test(address) ? address : `${origin}/${address.replace(/^\//, '')}`
  return (
    address && `curl -X POST "${target}" \\\n  -u "$CLIENT_ID:$CLIENT_SECRET" \\\n  -d "grant_type=client_credentials"`
  )
}

function schemeKind(scheme: Dict): string {
  if (scheme.type === 'oauth2') return 'OAuth 2.0'
  if (scheme.type === 'http') return `HTTP ${text(scheme.scheme)}`
  return scheme.type === 'apiKey' ? `API key in ${text(scheme.in)} ${text(scheme.name)}` : text(scheme.type)
}

function renderAuthentication(doc: Dict, operations: Operation[]): string {
  const schemes = Object.entries(dict(dict(doc.components).securitySchemes)).map(([name, node]) => {
    const scheme = resolve(doc, node)
    return { name, scheme, flows: Object.values(dict(scheme.flows)).map(dict) }
  })
  const cards = each(schemes, ({ name, scheme, flows }) => {
    const address = text(flows.map((flow) => flow.tokenUrl).find(Boolean))
    const scopes = flows.flatMap((flow) => Object.entries(dict(flow.scopes)))
    const rows = each(scopes, ([scope, about]) => plainRow(`<span class="scope">${esc(scope)}</span>`, prose(about)))
    return `<li><h3>${esc(name)}</h3><p class="dim">${esc(schemeKind(scheme))}</p>${prose(scheme.description)}${
      address && `<p class="fact">Token address: ${chip(address)}</p>`
    }${fold(`Scopes (${scopes.length})`, table(rows, `Scopes of ${name}`))}</li>`
  })
  const command = tokenCommand(
    doc,
    operations,
    schemes.flatMap((scheme) => scheme.flows),
  )
  const simple = operations.find((operation) => operation.method === 'get' && !isOpen(operation))
  return `<section class="split" id="section-authentication"><div><h2>Authentication</h2>
<p>Get a token, then send it with each call in the <code>Authorization</code> header. Every operation says what its
token must be allowed to do; operations marked <span class="scope free">no token</span> are open.</p>
<ul class="cards">${cards}</ul></div>
<aside aria-label="Examples: authentication">${command && block('1. Get a token', shell(command))}${
    simple ? block('2. Use it', shell(`export TOKEN="the token from step 1"\n\n${curlOf(doc, simple)}`)) : ''
  }</aside></section>`
}

/** Says each error body and each error type once, so that operations can refer to it. */
function renderErrors(doc: Dict, operations: Operation[]): string {
  const bodies = new Map<Dict, { media: Dict; uses: number }>()
  const types = new Map<string, { statuses: Set<string>; description: unknown }>()
  for (const [status, response] of operations.flatMap((operation) => responsesOf(doc, operation))) {
    if (!isError(status)) continue
    for (const media of Object.values(dict(response.content)).map(dict)) {
      const body = resolve(doc, media.schema)
      bodies.set(body, { media, ...bodies.get(body), uses: (bodies.get(body)?.uses ?? 0) + 1 })
    }
    for (const type of errorTypesOf(doc, response)) {
      const known = types.get(type) ?? { statuses: new Set(), description: response.description }
      types.set(type, { ...known, statuses: known.statuses.add(status) })
    }
  }
  if (bodies.size === 0) return ''
  const common = [...bodies.values()].sort((one, other) => other.uses - one.uses).map(({ media }) => media)
  const rows = each([...types].sort(), ([type, { statuses, description }]) =>
    plainRow(chip(type, 'error'), `${each([...statuses].sort(), (status) => `${pill(status)} `)}${prose(description)}`),
  )
  const fields = each(common, (media) =>
    fold(`Fields of ${esc(nameOf(media.schema) || 'the error body')}`, fieldsOf(doc, media.schema)),
  )
  const examples = each(common, (media) =>
    block(esc(nameOf(media.schema) || 'Error body'), json(examplesOf(doc, media, 'writeOnly')[0]?.value)),
  )
  return `<section class="split" id="section-errors"><div><h2>Errors</h2>
<p>A failed call answers with a status from 400 up and a body that names the type of the error.
Decide by the type; the message is for people.</p>${fields}${table(rows, 'Error types')}</div>
<aside aria-label="Examples: errors">${examples}</aside></section>`
}

function renderOverview(doc: Dict, options: { title: string; descriptionUrl: string }): string {
  const yaml = options.descriptionUrl.replace(/\.json\b/, '.yaml')
  const servers = each(list(doc.servers).map(dict), (server) =>
    plainRow(`<code>${esc(text(server.url))}</code>`, prose(server.description)),
  )
  const relative = baseOf(doc).startsWith('$')
  return `<section class="split" id="section-overview"><div><h1>${esc(options.title)}</h1>
<p class="version">Version ${esc(dict(doc.info).version ?? '')}</p>${prose(dict(doc.info).description)}</div>
<aside aria-label="Addresses">${block('Base address', esc(baseOf(doc)))}
${relative ? '<p class="dim">In the examples <code>$BASE_URL</code> is the address of this server.</p>' : ''}
<p class="files"><a href="${esc(options.descriptionUrl)}">OpenAPI as JSON</a>
<a href="${esc(yaml)}">OpenAPI as YAML</a></p>
${list(doc.servers).length > 1 ? table(servers, 'Servers') : ''}</aside></section>`
}

function renderNavigation(groups: Group[], hasErrors: boolean): string {
  const sections = ['Overview', 'Authentication', ...(hasErrors ? ['Errors'] : [])]
  const links = each(sections, (name) => `<li><a href="#section-${name.toLowerCase()}">${name}</a></li>`)
  const tags = each(groups, (group) => {
    const items = each(group.members, ({ id, method, title, spec }) => {
      const gone = spec.deprecated === true ? ' class="gone"' : ''
      return `<li><a href="${anchor(id)}"${gone}><span>${esc(title)}</span>${badge(method)}</a></li>`
    })
    return `<details open><summary>${esc(group.name)}</summary><ul>${items}</ul></details>`
  })
  return `<ul>${links}</ul>${tags}`
}

/** Renders one page that needs no script and loads nothing; the policy allows its style by hash and no more. */
export function renderReference(
  document: OpenApiDocument,
  options: { title: string; descriptionUrl: string },
): { html: string; contentSecurityPolicy: string } {
  const doc = dict(document)
  const operations = operationsOf(doc)
  const groups = groupsOf(doc, operations)
  const errors = renderErrors(doc, operations)
  const navigation = renderNavigation(groups, errors !== '')
  const content = each(groups, (group) => {
    const parts = each(group.members, (operation) => renderOperation(doc, operation))
    const about = `<h2>${esc(group.name)}</h2>${prose(group.description)}`
    return `<div class="group" id="${esc(groupId(group))}">${about}${parts}</div>`
  })
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${esc(options.title)}</title>
<style>${referenceStyle}</style></head>
<body><a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="#section-overview">${esc(options.title)}</a>
<a class="jump" href="#contents">Contents</a></header>
<nav class="side" aria-label="Operations">${navigation}</nav>
<main id="content"><details class="menu" id="contents"><summary>Contents</summary>
<nav aria-label="Contents">${navigation}</nav></details>
${renderOverview(doc, options)}${renderAuthentication(doc, operations)}${errors}${content}</main></body></html>
`
  const hash = createHash('sha256').update(referenceStyle).digest('base64')
  const policy = ["default-src 'none'", `style-src 'sha256-${hash}'`, "base-uri 'none'", "form-action 'none'"]
  return { html, contentSecurityPolicy: [...policy, "frame-ancestors 'none'"].join('; ') }
}
