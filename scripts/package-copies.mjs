/** What the tarball of a package contains from other folders: [path in the repository, path in the package]. */
export const copies = {
  // One installation of the server has every command, so it contains the client's command line.
  server: [
    ['LICENSE', 'LICENSE'],
    ['web/dist', 'web'],
    ['client/bin', 'client/bin'],
    ['client/dist', 'client/dist'],
  ],
  client: [['LICENSE', 'LICENSE']],
}

/** The files and folders of the package that exist only while it is packed. */
export const copiedRoots = (name) => [...new Set(copies[name].map(([, to]) => to.split('/')[0]))]
