/** As in package.json, which a browser cannot read; a test holds them together. */
export const version = '0.1.0'
