/** The command or its options are invalid: exit code 2. */
export class UsageError extends Error {}

/** The command failed for another reason than an error response of the server: exit code 1. */
export class CommandError extends Error {}
