import { type CSSVariablesResolver, type MantineColorsTuple, createTheme, rem } from '@mantine/core'

const harbor: MantineColorsTuple = [
  '#e9f7f5',
  '#d3ede9',
  '#a6dad3',
  '#74c6bc',
  '#4bb5a8',
  '#2aa597',
  '#118d80',
  '#0a766c',
  '#095f58',
  '#084a44',
]

/** A cool grey for both color schemes. */
const gray: MantineColorsTuple = [
  '#f7f9fa',
  '#eff3f4',
  '#e3e9eb',
  '#d0d9dc',
  '#b4c0c4',
  '#87969c',
  '#5c6b71',
  '#465359',
  '#2c373c',
  '#192226',
]

const dark: MantineColorsTuple = [
  '#d5dee1',
  '#b3c0c5',
  '#93a2a8',
  '#5f6f76',
  '#3a474d',
  '#2b363b',
  '#212a2e',
  '#182023',
  '#11171a',
  '#0b1012',
]

/** A yellow with enough contrast for text on its light variant. */
const amber: MantineColorsTuple = [
  '#fff8e3',
  '#ffefc4',
  '#ffe08c',
  '#ffd04f',
  '#f2b71f',
  '#d6980a',
  '#b37a05',
  '#8a5b00',
  '#6d4700',
  '#553700',
]

const system =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', Arial, sans-serif"

export const theme = createTheme({
  primaryColor: 'harbor',
  primaryShade: { light: 7, dark: 7 },
  colors: { harbor, gray, dark, yellow: amber },
  fontFamily: system,
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'Liberation Mono', monospace",
  fontSizes: { xs: rem(12), sm: rem(13.5), md: rem(15), lg: rem(17), xl: rem(20) },
  headings: {
    fontFamily: system,
    fontWeight: '640',
    sizes: {
      h1: { fontSize: rem(22), lineHeight: '1.25' },
      h2: { fontSize: rem(16), lineHeight: '1.35' },
      h3: { fontSize: rem(14), lineHeight: '1.4' },
    },
  },
  black: '#17211f',
  radius: { xs: rem(3), sm: rem(5), md: rem(8), lg: rem(12), xl: rem(20) },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Paper: { defaultProps: { withBorder: true, radius: 'lg' } },
    Button: { defaultProps: { size: 'sm' } },
    Modal: {
      defaultProps: {
        centered: true,
        radius: 'lg',
        overlayProps: { backgroundOpacity: 0.45, blur: 2 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss the message' } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250 } },
    Table: { defaultProps: { verticalSpacing: rem(7), horizontalSpacing: 'sm' } },
    Anchor: { defaultProps: { underline: 'hover' } },
    Badge: { defaultProps: { variant: 'light', tt: 'none', fw: 550 } },
  },
})

/** The `light` variant of buttons and badges in the dark scheme: lighter than the card, with text in the same hue. */
const tinted = (color: string, background: string, hover: string, text: string): Record<string, string> => ({
  [`--mantine-color-${color}-light`]: background,
  [`--mantine-color-${color}-light-hover`]: hover,
  [`--mantine-color-${color}-light-color`]: text,
})

/** Text colors with WCAG AA contrast on every surface, and the surfaces of the app. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-dimmed': '#55656b',
    '--mantine-color-placeholder': '#66767c',
    '--mantine-color-default-border': '#dde5e7',
    '--mantine-color-anchor': '#09685f',
    '--mantine-color-error': '#c02b2b',
    '--page-surface': '#f5f8f8',
    '--soft-surface': '#f1f5f6',
    '--mark-line': '#0a766c',
  },
  dark: {
    '--mantine-color-body': '#151c1f',
    '--mantine-color-dimmed': '#9dacb2',
    '--mantine-color-placeholder': '#8b9aa0',
    '--mantine-color-default-border': '#2c383d',
    '--mantine-color-anchor': '#6fc9be',
    '--mantine-color-error': '#ff8f8f',
    '--page-surface': '#0f1517',
    '--soft-surface': '#1b2428',
    '--mark-line': '#4bb5a8',
    ...tinted('harbor', '#1a3633', '#20423e', '#9fe0d7'),
    ...tinted('gray', '#2a353a', '#333f45', '#cfd9dc'),
    ...tinted('yellow', '#3d3213', '#4a3d18', '#ffd976'),
    ...tinted('red', '#472322', '#552a29', '#ffb4b0'),
    ...tinted('blue', '#1b3350', '#213e61', '#a9d0ff'),
  },
})
