/** The first words of the commands that speak to a server through its API. */
export const words = ['assets', 'locations', 'where', 'import', 'export', 'login', 'whoami']

/** Who works with a server through its API gets the client, who runs one the server: both are called `lastseen`. */
export const isForClient = (args) => words.includes(args.find((one) => !one.startsWith('-')))
