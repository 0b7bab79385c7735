export const words: readonly string[]
