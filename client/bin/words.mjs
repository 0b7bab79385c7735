/** The first words of the commands that speak to a server through its API. */
export const words = ['assets', 'locations', 'where', 'import', 'export', 'login', 'whoami']
