export const commandNames: readonly string[]
