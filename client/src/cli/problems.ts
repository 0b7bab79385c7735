/** The words or options do not make sense: exit code 2. */
export class UsageError extends Error {}

/** Something is not as it was asked for, and the server is not to blame: exit code 1. */
export class CommandError extends Error {}
