import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { repository } from './process.ts'

/** The output of a command: JSON, a whole HTTP response, or plain text. */
export interface Output {
  language: 'json' | 'http' | 'text'
  text: string
}

/** One fenced block of a page. */
export interface Block {
  line: number
  language: string
  text: string
  /** The reason why CI cannot run the block, from a comment above it. */
  unrunReason: string | null
  /** The output that is shown directly below the block. */
  output: Output | null
}

export interface Page {
  name: string
  text: string
  blocks: Block[]
}

const isOutput = (language: string): language is Output['language'] => ['json', 'http', 'text'].includes(language)

/** The fenced blocks of a page, each command with the output that is shown below it. */
export function parseBlocks(markdown: string): Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  let before = ''
  for (let index = 0; index < lines.length; index++) {
    const fence = /^```(\w*)$/.exec(lines[index]!)
    if (fence === null) {
      if (lines[index]!.trim() !== '') before = lines[index]!
      continue
    }
    const end = lines.indexOf('```', index + 1)
    if (end === -1) throw new Error(`The block in line ${index + 1} has no end`)
    const language = fence[1]!
    const text = lines.slice(index + 1, end).join('\n')
    const above = blocks.at(-1)
    if (before === '```' && above?.language === 'sh' && isOutput(language)) above.output = { language, text }
    const unrunReason = /^<!-- not run: (.+) -->$/.exec(before)?.[1] ?? null
    blocks.push({ line: index + 1, language, text, unrunReason, output: null })
    before = '```'
    index = end
  }
  return blocks
}

/** README.md and everything under docs/, by name. */
export function allPages(): Page[] {
  const below = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
  const files = below.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))
  return ['README.md', ...files.sort()].map((name) => {
    const text = readFileSync(join(repository, name), 'utf8')
    return { name, text, blocks: parseBlocks(text) }
  })
}

/** README.md, then the pages under docs/ in the order in which docs/README.md links to them. */
export function inReadingOrder(pages: readonly Page[]): Page[] {
  const find = (name: string): Page => pages.find((page) => page.name === name)!
  const links = find('docs/README.md').text.matchAll(/\]\(((?:operating\/)?[\w.-]+\.md)\)/g)
  const names = [...links].map(([, file]) => `docs/${file}`)
  return ['README.md', ...new Set(names)].map(find)
}

/** The commands of a page that its reader runs. */
export const commandsOf = (page: Page): Block[] =>
  page.blocks.filter((block) => block.language === 'sh' && block.unrunReason === null)

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** Relative links of a page whose target file or heading does not exist. */
export function deadLinks(page: Page, exists: (path: string) => boolean): string[] {
  const links = [...page.text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  return links.flatMap(([, path, anchor]) => {
    const target = path === '' ? join(repository, page.name) : join(repository, page.name, '..', path!)
    if (!exists(target)) return [`${page.name}: ${path}`]
    if (anchor === undefined) return []
    const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1]!))
    return headings.includes(anchor) ? [] : [`${page.name}: ${relative(repository, target)}#${anchor}`]
  })
}
