/** The names of the commands that call a server through its API. */
export const commandNames = ['assets', 'locations', 'where', 'import', 'export', 'login', 'whoami']

/** `lastseen` runs these commands with the client and all others with the server. */
export const isForClient = (args) => commandNames.includes(args.find((arg) => !arg.startsWith('-')))
