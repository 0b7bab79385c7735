import { pick } from '../random.mjs'

const get = (path) => ({ method: 'GET', path })
const any = (sample, random) => pick(random, sample.ids)

/**
 * What is asked of an organization with much history. The answers are of one length whatever there is of it: an ordinary
 * asset has as many minutes in every size. `growthBar` is the most by which the median may grow.
 */
export const growthRequests = {
  history: {
    title: 'history, first page',
    growthBar: 1.5,
    ask: (sample, random) => get(`/assets/${any(sample, random)}/history?limit=50`),
  },
  'history-watched': {
    title: 'history, first page, of an asset with 100,000 minutes',
    growthBar: 1.5,
    ask: (sample) => get(`/assets/${sample.watched}/history?limit=50`),
  },
  'history-span': {
    title: 'history, three months of an ordinary asset',
    growthBar: null,
    ask: (sample, random) =>
      get(`/assets/${any(sample, random)}/history?limit=50&from=${sample.spanFrom}&to=${sample.spanTo}`),
  },
  'history-day': {
    title: 'history, one day of the asset with 100,000 minutes',
    growthBar: null,
    ask: (sample) => get(`/assets/${sample.watched}/history?limit=50&from=${sample.dayFrom}&to=${sample.dayTo}`),
  },
  report: {
    title: 'report, first page',
    growthBar: 1.5,
    ask: () => get('/reports/asset-locations?limit=50'),
  },
  'report-asset': {
    title: 'report of one asset',
    growthBar: 1.5,
    ask: (sample, random) => get(`/reports/asset-locations?asset_id=${any(sample, random)}`),
  },
  'report-asset-at': {
    title: 'report of one asset at a past moment',
    growthBar: null,
    ask: (sample, random) => get(`/reports/asset-locations?asset_id=${any(sample, random)}&at=${sample.at}`),
  },
  'location-history': {
    title: 'history of a location, first page',
    growthBar: null,
    ask: (sample, random) => get(`/locations/${pick(random, sample.places)}/history?limit=50`),
  },
  'location-day': {
    title: 'history of a location, one day',
    growthBar: null,
    ask: (sample, random) =>
      get(`/locations/${pick(random, sample.places)}/history?limit=50&from=${sample.moveFrom}&to=${sample.moveTo}`),
  },
  /** It looks at every asset, so it is asked by one caller and now and then. */
  'report-at': {
    title: 'report at a past moment, first page, one caller',
    growthBar: null,
    isSlow: true,
    ask: (sample) => get(`/reports/asset-locations?limit=50&at=${sample.at}`),
  },
}
