import { listOf, oneOf, object, text } from '../http/validation/fields.ts'
import { maxTagsPerRecord, tagTypes } from '../tags/tag.ts'

/** Field rules of a record, shared by all APIs and imports. */
export const keyField = text({ min: 1, max: 255 })
export const nameField = text({ min: 1, max: 255 })
export const descriptionField = text({ max: 1024, lineBreaks: true })

export const tagValue = text({ min: 1, max: 255 })

export const tagBody = {
  tag_type: oneOf(tagTypes),
  value: tagValue,
}

export const tagDraftsField = listOf(object(tagBody), { max: maxTagsPerRecord })
