/** The whole style of the reference page; the page's policy allows exactly this text. */
export const referenceStyle = `
:root {
  color-scheme: light dark;
  --page: #fff; --soft: #f6f8f7; --line: #e0e6e4; --edge: #8b9995; --ink: #17211f; --dim: #55635f;
  --accent: #0a6b61; --wash: #e4f2ef;
  --get: #0b5fa5; --post: #1a6b32; --put: #8a4b00; --patch: #6a3fa0; --delete: #ad2430;
  --code: #11201d; --code-head: #1a2d29; --code-line: #2b433d; --code-ink: #e4eeeb; --code-dim: #a9bdb7;
  --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0f1615; --soft: #151e1c; --line: #26332f; --edge: #6d7f79; --ink: #e1e9e6; --dim: #9fb1ac;
    --accent: #65cfbf; --wash: #16312c;
    --get: #7db8f2; --post: #79cf92; --put: #e8b066; --patch: #c3a3f2; --delete: #f59a9a;
    --code: #0a100f; --code-head: #141d1b; --code-line: #26332f;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.6 var(--sans); overflow-wrap: anywhere; }
h1, h2, h3, h4 { margin: 0; line-height: 1.25; font-weight: 650; letter-spacing: -0.011em; text-wrap: balance; }
h1 { font-size: 2.25rem; letter-spacing: -0.022em; }
h2 { font-size: 1.6rem; }
h3 { font-size: 1.3rem; }
h4 { margin: 2rem 0 0.5rem; font-size: 1rem; }
p, ul { margin: 0.6rem 0 0; }
ul { padding-left: 1.25rem; }
a { color: var(--accent); text-underline-offset: 0.2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font-family: var(--mono); font-size: 0.86em; }
p code:not(.chip), li > code { padding: 0.1em 0.35em; border-radius: 4px; background: var(--soft);
  overflow-wrap: anywhere; }
summary { cursor: pointer; }
.dim, .version { color: var(--dim); }
.skip { position: absolute; left: -99rem; z-index: 3; padding: 0.5rem 1rem; background: var(--page); }
.skip:focus { left: 0.5rem; top: 0.5rem; }

header { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; justify-content: space-between;
  gap: 1rem; height: 3.25rem; padding: 0 1.25rem; background: var(--page); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: 0.65rem; min-width: 0; color: var(--ink); font-weight: 650;
  text-decoration: none; line-height: 1.25; }
.brand::before { content: ''; flex: none; width: 1.1rem; height: 1.1rem; border-radius: 50%;
  background: radial-gradient(circle, var(--accent) 0 28%, transparent 32% 54%, var(--accent) 58% 68%,
    transparent 72%); }
.jump { flex: none; font-size: 0.9rem; }
nav.side { display: none; }
.menu { margin-top: 1.25rem; border: 1px solid var(--line); border-radius: 10px; background: var(--soft); }
.menu > summary { padding: 0.7rem 1rem; font-weight: 600; }
.menu > nav { padding: 0 0.5rem 0.75rem; }
nav { font-size: 0.9rem; line-height: 1.35; scroll-target-group: auto; scrollbar-width: thin; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav details { margin-top: 1.1rem; }
nav summary { padding: 0.3rem 0.75rem; color: var(--dim); font-size: 0.8rem; font-weight: 650; }
nav a { display: flex; align-items: center; justify-content: space-between; gap: 0.6rem; padding: 0.36rem 0.75rem;
  border-radius: 6px; color: var(--ink); text-decoration: none; }
nav a:hover { background: var(--wash); }
nav a:target-current { background: var(--wash); color: var(--accent); font-weight: 600; }
nav .gone span:first-child { text-decoration: line-through; }
nav .method { font-size: 0.66rem; background: none; padding: 0; }

main { padding: 0 1.25rem 5rem; }
main > section, .group { padding-top: 2.75rem; }
main > section + section, .group { margin-top: 2.75rem; border-top: 1px solid var(--line); }
.group > h2 + p { max-width: 44rem; color: var(--dim); }
.op { margin-top: 2.5rem; }
.op + .op { padding-top: 2.5rem; border-top: 1px solid var(--line); }
.split { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
.split > div { min-width: 0; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
.op:target h3 a { color: var(--accent); }
.route { display: flex; align-items: baseline; gap: 0.6rem; margin-top: 0.75rem; }
.route code:not(.chip) { min-width: 0; padding: 0; background: none; font-size: 0.94rem; overflow-wrap: anywhere; }
.route b { color: var(--accent); font-weight: inherit; }
.method { flex: none; padding: 0.12rem 0.45rem; border-radius: 5px; font: 700 0.74rem/1.5 var(--mono);
  color: var(--tone, var(--dim)); background: color-mix(in srgb, var(--tone, var(--dim)) 11%, var(--page)); }
.get { --tone: var(--get); } .post { --tone: var(--post); } .put { --tone: var(--put); }
.patch { --tone: var(--patch); } .delete { --tone: var(--delete); }
.scopes { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.4rem; font-size: 0.9rem; }
.scope { padding: 0.1rem 0.55rem; border-radius: 99px; background: var(--wash); color: var(--accent);
  font: 0.8rem/1.6 var(--mono); overflow-wrap: anywhere; }
.scope.free { background: var(--soft); color: var(--dim); font-family: var(--sans); }
.need, .old { font: 600 0.76rem/1.5 var(--sans); letter-spacing: 0; color: var(--put); }
.old { color: var(--delete); }

.scroll { container-type: inline-size; overflow-x: auto; margin-top: 0.5rem; }
table { width: 100%; table-layout: fixed; border-collapse: collapse; font-size: 0.92rem; line-height: 1.5; }
tr { border-top: 1px solid var(--line); }
th, td { padding: 0.7rem 0; vertical-align: top; text-align: left; font-weight: 400; }
th { width: clamp(8rem, 32cqi, 12.5rem); padding-right: 1rem; overflow-wrap: anywhere; }
th > code:not(.chip) { font-weight: 600; font-size: 0.86rem; }
td > :first-child { margin-top: 0; }
td p { margin-top: 0.3rem; }
th .need, th .old { display: block; }
.line { color: var(--dim); }
.line i { font-style: normal; color: var(--edge); }
.type { font: 0.82rem/1.5 var(--mono); }
.fact { color: var(--dim); font-size: 0.9rem; }
.chip { display: inline-block; padding: 0.05em 0.4em; border: 1px solid var(--line); border-radius: 4px;
  background: var(--soft); color: var(--ink); font-size: 0.8rem; overflow-wrap: anywhere; }
.chip.error { color: var(--delete); }
@container (max-width: 30rem) {
  tbody, tr, th, td { display: block; width: auto; }
  table { display: block; }
  th { padding: 0.7rem 0 0; }
  td { padding-top: 0.15rem; }
  th .need, th .old { display: inline; margin-left: 0.4rem; }
}
.fold { margin-top: 0.35rem; font-size: 0.92rem; }
.fold > summary { width: fit-content; padding: 0.15rem 0; color: var(--accent); }
.fold > .scroll { padding: 0 0.9rem; border: 1px solid var(--line); border-radius: 8px; }
.fold > .scroll > table > tbody > tr:first-child { border-top: 0; }
.answers { padding: 0; list-style: none; }
.answers > li { padding: 0.75rem 0; border-top: 1px solid var(--line); }
.answers > li > div > p { margin-top: 0.25rem; font-size: 0.92rem; }
.status { display: inline-flex; align-items: baseline; gap: 0.5rem; font-weight: 600; font-size: 0.88rem;
  color: var(--tone, var(--dim)); }
.status::before { content: ''; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: currentColor; }
.s2 { --tone: var(--post); } .s3 { --tone: var(--get); } .s4 { --tone: var(--put); } .s5 { --tone: var(--delete); }
.cards { padding: 0; list-style: none; }
.cards > li { margin-top: 1rem; padding: 1rem 1.1rem; border: 1px solid var(--line); border-radius: 10px; }
.cards h3 { font-size: 1rem; }
.cards .dim { margin-top: 0; font-size: 0.9rem; }
.files { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; }

.shown { margin: 0 0 1rem; border: 1px solid var(--code-line); border-radius: 10px; overflow: hidden;
  background: var(--code); color: var(--code-ink); color-scheme: dark;
  --post: #79cf92; --get: #7db8f2; --put: #e8b066; --delete: #f59a9a; --dim: #a9bdb7; --accent: #65cfbf; }
.caption { margin: 0; padding: 0.5rem 1rem; background: var(--code-head); color: var(--code-dim); font-size: 0.82rem; }
.shown pre { max-height: 28rem; margin: 0; padding: 0.9rem 1rem; overflow: auto; scrollbar-width: thin;
  font-size: 0.82rem; line-height: 1.6; }
.shown pre code { font-size: inherit; }
.shown :focus-visible { outline-offset: -2px; border-radius: 9px; }
.shown details + details { border-top: 1px solid var(--code-line); }
.shown summary { padding: 0.5rem 1rem; font-size: 0.85rem; color: var(--code-dim); }
.key { color: #8fd6c8; } .str { color: #f0cf8e; } .lit { color: #a9c4ff; }

@media (min-width: 62rem) {
  html { scroll-padding-top: 1.5rem; }
  header { position: fixed; left: 0; width: 17.5rem; height: 4.25rem; background: var(--soft); border: 0;
    border-right: 1px solid var(--line); }
  .jump, .menu { display: none; }
  nav.side { display: block; position: fixed; top: 4.25rem; bottom: 0; left: 0; width: 17.5rem; overflow-y: auto;
    padding: 0.25rem 0.5rem 2rem; background: var(--soft); border-right: 1px solid var(--line); }
  main { margin-left: 17.5rem; padding: 0 3rem 6rem; }
  main > section, .group { max-width: 80rem; }
}
@media (min-width: 78rem) {
  .split { grid-template-columns: minmax(0, 1fr) minmax(0, 28.5rem); gap: 3.25rem; }
  .split > aside { position: sticky; top: 1.5rem; align-self: start; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print {
  :root { color-scheme: light; }
  header, nav.side, .menu, .skip { display: none; }
  main { margin: 0; padding: 0; }
  .split { display: block; }
  .split > aside { position: static; margin-top: 1rem; }
  .shown, .shown .caption { background: none; color: #000; border-color: #999; }
  .shown pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .shown span { color: inherit; }
  details::details-content { content-visibility: visible; block-size: auto; }
  h2, h3, h4, .route { break-after: avoid; }
  tr, figure { break-inside: avoid; }
}
`
