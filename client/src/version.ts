/** The version of this package. It repeats package.json, which a browser cannot read; a test compares them. */
export const version = '1.0.0'
