/** Made from server/openapi/natural-key.json by scripts/api-types.mjs. */

export interface paths {
    "/api/v1/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a credential or a refresh token for an access token
         * @description A refresh token can be used once: store the new one. Using it again revokes all refresh tokens of its family. After too many failures the response is 429.
         */
        post: operations["oauth.token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the organization of the credential
         * @description Returns the organization and scopes of the credential to which the token belongs.
         */
        get: operations["orgs.me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inventory/save": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record that assets are at a location
         * @description An operator’s sighting: it takes precedence over reads of the same minute. All assets are saved, or none; duplicates count once. The body may be up to 4 MiB.
         */
        post: operations["inventory.save"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all assets
         * @description Every live asset, whether it is valid now or not, by id. All rows are of one snapshot: changes during the download are not seen. If the export fails midway, the server breaks the connection, so a response that ends normally is complete.
         */
        get: operations["bulk.assets.export"];
        put?: never;
        /**
         * Create and update many assets
         * @description Starts a job that applies the rows by `external_key`, in one transaction. A body has at most 64 MiB and 200000 rows: one JSON object per line, a JSON array of objects, or a CSV file. The rules and the columns are those of the web app's import; read-only fields of exports are ignored. With `on_error=abort`, a row with an error fails the job and nothing is changed; with `skip`, the other rows are applied. A dry run only checks the rows.
         */
        post: operations["bulk.assets.import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/locations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all locations
         * @description Every live location, whether it is valid now or not, by id. All rows are of one snapshot: changes during the download are not seen. If the export fails midway, the server breaks the connection, so a response that ends normally is complete.
         */
        get: operations["bulk.locations.export"];
        put?: never;
        /**
         * Create and update many locations
         * @description Starts a job that applies the rows by `external_key`, in one transaction. A body has at most 64 MiB and 200000 rows: one JSON object per line, a JSON array of objects, or a CSV file. The rules and the columns are those of the web app's import; read-only fields of exports are ignored. With `on_error=abort`, a row with an error fails the job and nothing is changed; with `skip`, the other rows are applied. A dry run only checks the rows.
         */
        post: operations["bulk.locations.import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state, counts and progress of a bulk job
         * @description Jobs are kept for a day. One of the two scopes suffices: a job of assets requires `assets:write`, a job of locations `locations:write`.
         */
        get: operations["bulk.jobs.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/jobs/{job_id}/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the errors of a bulk job by line
         * @description The first 10000 errors, up to 1 MiB. One of the two scopes suffices: a job of assets requires `assets:write`, a job of locations `locations:write`.
         */
        get: operations["bulk.jobs.errors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the location history of all assets
         * @description One row per recorded minute of every live asset, by asset and time; deleted assets are left out. `from` and `to` are inclusive. A download takes half an hour at most: export a long history in periods. All rows are of one snapshot: changes during the download are not seen. If the export fails midway, the server breaks the connection, so a response that ends normally is complete.
         */
        get: operations["bulk.history.export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/moves": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all moves
         * @description Every move, oldest first. `from` and `to` are inclusive and compared with `occurred_at`. All rows are of one snapshot: changes during the download are not seen. If the export fails midway, the server breaks the connection, so a response that ends normally is complete.
         */
        get: operations["bulk.moves.export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream moves and reader activity
         * @description Server-sent events of the organization; docs/live.md is the guide.
         *
         *     - `move`: an asset moved. `data` is a Move. Deduplicate by `delivery_id`.
         *     - `readers`: readers were active. `data` is {}.
         *     - `gap`: events may be missing; read the report or the moves again. `data` is {}. It is the last event of a stream that
         *       the server ends because the client reads too slowly and more than 64 KiB are buffered for it.
         *
         *     A comment is sent when the stream opens and every 15 seconds. A client that reconnects with the `id` of the last event in
         *     `Last-Event-ID` gets the moves since then, at most 10000 of the last 24 hours; otherwise `gap` says that they are
         *     not sent. Moves of the ten seconds before that event may come again.
         */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List assets
         * @description Lists assets that are valid now.
         */
        get: operations["assets.list"];
        put?: never;
        /**
         * Create an asset
         * @description If `identifier` is absent, the service generates one, such as `ASSET-0001`.
         */
        post: operations["assets.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an asset */
        get: operations["assets.get"];
        /**
         * Update an asset
         * @description Only fields present in the body change. `metadata` is replaced as a whole.
         */
        put: operations["assets.update"];
        post?: never;
        /**
         * Delete an asset
         * @description Soft delete: queries no longer return the asset, and its key and identifiers can be reused at once.
         */
        delete: operations["assets.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets/{identifier}/identifiers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Attach an identifier to an asset */
        post: operations["assets.identifiers.attach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets/{identifier}/identifiers/{identifierId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Detach an identifier from an asset */
        delete: operations["assets.identifiers.detach"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List locations
         * @description Lists locations that are valid now.
         */
        get: operations["locations.list"];
        put?: never;
        /**
         * Create a location
         * @description If `parent_identifier` is absent, the location is a root.
         */
        post: operations["locations.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a location */
        get: operations["locations.get"];
        /**
         * Update a location
         * @description Only fields present in the body change.
         */
        put: operations["locations.update"];
        post?: never;
        /**
         * Delete a location
         * @description Rejected with 409 while the location has live descendants or assets.
         */
        delete: operations["locations.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/{identifier}/identifiers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Attach an identifier to a location */
        post: operations["locations.identifiers.attach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/{identifier}/identifiers/{identifierId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Detach an identifier from a location */
        delete: operations["locations.identifiers.detach"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/{identifier}/ancestors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the ancestors of a location
         * @description From the root down to the parent.
         */
        get: operations["locations.ancestors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/{identifier}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the children of a location
         * @description By name.
         */
        get: operations["locations.children"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/{identifier}/descendants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the descendants of a location
         * @description Depth-first, siblings by identifier.
         */
        get: operations["locations.descendants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets/{identifier}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the location history of an asset
         * @description One item per recorded minute.
         */
        get: operations["assets.history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/locations/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the current location of each asset
         * @description Lists assets that are valid now.
         */
        get: operations["locations.current"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "access_token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ…",
         *       "refresh_token": "lsr_1ka9.0b8c2a52-…",
         *       "token_type": "Bearer",
         *       "expires_in": 900
         *     }
         */
        Token: {
            access_token: string;
            refresh_token: string;
            token_type: string;
            expires_in: number;
        };
        /**
         * @example {
         *       "id": 2241503377195508,
         *       "name": "Northwind Logistics",
         *       "scopes": [
         *         "assets:read",
         *         "tracking:read"
         *       ],
         *       "api_key_id": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11"
         *     }
         */
        Organization: {
            /** Format: int64 */
            id: number;
            name: string;
            scopes: ("assets:read" | "assets:write" | "locations:read" | "locations:write" | "tracking:read" | "tracking:write" | "scans:read" | "keys:admin" | "webhooks:admin" | "members:admin" | (string & {}))[];
            /** Format: uuid */
            api_key_id: string;
        };
        /**
         * @example {
         *       "count": 2,
         *       "location_id": 7710249930581042,
         *       "location_name": "Dock 3",
         *       "timestamp": "2026-05-04T08:15:02.120Z"
         *     }
         */
        InventorySaved: {
            count: number;
            /** Format: int64 */
            location_id: number;
            location_name: string;
            /** Format: date-time */
            timestamp: string;
        };
        /**
         * @example {
         *       "external_key": "PJ-7",
         *       "name": "Pallet jack 7",
         *       "tags": [
         *         {
         *           "tag_type": "barcode",
         *           "value": "4006381333931"
         *         }
         *       ]
         *     }
         */
        BulkAssetRow: {
            external_key: string;
            /** @description Required when the row creates a record. */
            name?: string;
            description?: string | null;
            /** @description Merged as by PATCH. */
            metadata?: {
                [key: string]: unknown;
            };
            is_active?: boolean;
            /** Format: date-time */
            valid_from?: string;
            /** Format: date-time */
            valid_to?: string | null;
            tags?: {
                tag_type: "rfid" | "ble" | "barcode" | (string & {});
                value: string;
            }[];
        };
        /**
         * @example {
         *       "external_key": "HALL-A-1",
         *       "name": "Shelf 1",
         *       "parent_external_key": "HALL-A"
         *     }
         */
        BulkLocationRow: {
            external_key: string;
            /** @description Required when the row creates a record. */
            name?: string;
            description?: string | null;
            parent_external_key?: string | null;
            is_active?: boolean;
            /** Format: date-time */
            valid_from?: string;
            /** Format: date-time */
            valid_to?: string | null;
            tags?: {
                tag_type: "rfid" | "ble" | "barcode" | (string & {});
                value: string;
            }[];
        };
        /**
         * @example {
         *       "id": 3390415586620914,
         *       "kind": "assets",
         *       "state": "done",
         *       "mode": "upsert",
         *       "dry_run": false,
         *       "on_error": "skip",
         *       "rows": 3,
         *       "done_rows": 3,
         *       "created": 1,
         *       "updated": 1,
         *       "unchanged": 0,
         *       "failed": 1,
         *       "errors_total": 1,
         *       "reason": null,
         *       "created_at": "2026-05-04T08:15:02.120Z",
         *       "finished_at": "2026-05-04T08:15:03.200Z"
         *     }
         */
        BulkJob: {
            /** Format: int64 */
            id: number;
            kind: "assets" | "locations" | (string & {});
            /** @description waiting: other jobs of the organization run first. done: the rows are applied, or only checked by a dry run. failed: nothing was changed. */
            state: "waiting" | "running" | "done" | "failed" | (string & {});
            mode: "create" | "update" | "upsert" | (string & {});
            dry_run: boolean;
            on_error: "abort" | "skip" | (string & {});
            /**
             * Format: int64
             * @description The rows of the request.
             */
            rows: number;
            /**
             * Format: int64
             * @description The rows that are processed so far.
             */
            done_rows: number;
            /** Format: int64 */
            created: number;
            /** Format: int64 */
            updated: number;
            /** Format: int64 */
            unchanged: number;
            /**
             * Format: int64
             * @description The rows with errors.
             */
            failed: number;
            /**
             * Format: int64
             * @description A row may have several errors.
             */
            errors_total: number;
            /** @description Why the whole job failed. */
            reason: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            finished_at: string | null;
        };
        /**
         * @example {
         *       "line": 4,
         *       "field": "name",
         *       "message": "name is required"
         *     }
         */
        BulkError: {
            /**
             * Format: int64
             * @description The line of the body, or the position in the JSON array; the first is 1. 0: the error concerns the whole job and is its `reason`.
             */
            line: number;
            /** @description Empty when the error concerns the whole row. */
            field: string;
            message: string;
        };
        /**
         * @example {
         *       "id": 4503170118275611,
         *       "external_key": "PJ-7",
         *       "name": "Pallet jack 7",
         *       "description": null,
         *       "metadata": {
         *         "owner": "dock 3"
         *       },
         *       "is_active": true,
         *       "valid_from": "2026-05-04T08:00:00.000Z",
         *       "valid_to": null,
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "updated_at": "2026-05-04T08:15:30.250Z",
         *       "tags": [
         *         {
         *           "id": 6021874402113355,
         *           "tag_type": "rfid",
         *           "value": "E28011700000020A1B2C3D4E"
         *         }
         *       ]
         *     }
         */
        BulkAsset: {
            /** Format: int64 */
            id: number;
            external_key: string;
            name: string;
            description: string | null;
            metadata: {
                [key: string]: unknown;
            };
            is_active: boolean;
            /** Format: date-time */
            valid_from: string;
            /** Format: date-time */
            valid_to: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            tags: {
                /** Format: int64 */
                id: number;
                tag_type: "rfid" | "ble" | "barcode" | (string & {});
                value: string;
            }[];
        };
        /**
         * @example {
         *       "id": 7710249930581042,
         *       "external_key": "HALL-A",
         *       "name": "Hall A",
         *       "description": null,
         *       "parent_id": null,
         *       "parent_external_key": null,
         *       "is_active": true,
         *       "valid_from": "2026-05-04T08:00:00.000Z",
         *       "valid_to": null,
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "updated_at": "2026-05-04T08:15:30.250Z",
         *       "tags": []
         *     }
         */
        BulkLocation: {
            /** Format: int64 */
            id: number;
            external_key: string;
            name: string;
            description: string | null;
            /** Format: int64 */
            parent_id: number | null;
            parent_external_key: string | null;
            is_active: boolean;
            /** Format: date-time */
            valid_from: string;
            /** Format: date-time */
            valid_to: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            tags: {
                /** Format: int64 */
                id: number;
                tag_type: "rfid" | "ble" | "barcode" | (string & {});
                value: string;
            }[];
        };
        /**
         * @example {
         *       "asset_id": 4503170118275611,
         *       "asset_external_key": "PJ-7",
         *       "asset_name": "Pallet jack 7",
         *       "event_observed_at": "2026-05-04T08:15:02.120Z",
         *       "location_external_key": "DOCK-3",
         *       "location_name": "Dock 3",
         *       "duration_seconds": 5402
         *     }
         */
        BulkHistoryRow: {
            /** Format: int64 */
            asset_id: number;
            asset_external_key: string;
            asset_name: string;
            /** Format: date-time */
            event_observed_at: string;
            location_external_key: string | null;
            location_name: string | null;
            /** Format: int64 */
            duration_seconds: number | null;
        };
        /**
         * @example {
         *       "delivery_id": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11",
         *       "occurred_at": "2026-05-04T08:15:02.120Z",
         *       "asset": {
         *         "id": 4503170118275611,
         *         "external_key": "ASSET-0001",
         *         "name": "Pallet jack 7"
         *       },
         *       "from_location": null,
         *       "to_location": {
         *         "id": 7710249930581042,
         *         "name": "Dock 3"
         *       }
         *     }
         */
        Move: {
            /** Format: uuid */
            delivery_id: string;
            /** Format: date-time */
            occurred_at: string;
            asset: {
                /** Format: int64 */
                id: number;
                external_key: string;
                name: string;
            };
            from_location: {
                /** Format: int64 */
                id: number;
                name: string;
            } | null;
            to_location: {
                /** Format: int64 */
                id: number;
                name: string;
            };
        };
        /**
         * @example {
         *       "surrogate_id": 4503170118275611,
         *       "identifier": "ASSET-0001",
         *       "name": "Pallet jack 7",
         *       "type": "asset",
         *       "current_location": "DOCK-3",
         *       "is_active": true,
         *       "metadata": {
         *         "owner": "dock 3"
         *       },
         *       "valid_from": "2026-05-04T08:00:00.000Z",
         *       "valid_to": null,
         *       "identifiers": [
         *         {
         *           "id": 6021874402113355,
         *           "type": "rfid",
         *           "value": "E28011700000020A1B2C3D4E",
         *           "is_active": true
         *         }
         *       ],
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "updated_at": "2026-05-04T08:15:30.250Z"
         *     }
         */
        Asset: {
            /** Format: int64 */
            surrogate_id: number;
            identifier: string;
            name: string;
            description?: string;
            /** @enum {string} */
            type: "asset" | "person" | "inventory";
            /** @description Where it was last seen; absent when that is nowhere. */
            current_location?: string;
            is_active: boolean;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            valid_from: string;
            /**
             * Format: date-time
             * @description null means no expiry.
             */
            valid_to: string | null;
            identifiers: components["schemas"]["Identifier"][];
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Advances on every accepted write.
             */
            updated_at: string;
        };
        /**
         * @example {
         *       "surrogate_id": 7710249930581042,
         *       "identifier": "DOCK-3",
         *       "name": "Dock 3",
         *       "parent_identifier": "HALL-A",
         *       "parent": "HALL-A",
         *       "path": "HALL-A/DOCK-3",
         *       "depth": 1,
         *       "is_active": true,
         *       "valid_from": "2026-05-04T08:00:00.000Z",
         *       "valid_to": null,
         *       "identifiers": [],
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "updated_at": "2026-05-04T08:15:30.250Z"
         *     }
         */
        Location: {
            /** Format: int64 */
            surrogate_id: number;
            identifier: string;
            name: string;
            description?: string;
            /** @description Absent at a root. */
            parent_identifier?: string;
            /** @description The same as `parent_identifier`. */
            parent?: string;
            /** @description The identifiers from the root down, joined by `/`. */
            path: string;
            /** @description 0 at a root. */
            depth: number;
            is_active: boolean;
            /** Format: date-time */
            valid_from: string;
            /**
             * Format: date-time
             * @description null means no expiry.
             */
            valid_to: string | null;
            identifiers: components["schemas"]["Identifier"][];
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Advances on every accepted write.
             */
            updated_at: string;
        };
        /**
         * @example {
         *       "id": 6021874402113355,
         *       "type": "rfid",
         *       "value": "E28011700000020A1B2C3D4E",
         *       "is_active": true
         *     }
         */
        Identifier: {
            /** Format: int64 */
            id: number;
            /** @enum {string} */
            type: "rfid" | "ble" | "barcode";
            value: string;
            is_active: boolean;
        };
        /**
         * @example {
         *       "timestamp": "2026-05-04T08:15:02.120Z",
         *       "location": "DOCK-3",
         *       "duration_seconds": 5402
         *     }
         */
        HistoryItem: {
            /** Format: date-time */
            timestamp: string;
            /** @description Absent when it was seen at no location, or at a location deleted since. */
            location?: string;
            /** @description Whole seconds at the previous item’s location; absent on the earliest. */
            duration_seconds?: number;
        };
        /**
         * @example {
         *       "asset": "ASSET-0001",
         *       "location": "DOCK-3",
         *       "last_seen": "2026-05-04T08:15:02.120Z"
         *     }
         */
        CurrentLocation: {
            asset: string;
            /** @description Absent when it was seen at no location, or at a location deleted since. */
            location?: string;
            /** Format: date-time */
            last_seen: string;
        };
        /**
         * @example {
         *       "name": "ERP sync",
         *       "scopes": [
         *         "assets:read"
         *       ],
         *       "expires_at": null
         *     }
         */
        APIKeyCreate: {
            name: string;
            scopes: ("assets:read" | "assets:write" | "locations:read" | "locations:write" | "tracking:read" | "tracking:write" | "scans:read" | (string & {}))[];
            /** Format: date-time */
            expires_at?: string | null;
        };
        /**
         * @example {
         *       "id": 3390415586620914,
         *       "jti": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11",
         *       "key": "ls_5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99",
         *       "name": "ERP sync",
         *       "scopes": [
         *         "assets:read"
         *       ],
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "expires_at": null
         *     }
         */
        APIKeyCreated: {
            /** Format: int64 */
            id: number;
            /** Format: uuid */
            jti: string;
            key: string;
            name: string;
            scopes: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string | null;
        };
        /**
         * @example {
         *       "id": 3390415586620914,
         *       "jti": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11",
         *       "name": "ERP sync",
         *       "scopes": [
         *         "assets:read"
         *       ],
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "expires_at": null,
         *       "last_used_at": "2026-05-04T09:12:00.000Z",
         *       "created_by": 5120093347718820,
         *       "created_by_key_id": null
         *     }
         */
        APIKeyListItem: {
            /** Format: int64 */
            id: number;
            /** Format: uuid */
            jti: string;
            name: string;
            scopes: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string | null;
            /** Format: date-time */
            last_used_at: string | null;
            /** Format: int64 */
            created_by: number | null;
            /** Format: int64 */
            created_by_key_id: number | null;
        };
        TokenRequest: {
            grant_type: "client_credentials" | "refresh_token" | (string & {});
            client_id?: string;
            client_secret?: string;
            refresh_token?: string;
        };
        InventorySave: {
            location_identifier: string;
            asset_identifiers: string[];
        };
        AssetCreate: {
            identifier?: string;
            name: string;
            description?: string | null;
            /** @enum {string} */
            type?: "asset" | "person" | "inventory";
            /** @description Places the asset there now, as an operator’s save would. */
            current_location?: string;
            is_active?: boolean;
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Omit the key rather than sending null.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description null means no expiry.
             */
            valid_to?: string | null;
            identifiers?: {
                /**
                 * @default rfid
                 * @enum {string}
                 */
                type: "rfid" | "ble" | "barcode";
                value: string;
            }[];
        };
        AssetUpdate: {
            identifier?: string;
            name?: string;
            description?: string | null;
            /** @enum {string} */
            type?: "asset" | "person" | "inventory";
            /** @description Places the asset there now, as an operator’s save would. */
            current_location?: string;
            is_active?: boolean;
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Omit the key rather than sending null.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description null means no expiry.
             */
            valid_to?: string | null;
        };
        IdentifierAttach: {
            /**
             * @default rfid
             * @enum {string}
             */
            type: "rfid" | "ble" | "barcode";
            value: string;
        };
        LocationCreate: {
            identifier: string;
            name: string;
            description?: string | null;
            /** @description null makes it a root. */
            parent_identifier?: string | null;
            is_active?: boolean;
            /**
             * Format: date-time
             * @description Omit the key rather than sending null.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description null means no expiry.
             */
            valid_to?: string | null;
            identifiers?: {
                /**
                 * @default rfid
                 * @enum {string}
                 */
                type: "rfid" | "ble" | "barcode";
                value: string;
            }[];
        };
        LocationUpdate: {
            identifier?: string;
            name?: string;
            description?: string | null;
            /** @description null makes it a root. */
            parent_identifier?: string | null;
            is_active?: boolean;
            /**
             * Format: date-time
             * @description Omit the key rather than sending null.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description null means no expiry.
             */
            valid_to?: string | null;
        };
        Error: {
            error: {
                /** @description Identifies the error. */
                type: "validation_error" | "bad_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "gone" | "unsupported_media_type" | "missing_org_context" | "rate_limited" | "internal_error" | (string & {});
                /** @description Fixed per type. */
                title: string;
                /** @description The HTTP status code. */
                status: number;
                /** @description Human-readable; the wording may change. */
                detail: string;
                /** @description The request path. */
                instance: string;
                /** @description Equals the X-Request-ID header. */
                request_id: string;
                fields?: components["schemas"]["FieldProblem"][];
            };
        };
        FieldProblem: {
            field: string;
            code: "required" | "invalid_value" | "unknown_field" | "invalid_context" | "too_short" | "too_long" | "too_small" | "too_large" | "fk_not_found" | "ambiguous_fields" | "read_only" | (string & {});
            message: string;
            params?: {
                [key: string]: unknown;
            };
        };
    };
    responses: {
        /** @description Validation failed or Bad request */
        400: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "validation_error",
                 *         "title": "Validation failed",
                 *         "status": 400,
                 *         "detail": "name is required",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4",
                 *         "fields": [
                 *           {
                 *             "field": "name",
                 *             "code": "required",
                 *             "message": "name is required"
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Unauthorized */
        401: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                /** @description How to authenticate. */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "unauthorized",
                 *         "title": "Unauthorized",
                 *         "status": 401,
                 *         "detail": "Invalid or expired token",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Forbidden */
        403: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "forbidden",
                 *         "title": "Forbidden",
                 *         "status": 403,
                 *         "detail": "Missing required scope: assets:write",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Not found */
        404: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "not_found",
                 *         "title": "Not found",
                 *         "status": 404,
                 *         "detail": "Asset not found",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Conflict */
        409: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "conflict",
                 *         "title": "Conflict",
                 *         "status": 409,
                 *         "detail": "A tag with this type and value already exists",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Unsupported media type */
        415: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "unsupported_media_type",
                 *         "title": "Unsupported media type",
                 *         "status": 415,
                 *         "detail": "Content-Type must be application/json",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Missing org context */
        422: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "missing_org_context",
                 *         "title": "Missing org context",
                 *         "status": 422,
                 *         "detail": "The credential does not belong to an organization",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Rate limited */
        429: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                /** @description Whole seconds to wait, at least 1. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "rate_limited",
                 *         "title": "Rate limited",
                 *         "status": 429,
                 *         "detail": "Rate limit exceeded; retry after 1 second",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Internal server error */
        500: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "internal_error",
                 *         "title": "Internal server error",
                 *         "status": 500,
                 *         "detail": "An unexpected error occurred",
                 *         "instance": "/api/v1/assets",
                 *         "request_id": "01JBX3V5T8Q9Z2R4W6Y8A0C2E4"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The value that the client sent, otherwise a new ULID. */
        "X-Request-ID": string;
        /** @description Quota and window in seconds. */
        "RateLimit-Policy": string;
        /** @description Capacity of the bucket. */
        "X-RateLimit-Limit": number;
        /** @description Requests left in the bucket. */
        "X-RateLimit-Remaining": number;
        /** @description Unix time in seconds at which the bucket is full again. */
        "X-RateLimit-Reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "oauth.token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "client_id": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11",
                 *       "client_secret": "ls_5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99"
                 *     }
                 */
                "application/json": components["schemas"]["TokenRequest"];
            };
        };
        responses: {
            /** @description A token pair */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ…",
                     *       "refresh_token": "lsr_1ka9.0b8c2a52-…",
                     *       "token_type": "Bearer",
                     *       "expires_in": 900
                     *     }
                     */
                    "application/json": components["schemas"]["Token"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "orgs.me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The organization */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 2241503377195508,
                     *         "name": "Northwind Logistics",
                     *         "scopes": [
                     *           "assets:read",
                     *           "tracking:read"
                     *         ],
                     *         "api_key_id": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Organization"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "inventory.save": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "location_identifier": "DOCK-3",
                 *       "asset_identifiers": [
                 *         "ASSET-0001",
                 *         "PJ-7"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["InventorySave"];
            };
        };
        responses: {
            /** @description Saved */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "count": 2,
                     *         "location_id": 7710249930581042,
                     *         "location_name": "Dock 3",
                     *         "timestamp": "2026-05-04T08:15:02.120Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["InventorySaved"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.assets.export": {
        parameters: {
            query?: {
                /** @description Without it, the Accept header decides; NDJSON is the default. */
                format?: "ndjson" | "csv" | (string & {});
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON object per line, or a CSV file */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 4503170118275611,
                     *       "external_key": "PJ-7",
                     *       "name": "Pallet jack 7",
                     *       "description": null,
                     *       "metadata": {
                     *         "owner": "dock 3"
                     *       },
                     *       "is_active": true,
                     *       "valid_from": "2026-05-04T08:00:00.000Z",
                     *       "valid_to": null,
                     *       "created_at": "2026-05-04T08:00:00.000Z",
                     *       "updated_at": "2026-05-04T08:15:30.250Z",
                     *       "tags": [
                     *         {
                     *           "id": 6021874402113355,
                     *           "tag_type": "rfid",
                     *           "value": "E28011700000020A1B2C3D4E"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/x-ndjson": components["schemas"]["BulkAsset"];
                    /**
                     * @example external_key,name,tags
                     *     PJ-7,Pallet jack 7,barcode:4006381333931
                     */
                    "text/csv": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.assets.import": {
        parameters: {
            query?: {
                /** @description Whether rows may create records, update existing ones, or both. */
                mode?: "create" | "update" | "upsert" | (string & {});
                /** @description Whether the job only checks the rows and reports what it would do. */
                dry_run?: boolean;
                /** @description What a row with an error does. */
                on_error?: "abort" | "skip" | (string & {});
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters. For 24 hours, the same request with the same key returns the same job; another request with the key is 409. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "external_key": "PJ-7",
                 *       "name": "Pallet jack 7",
                 *       "tags": [
                 *         {
                 *           "tag_type": "barcode",
                 *           "value": "4006381333931"
                 *         }
                 *       ]
                 *     }
                 */
                "application/x-ndjson": components["schemas"]["BulkAssetRow"];
                /**
                 * @example [
                 *       {
                 *         "external_key": "PJ-7",
                 *         "name": "Pallet jack 7",
                 *         "tags": [
                 *           {
                 *             "tag_type": "barcode",
                 *             "value": "4006381333931"
                 *           }
                 *         ]
                 *       }
                 *     ]
                 */
                "application/json": components["schemas"]["BulkAssetRow"][];
                /**
                 * @example external_key,name,tags
                 *     PJ-7,Pallet jack 7,barcode:4006381333931
                 */
                "text/csv": string;
            };
        };
        responses: {
            /** @description The job */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description Path of the job. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 3390415586620914,
                     *         "kind": "assets",
                     *         "state": "waiting",
                     *         "mode": "upsert",
                     *         "dry_run": false,
                     *         "on_error": "abort",
                     *         "rows": 3,
                     *         "done_rows": 0,
                     *         "created": 0,
                     *         "updated": 0,
                     *         "unchanged": 0,
                     *         "failed": 0,
                     *         "errors_total": 0,
                     *         "reason": null,
                     *         "created_at": "2026-05-04T08:15:02.120Z",
                     *         "finished_at": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["BulkJob"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.locations.export": {
        parameters: {
            query?: {
                /** @description Without it, the Accept header decides; NDJSON is the default. */
                format?: "ndjson" | "csv" | (string & {});
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON object per line, or a CSV file */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 7710249930581042,
                     *       "external_key": "HALL-A",
                     *       "name": "Hall A",
                     *       "description": null,
                     *       "parent_id": null,
                     *       "parent_external_key": null,
                     *       "is_active": true,
                     *       "valid_from": "2026-05-04T08:00:00.000Z",
                     *       "valid_to": null,
                     *       "created_at": "2026-05-04T08:00:00.000Z",
                     *       "updated_at": "2026-05-04T08:15:30.250Z",
                     *       "tags": []
                     *     }
                     */
                    "application/x-ndjson": components["schemas"]["BulkLocation"];
                    /**
                     * @example external_key,name,parent_external_key
                     *     HALL-A-1,Shelf 1,HALL-A
                     */
                    "text/csv": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.locations.import": {
        parameters: {
            query?: {
                /** @description Whether rows may create records, update existing ones, or both. */
                mode?: "create" | "update" | "upsert" | (string & {});
                /** @description Whether the job only checks the rows and reports what it would do. */
                dry_run?: boolean;
                /** @description What a row with an error does. */
                on_error?: "abort" | "skip" | (string & {});
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters. For 24 hours, the same request with the same key returns the same job; another request with the key is 409. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "external_key": "HALL-A-1",
                 *       "name": "Shelf 1",
                 *       "parent_external_key": "HALL-A"
                 *     }
                 */
                "application/x-ndjson": components["schemas"]["BulkLocationRow"];
                /**
                 * @example [
                 *       {
                 *         "external_key": "HALL-A-1",
                 *         "name": "Shelf 1",
                 *         "parent_external_key": "HALL-A"
                 *       }
                 *     ]
                 */
                "application/json": components["schemas"]["BulkLocationRow"][];
                /**
                 * @example external_key,name,parent_external_key
                 *     HALL-A-1,Shelf 1,HALL-A
                 */
                "text/csv": string;
            };
        };
        responses: {
            /** @description The job */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description Path of the job. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 3390415586620914,
                     *         "kind": "locations",
                     *         "state": "waiting",
                     *         "mode": "upsert",
                     *         "dry_run": false,
                     *         "on_error": "abort",
                     *         "rows": 3,
                     *         "done_rows": 0,
                     *         "created": 0,
                     *         "updated": 0,
                     *         "unchanged": 0,
                     *         "failed": 0,
                     *         "errors_total": 0,
                     *         "reason": null,
                     *         "created_at": "2026-05-04T08:15:02.120Z",
                     *         "finished_at": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["BulkJob"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.jobs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 3390415586620914,
                     *         "kind": "assets",
                     *         "state": "done",
                     *         "mode": "upsert",
                     *         "dry_run": false,
                     *         "on_error": "skip",
                     *         "rows": 3,
                     *         "done_rows": 3,
                     *         "created": 1,
                     *         "updated": 1,
                     *         "unchanged": 0,
                     *         "failed": 1,
                     *         "errors_total": 1,
                     *         "reason": null,
                     *         "created_at": "2026-05-04T08:15:02.120Z",
                     *         "finished_at": "2026-05-04T08:15:03.200Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["BulkJob"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.jobs.errors": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of errors */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "line": 4,
                     *           "field": "name",
                     *           "message": "name is required"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["BulkError"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.history.export": {
        parameters: {
            query?: {
                /** @description Without it, the Accept header decides; NDJSON is the default. */
                format?: "ndjson" | "csv" | (string & {});
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON object per line, or a CSV file */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "asset_id": 4503170118275611,
                     *       "asset_external_key": "PJ-7",
                     *       "asset_name": "Pallet jack 7",
                     *       "event_observed_at": "2026-05-04T08:15:02.120Z",
                     *       "location_external_key": "DOCK-3",
                     *       "location_name": "Dock 3",
                     *       "duration_seconds": 5402
                     *     }
                     */
                    "application/x-ndjson": components["schemas"]["BulkHistoryRow"];
                    /** @example asset_external_key,asset_name,event_observed_at,location_external_key,location_name,duration_seconds */
                    "text/csv": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "bulk.moves.export": {
        parameters: {
            query?: {
                /** @description Without it, the Accept header decides; NDJSON is the default. */
                format?: "ndjson" | "csv" | (string & {});
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON object per line, or a CSV file */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery_id": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11",
                     *       "occurred_at": "2026-05-04T08:15:02.120Z",
                     *       "asset": {
                     *         "id": 4503170118275611,
                     *         "external_key": "ASSET-0001",
                     *         "name": "Pallet jack 7"
                     *       },
                     *       "from_location": null,
                     *       "to_location": {
                     *         "id": 7710249930581042,
                     *         "name": "Dock 3"
                     *       }
                     *     }
                     */
                    "application/x-ndjson": components["schemas"]["Move"];
                    /** @example delivery_id,occurred_at,asset_external_key,asset_name,from_location_id,from_location_name,to_location_id,to_location_name */
                    "text/csv": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the last event that the client received. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of server-sent events */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example : watching
                     *
                     *     event: move
                     *     id: 1777882502120.0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11
                     *     data: {"delivery_id":"0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11","occurred_at":"2026-05-04T08:15:02.120Z","asset":{"id":4503170118275611,"external_key":"ASSET-0001","name":"Pallet jack 7"},"from_location":null,"to_location":{"id":7710249930581042,"name":"Dock 3"}}
                     */
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description The location where the asset was last seen. Repeat the parameter to match any of several locations. */
                location?: string[];
                is_active?: boolean;
                /** @description One of asset, person, inventory. */
                type?: string;
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
                /** @description Comma-separated; prefix `-` for descending. Fields: identifier, name, created_at, updated_at. */
                sort?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of assets */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "surrogate_id": 4503170118275611,
                     *           "identifier": "ASSET-0001",
                     *           "name": "Pallet jack 7",
                     *           "type": "asset",
                     *           "current_location": "DOCK-3",
                     *           "is_active": true,
                     *           "metadata": {
                     *             "owner": "dock 3"
                     *           },
                     *           "valid_from": "2026-05-04T08:00:00.000Z",
                     *           "valid_to": null,
                     *           "identifiers": [
                     *             {
                     *               "id": 6021874402113355,
                     *               "type": "rfid",
                     *               "value": "E28011700000020A1B2C3D4E",
                     *               "is_active": true
                     *             }
                     *           ],
                     *           "created_at": "2026-05-04T08:00:00.000Z",
                     *           "updated_at": "2026-05-04T08:15:30.250Z"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Asset"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifier": "PJ-7",
                 *       "name": "Pallet jack 7",
                 *       "identifiers": [
                 *         {
                 *           "type": "barcode",
                 *           "value": "4006381333931"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["AssetCreate"];
            };
        };
        responses: {
            /** @description The asset */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description Path of the new record. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "surrogate_id": 4503170118275611,
                     *         "identifier": "ASSET-0001",
                     *         "name": "Pallet jack 7",
                     *         "type": "asset",
                     *         "current_location": "DOCK-3",
                     *         "is_active": true,
                     *         "metadata": {
                     *           "owner": "dock 3"
                     *         },
                     *         "valid_from": "2026-05-04T08:00:00.000Z",
                     *         "valid_to": null,
                     *         "identifiers": [
                     *           {
                     *             "id": 6021874402113355,
                     *             "type": "rfid",
                     *             "value": "E28011700000020A1B2C3D4E",
                     *             "is_active": true
                     *           }
                     *         ],
                     *         "created_at": "2026-05-04T08:00:00.000Z",
                     *         "updated_at": "2026-05-04T08:15:30.250Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Asset"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The asset */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "surrogate_id": 4503170118275611,
                     *         "identifier": "ASSET-0001",
                     *         "name": "Pallet jack 7",
                     *         "type": "asset",
                     *         "current_location": "DOCK-3",
                     *         "is_active": true,
                     *         "metadata": {
                     *           "owner": "dock 3"
                     *         },
                     *         "valid_from": "2026-05-04T08:00:00.000Z",
                     *         "valid_to": null,
                     *         "identifiers": [
                     *           {
                     *             "id": 6021874402113355,
                     *             "type": "rfid",
                     *             "value": "E28011700000020A1B2C3D4E",
                     *             "is_active": true
                     *           }
                     *         ],
                     *         "created_at": "2026-05-04T08:00:00.000Z",
                     *         "updated_at": "2026-05-04T08:15:30.250Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Asset"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Pallet jack 7b"
                 *     }
                 */
                "application/json": components["schemas"]["AssetUpdate"];
            };
        };
        responses: {
            /** @description The asset */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "surrogate_id": 4503170118275611,
                     *         "identifier": "ASSET-0001",
                     *         "name": "Pallet jack 7",
                     *         "type": "asset",
                     *         "current_location": "DOCK-3",
                     *         "is_active": true,
                     *         "metadata": {
                     *           "owner": "dock 3"
                     *         },
                     *         "valid_from": "2026-05-04T08:00:00.000Z",
                     *         "valid_to": null,
                     *         "identifiers": [
                     *           {
                     *             "id": 6021874402113355,
                     *             "type": "rfid",
                     *             "value": "E28011700000020A1B2C3D4E",
                     *             "is_active": true
                     *           }
                     *         ],
                     *         "created_at": "2026-05-04T08:00:00.000Z",
                     *         "updated_at": "2026-05-04T08:15:30.250Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Asset"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.identifiers.attach": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "rfid",
                 *       "value": "E28011700000020A1B2C3D4E"
                 *     }
                 */
                "application/json": components["schemas"]["IdentifierAttach"];
            };
        };
        responses: {
            /** @description The identifier */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 6021874402113355,
                     *         "type": "rfid",
                     *         "value": "E28011700000020A1B2C3D4E",
                     *         "is_active": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Identifier"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.identifiers.detach": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
                identifierId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Detached */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Repeat the parameter to match any of several values. */
                parent?: string[];
                is_active?: boolean;
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
                /** @description Comma-separated; prefix `-` for descending. Fields: path, identifier, name, created_at. */
                sort?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of locations */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "surrogate_id": 7710249930581042,
                     *           "identifier": "DOCK-3",
                     *           "name": "Dock 3",
                     *           "parent_identifier": "HALL-A",
                     *           "parent": "HALL-A",
                     *           "path": "HALL-A/DOCK-3",
                     *           "depth": 1,
                     *           "is_active": true,
                     *           "valid_from": "2026-05-04T08:00:00.000Z",
                     *           "valid_to": null,
                     *           "identifiers": [],
                     *           "created_at": "2026-05-04T08:00:00.000Z",
                     *           "updated_at": "2026-05-04T08:15:30.250Z"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifier": "DOCK-3",
                 *       "name": "Dock 3",
                 *       "parent_identifier": "HALL-A"
                 *     }
                 */
                "application/json": components["schemas"]["LocationCreate"];
            };
        };
        responses: {
            /** @description The location */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description Path of the new record. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "surrogate_id": 7710249930581042,
                     *         "identifier": "DOCK-3",
                     *         "name": "Dock 3",
                     *         "parent_identifier": "HALL-A",
                     *         "parent": "HALL-A",
                     *         "path": "HALL-A/DOCK-3",
                     *         "depth": 1,
                     *         "is_active": true,
                     *         "valid_from": "2026-05-04T08:00:00.000Z",
                     *         "valid_to": null,
                     *         "identifiers": [],
                     *         "created_at": "2026-05-04T08:00:00.000Z",
                     *         "updated_at": "2026-05-04T08:15:30.250Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The location */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "surrogate_id": 7710249930581042,
                     *         "identifier": "DOCK-3",
                     *         "name": "Dock 3",
                     *         "parent_identifier": "HALL-A",
                     *         "parent": "HALL-A",
                     *         "path": "HALL-A/DOCK-3",
                     *         "depth": 1,
                     *         "is_active": true,
                     *         "valid_from": "2026-05-04T08:00:00.000Z",
                     *         "valid_to": null,
                     *         "identifiers": [],
                     *         "created_at": "2026-05-04T08:00:00.000Z",
                     *         "updated_at": "2026-05-04T08:15:30.250Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "parent_identifier": "HALL-B"
                 *     }
                 */
                "application/json": components["schemas"]["LocationUpdate"];
            };
        };
        responses: {
            /** @description The location */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "surrogate_id": 7710249930581042,
                     *         "identifier": "DOCK-3",
                     *         "name": "Dock 3",
                     *         "parent_identifier": "HALL-A",
                     *         "parent": "HALL-A",
                     *         "path": "HALL-A/DOCK-3",
                     *         "depth": 1,
                     *         "is_active": true,
                     *         "valid_from": "2026-05-04T08:00:00.000Z",
                     *         "valid_to": null,
                     *         "identifiers": [],
                     *         "created_at": "2026-05-04T08:00:00.000Z",
                     *         "updated_at": "2026-05-04T08:15:30.250Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.identifiers.attach": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "rfid",
                 *       "value": "E28011700000020A1B2C3D4E"
                 *     }
                 */
                "application/json": components["schemas"]["IdentifierAttach"];
            };
        };
        responses: {
            /** @description The identifier */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 6021874402113355,
                     *         "type": "rfid",
                     *         "value": "E28011700000020A1B2C3D4E",
                     *         "is_active": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Identifier"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.identifiers.detach": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
                identifierId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Detached */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.ancestors": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of locations */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "surrogate_id": 7710249930581042,
                     *           "identifier": "DOCK-3",
                     *           "name": "Dock 3",
                     *           "parent_identifier": "HALL-A",
                     *           "parent": "HALL-A",
                     *           "path": "HALL-A/DOCK-3",
                     *           "depth": 1,
                     *           "is_active": true,
                     *           "valid_from": "2026-05-04T08:00:00.000Z",
                     *           "valid_to": null,
                     *           "identifiers": [],
                     *           "created_at": "2026-05-04T08:00:00.000Z",
                     *           "updated_at": "2026-05-04T08:15:30.250Z"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.children": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of locations */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "surrogate_id": 7710249930581042,
                     *           "identifier": "DOCK-3",
                     *           "name": "Dock 3",
                     *           "parent_identifier": "HALL-A",
                     *           "parent": "HALL-A",
                     *           "path": "HALL-A/DOCK-3",
                     *           "depth": 1,
                     *           "is_active": true,
                     *           "valid_from": "2026-05-04T08:00:00.000Z",
                     *           "valid_to": null,
                     *           "identifiers": [],
                     *           "created_at": "2026-05-04T08:00:00.000Z",
                     *           "updated_at": "2026-05-04T08:15:30.250Z"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.descendants": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of locations */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "surrogate_id": 7710249930581042,
                     *           "identifier": "DOCK-3",
                     *           "name": "Dock 3",
                     *           "parent_identifier": "HALL-A",
                     *           "parent": "HALL-A",
                     *           "path": "HALL-A/DOCK-3",
                     *           "depth": 1,
                     *           "is_active": true,
                     *           "valid_from": "2026-05-04T08:00:00.000Z",
                     *           "valid_to": null,
                     *           "identifiers": [],
                     *           "created_at": "2026-05-04T08:00:00.000Z",
                     *           "updated_at": "2026-05-04T08:15:30.250Z"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Location"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "assets.history": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                from?: string;
                to?: string;
                /** @description Comma-separated; prefix `-` for descending. Fields: timestamp. */
                sort?: string;
            };
            header?: never;
            path: {
                /** @description The natural key, percent-encoded. */
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of history */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "timestamp": "2026-05-04T08:15:02.120Z",
                     *           "location": "DOCK-3",
                     *           "duration_seconds": 5402
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["HistoryItem"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "locations.current": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Repeat the parameter to match any of several values. */
                location?: string[];
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
                /** @description Comma-separated; prefix `-` for descending. Fields: last_seen, asset, location. */
                sort?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One item per scanned asset */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "asset": "ASSET-0001",
                     *           "location": "DOCK-3",
                     *           "last_seen": "2026-05-04T08:15:02.120Z"
                     *         }
                     *       ],
                     *       "limit": 50,
                     *       "offset": 0,
                     *       "total_count": 1
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CurrentLocation"][];
                        limit: number;
                        offset: number;
                        /** Format: int64 */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
}

export const routes = {
    "oauth.token": ["POST", "/api/v1/oauth/token"],
    "orgs.me": ["GET", "/api/v1/orgs/me"],
    "inventory.save": ["POST", "/api/v1/inventory/save"],
    "bulk.assets.import": ["POST", "/api/v1/bulk/assets"],
    "bulk.assets.export": ["GET", "/api/v1/bulk/assets"],
    "bulk.locations.import": ["POST", "/api/v1/bulk/locations"],
    "bulk.locations.export": ["GET", "/api/v1/bulk/locations"],
    "bulk.jobs.get": ["GET", "/api/v1/bulk/jobs/{job_id}"],
    "bulk.jobs.errors": ["GET", "/api/v1/bulk/jobs/{job_id}/errors"],
    "bulk.history.export": ["GET", "/api/v1/bulk/history"],
    "bulk.moves.export": ["GET", "/api/v1/bulk/moves"],
    "live": ["GET", "/api/v1/live"],
    "assets.list": ["GET", "/api/v1/assets"],
    "assets.create": ["POST", "/api/v1/assets"],
    "assets.get": ["GET", "/api/v1/assets/{identifier}"],
    "assets.update": ["PUT", "/api/v1/assets/{identifier}"],
    "assets.delete": ["DELETE", "/api/v1/assets/{identifier}"],
    "assets.identifiers.attach": ["POST", "/api/v1/assets/{identifier}/identifiers"],
    "assets.identifiers.detach": ["DELETE", "/api/v1/assets/{identifier}/identifiers/{identifierId}"],
    "locations.list": ["GET", "/api/v1/locations"],
    "locations.create": ["POST", "/api/v1/locations"],
    "locations.get": ["GET", "/api/v1/locations/{identifier}"],
    "locations.update": ["PUT", "/api/v1/locations/{identifier}"],
    "locations.delete": ["DELETE", "/api/v1/locations/{identifier}"],
    "locations.identifiers.attach": ["POST", "/api/v1/locations/{identifier}/identifiers"],
    "locations.identifiers.detach": ["DELETE", "/api/v1/locations/{identifier}/identifiers/{identifierId}"],
    "locations.ancestors": ["GET", "/api/v1/locations/{identifier}/ancestors"],
    "locations.children": ["GET", "/api/v1/locations/{identifier}/children"],
    "locations.descendants": ["GET", "/api/v1/locations/{identifier}/descendants"],
    "assets.history": ["GET", "/api/v1/assets/{identifier}/history"],
    "locations.current": ["GET", "/api/v1/locations/current"],
} as const;
