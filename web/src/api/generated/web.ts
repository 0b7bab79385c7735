/** Made from server/openapi/web.json by scripts/api-types.mjs. */

export interface paths {
    "/api/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in */
        post: operations["auth.login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign up and create an organization */
        post: operations["auth.signup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a refresh token for a new token pair */
        post: operations["auth.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the signed-in user */
        get: operations["auth.me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign out */
        post: operations["auth.logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout-everywhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out everywhere
         * @description Ends every session of the user, in every organization.
         */
        post: operations["auth.logout-everywhere"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/switch-org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch to another organization */
        post: operations["auth.switch-org"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description Ends every other session of the user.
         */
        post: operations["auth.password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a password reset link
         * @description The response is the same whether or not the address has an account.
         */
        post: operations["auth.password-reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password-reset/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with a reset link
         * @description A link works once, within an hour. Ends every session of the user.
         */
        post: operations["auth.password-reset.confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/email-confirmation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail the link that confirms the e-mail address again
         * @description Sends nothing if the address is confirmed already.
         */
        post: operations["auth.email-confirmation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/email-confirmation/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an e-mail address with a link
         * @description A link works for seven days.
         */
        post: operations["auth.email-confirmation.confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export everything that is stored about the signed-in user
         * @description NDJSON: the account, the memberships, and in every organization of the user the sessions, saved views, API keys
         *     that the user created, and notes that the user wrote. A file without the last line, `{"end": true, …}`, is incomplete.
         */
        get: operations["auth.export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List members */
        get: operations["members.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description Ends the member’s sessions in this organization and keeps the account. The last admin cannot be removed.
         */
        delete: operations["members.delete"];
        options?: never;
        head?: never;
        /**
         * Change the role of a member
         * @description Applies from the member’s next request on. The last admin cannot be demoted.
         */
        patch: operations["members.patch"];
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List open invitations */
        get: operations["invitations.list"];
        put?: never;
        /** Invite a user; the link is shown only once */
        post: operations["invitations.invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Withdraw an invitation */
        delete: operations["invitations.withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/invitations/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look up an invitation by its link */
        post: operations["auth.invitations.lookup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation with a new account, or with the password of the existing account
         * @description A new account needs a password of at least 10 characters.
         */
        post: operations["auth.invitations.accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/{org_id}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List API keys */
        get: operations["api-keys.list"];
        put?: never;
        /** Create an API key; its secret is shown only once */
        post: operations["api-keys.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/{org_id}/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["api-keys.revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List readers */
        get: operations["readers.list"];
        put?: never;
        /** Create a reader; its token is shown only once */
        post: operations["readers.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/{reader_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a reader */
        get: operations["readers.get"];
        put?: never;
        post?: never;
        /** Delete a reader; its token stops working */
        delete: operations["readers.delete"];
        options?: never;
        head?: never;
        /** Update a reader; scan points and smoothing are replaced as a whole */
        patch: operations["readers.patch"];
        trace?: never;
    };
    "/api/v1/readers/{reader_id}/connection": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the connection settings of a reader, without its token */
        get: operations["readers.connection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/{reader_id}/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the token of a reader; the new one is shown only once
         * @description Without an overlap, the old token stops working at once, and the MQTT connection of the reader is closed.
         */
        post: operations["readers.rotate-token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tags that were read but are not attached to a record */
        get: operations["readers.inbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/inbox/assets/{asset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Attach an unknown tag to an asset
         * @description The last read of the tag is recorded as a sighting of the asset.
         */
        post: operations["readers.inbox.attach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/inbox/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an asset with an unknown tag
         * @description The last read of the tag is recorded as a sighting of the asset.
         */
        post: operations["readers.inbox.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/unknown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List topics of the external broker that belong to no reader
         * @description The service cannot tell to which organization such a topic belongs. It therefore shows the topics only to the organization in `LASTSEEN_UNKNOWN_READERS_ORG`, or to the only organization of the installation.
         */
        get: operations["readers.unknown"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readers/{reader_id}/reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the latest reads of a reader, newest first
         * @description At most 50. They are collected in memory while a client requests them at least every 30 seconds.
         */
        get: operations["readers.reads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks; there is at most one */
        get: operations["webhooks.list"];
        put?: never;
        /** Create the webhook; its secret is shown only once */
        post: operations["webhooks.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the webhook */
        get: operations["webhooks.get"];
        put?: never;
        post?: never;
        /** Delete the webhook */
        delete: operations["webhooks.delete"];
        options?: never;
        head?: never;
        /** Change the URL, or enable or disable delivery */
        patch: operations["webhooks.patch"];
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test event */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the delivery attempts of the last seven days, newest first */
        get: operations["webhooks.attempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count the assets at each location */
        get: operations["overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/unseen-assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List assets that have not been seen for a while, longest unseen first */
        get: operations["assets.unseen"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/never-seen-assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List assets that have never been seen */
        get: operations["assets.never-seen"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets-at-location": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the assets that were last seen at one of the locations or below it */
        get: operations["assets.at-location"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assets-by-last-seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List assets in the order in which they were last seen
         * @description The latest come first; with `sort=last_seen_at` the longest unseen. Assets that were never seen are at the end.
         */
        get: operations["assets.by-last-seen"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count what needs attention
         * @description Webhooks and imports are reported only to roles that may manage them.
         */
        get: operations["attention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/moves": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the latest moves, newest first */
        get: operations["moves.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/move-counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the moves of the last days per quarter of an hour
         * @description Quarters of an hour without moves are omitted.
         */
        get: operations["moves.counts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/asset-stays/{asset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the stays of an asset, latest first
         * @description A stay is a run of history rows at one location. It ends with the first row elsewhere. `began_earlier` means that it began before the period, with the last row before it. `notes` are what operators wrote when they set the location, latest first: the latest 100 of a stay, and the latest 1000 of a page.
         */
        get: operations["assets.stays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sightings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record that assets are at a location, with an optional note
         * @description The same as `POST /inventory/save`, for the signed-in user. The note is part of the history of each asset.
         */
        post: operations["sightings.save"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search assets, locations, readers and tags */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/codes/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve scanned codes to assets and locations
         * @description A code matches a tag of any type first, then the key of an asset, then the key of a location.
         */
        post: operations["codes.resolve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reports/dwell": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how long assets stayed at each location
         * @description The 1,000 locations with the most minutes.
         */
        get: operations["reports.dwell"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reports/flow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how often assets moved from one location to another
         * @description The 1,000 busiest pairs of locations.
         */
        get: operations["reports.flow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reports/assets-per-location": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how many assets were at each location at an instant
         * @description The 1,000 locations with the most assets.
         */
        get: operations["reports.assets-per-location"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports/assets.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export all assets, or those with the given ids */
        get: operations["exports.assets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports/locations.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export all locations */
        get: operations["exports.locations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports/history.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export the location history of assets */
        get: operations["exports.history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports/positions.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export the current or past location of each scanned asset */
        get: operations["exports.positions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an import
         * @description An organization has a bounded number of imports. At the limit, a new import replaces an import that has ended or was idle for an hour; without such an import the request is 409.
         */
        post: operations["imports.open"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the state of an import */
        get: operations["imports.get"];
        put?: never;
        post?: never;
        /** Delete an import */
        delete: operations["imports.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{import_id}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add rows; a row with the same line number is replaced
         * @description The check reports a row with `error`, which stands for a line that could not be read, like a row with an invalid field. An import accepts any number of requests, at most 200000 rows and 64 MiB in total.
         */
        post: operations["imports.rows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{import_id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate the rows and count the changes they would make
         * @description An organization checks or runs one import at a time; its other imports are `waiting` meanwhile.
         */
        post: operations["imports.check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{import_id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Apply all rows or none; with skip_errors, apply the valid rows */
        post: operations["imports.run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the quotas of the organization and their use */
        get: operations["quotas.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the saved views of the signed-in user */
        get: operations["views.list"];
        put?: never;
        /** Save a view; the user’s view of the same name is replaced */
        post: operations["views.save"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views/{view_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a saved view */
        delete: operations["views.delete"];
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
         *       "id": 2251799813685311,
         *       "name": "Northwind",
         *       "role": "admin"
         *     }
         */
        SessionOrganization: {
            /** Format: int64 */
            id: number;
            name: string;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
        };
        /**
         * @example {
         *       "id": 5120093347718820,
         *       "email": "ada@example.com",
         *       "email_confirmed": true,
         *       "role": "admin",
         *       "org": {
         *         "id": 2251799813685311,
         *         "name": "Northwind",
         *         "role": "admin"
         *       },
         *       "orgs": [
         *         {
         *           "id": 2251799813685311,
         *           "name": "Northwind",
         *           "role": "admin"
         *         }
         *       ]
         *     }
         */
        SessionUser: {
            /** Format: int64 */
            id: number;
            /** Format: email */
            email: string;
            email_confirmed: boolean;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
            org: components["schemas"]["SessionOrganization"];
            orgs: components["schemas"]["SessionOrganization"][];
        };
        /**
         * @example {
         *       "access_token": "eyJ…",
         *       "refresh_token": "lsr_…",
         *       "token_type": "Bearer",
         *       "expires_in": 900,
         *       "user": {
         *         "id": 5120093347718820,
         *         "email": "ada@example.com",
         *         "email_confirmed": true,
         *         "role": "admin",
         *         "org": {
         *           "id": 2251799813685311,
         *           "name": "Northwind",
         *           "role": "admin"
         *         },
         *         "orgs": [
         *           {
         *             "id": 2251799813685311,
         *             "name": "Northwind",
         *             "role": "admin"
         *           }
         *         ]
         *       }
         *     }
         */
        Session: {
            access_token: string;
            refresh_token: string;
            token_type: string;
            /** Format: int64 */
            expires_in: number;
            user: components["schemas"]["SessionUser"];
        };
        /**
         * @example {
         *       "user_id": 5120093347718820,
         *       "email": "ada@example.com",
         *       "role": "admin",
         *       "joined_at": "2026-05-04T08:00:00.000Z"
         *     }
         */
        Member: {
            /** Format: int64 */
            user_id: number;
            /** Format: email */
            email: string;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
            /** Format: date-time */
            joined_at: string;
        };
        /**
         * @example {
         *       "id": 3390415586620914,
         *       "email": "grace@example.com",
         *       "role": "operator",
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "expires_at": "2026-05-11T08:00:00.000Z"
         *     }
         */
        Invitation: {
            /** Format: int64 */
            id: number;
            /** Format: email */
            email: string;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        /**
         * @example {
         *       "id": 3390415586620914,
         *       "email": "grace@example.com",
         *       "role": "operator",
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "expires_at": "2026-05-11T08:00:00.000Z",
         *       "link": "https://track.example.com/join#token=…"
         *     }
         */
        NewInvitation: {
            /** Format: int64 */
            id: number;
            /** Format: email */
            email: string;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            link: string;
        };
        /**
         * @example {
         *       "email": "grace@example.com",
         *       "role": "operator",
         *       "organization_name": "Northwind",
         *       "has_account": false
         *     }
         */
        InvitationOffer: {
            /** Format: email */
            email: string;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
            organization_name: string;
            has_account: boolean;
        };
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
        /**
         * @example {
         *       "id": 8120449930581042,
         *       "name": "Gate 1",
         *       "format": "auto",
         *       "clock": "reader",
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "last_seen_at": null,
         *       "messages": 0,
         *       "reads": 0,
         *       "ignored": 0,
         *       "warning": null,
         *       "smoothing": null,
         *       "scan_points": [
         *         {
         *           "antenna": 1,
         *           "location_id": 7710249930581042,
         *           "location_external_key": "DOCK-3"
         *         }
         *       ],
         *       "unknown_antennas": []
         *     }
         */
        Reader: {
            /** Format: int64 */
            id: number;
            name: string;
            format: string;
            clock: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_seen_at: string | null;
            /** Format: int64 */
            messages: number;
            /** Format: int64 */
            reads: number;
            /** Format: int64 */
            ignored: number;
            warning: string | null;
            smoothing: {
                /** Format: int64 */
                reads: number;
                /** Format: int64 */
                seconds: number;
                /** Format: int64 */
                margin_db: number | null;
            } | null;
            scan_points: {
                antenna: number;
                /** Format: int64 */
                location_id: number | null;
                location_external_key: string | null;
            }[];
            unknown_antennas: {
                antenna: number;
                /** Format: int64 */
                reads: number;
            }[];
        };
        /**
         * @example {
         *       "id": 8120449930581042,
         *       "name": "Gate 1",
         *       "format": "auto",
         *       "clock": "reader",
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "last_seen_at": null,
         *       "messages": 0,
         *       "reads": 0,
         *       "ignored": 0,
         *       "warning": null,
         *       "smoothing": null,
         *       "scan_points": [
         *         {
         *           "antenna": 1,
         *           "location_id": 7710249930581042,
         *           "location_external_key": "DOCK-3"
         *         }
         *       ],
         *       "unknown_antennas": [],
         *       "token": "lsd_…",
         *       "previous_token_expires_at": null,
         *       "ingest_url": "https://track.example.com/ingest/v1/reads",
         *       "mqtt": {
         *         "url": "mqtt://track.example.com:1883",
         *         "username": "8120449930581042",
         *         "topic": "lastseen/3f…/reads",
         *         "password": "lsd_…"
         *       }
         *     }
         */
        NewReader: {
            /** Format: int64 */
            id: number;
            name: string;
            format: string;
            clock: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_seen_at: string | null;
            /** Format: int64 */
            messages: number;
            /** Format: int64 */
            reads: number;
            /** Format: int64 */
            ignored: number;
            warning: string | null;
            smoothing: {
                /** Format: int64 */
                reads: number;
                /** Format: int64 */
                seconds: number;
                /** Format: int64 */
                margin_db: number | null;
            } | null;
            scan_points: {
                antenna: number;
                /** Format: int64 */
                location_id: number | null;
                location_external_key: string | null;
            }[];
            unknown_antennas: {
                antenna: number;
                /** Format: int64 */
                reads: number;
            }[];
            token: string;
            /** Format: date-time */
            previous_token_expires_at: string | null;
            ingest_url: string;
            mqtt: {
                url: string | null;
                username: string;
                topic: string;
                password: string;
            };
        };
        /**
         * @example {
         *       "ingest_url": "https://track.example.com/ingest/v1/reads",
         *       "mqtt": {
         *         "url": "mqtt://track.example.com:1883",
         *         "username": "8120449930581042",
         *         "topic": "lastseen/3f…/reads"
         *       }
         *     }
         */
        ReaderConnection: {
            ingest_url: string;
            mqtt: {
                url: string | null;
                username: string;
                topic: string;
            };
        };
        /**
         * @example {
         *       "tag_type": "rfid",
         *       "value": "E28011700000020A1B2C3D4E",
         *       "reader_id": 8120449930581042,
         *       "antenna": 1,
         *       "reads": 12,
         *       "first_seen_at": "2026-05-04T08:00:00.000Z",
         *       "last_seen_at": "2026-05-04T08:15:02.120Z"
         *     }
         */
        UnknownTag: {
            tag_type: "rfid" | "ble" | "barcode" | (string & {});
            value: string;
            /** Format: int64 */
            reader_id: number | null;
            antenna: number | null;
            /** Format: int64 */
            reads: number;
            /** Format: date-time */
            first_seen_at: string;
            /** Format: date-time */
            last_seen_at: string;
        };
        /**
         * @example {
         *       "reason": null,
         *       "topics": [
         *         {
         *           "topic": "lastseen/dock-3/reads",
         *           "topic_key": "dock-3",
         *           "messages": 12,
         *           "first_seen_at": "2026-05-04T08:00:00.000Z",
         *           "last_seen_at": "2026-05-04T08:15:02.120Z"
         *         }
         *       ]
         *     }
         */
        UnknownReaders: {
            reason: "several_organizations" | (string & {}) | null;
            topics: {
                topic: string;
                topic_key: string | null;
                /** Format: int64 */
                messages: number;
                /** Format: date-time */
                first_seen_at: string;
                /** Format: date-time */
                last_seen_at: string;
            }[];
        };
        /**
         * @example {
         *       "asset_id": 4503170118275611,
         *       "last_read_at": "2026-05-04T08:15:02.120Z"
         *     }
         */
        AttachedTag: {
            /** Format: int64 */
            asset_id: number;
            /** Format: date-time */
            last_read_at: string | null;
        };
        /**
         * @example {
         *       "tag_type": "rfid",
         *       "value": "E28011700000020A1B2C3D4E",
         *       "antenna": 1,
         *       "rssi_dbm": -57.5,
         *       "observed_at": "2026-05-04T08:15:02.120Z",
         *       "received_at": "2026-05-04T08:15:02.480Z",
         *       "owner": {
         *         "kind": "asset",
         *         "id": 4503170118275611,
         *         "name": "Pallet jack 7"
         *       }
         *     }
         */
        LatestRead: {
            tag_type: "rfid" | "ble" | "barcode" | (string & {});
            value: string;
            antenna: number;
            rssi_dbm: number | null;
            /** Format: date-time */
            observed_at: string | null;
            /** Format: date-time */
            received_at: string;
            owner: {
                kind: "asset" | "location" | (string & {});
                /** Format: int64 */
                id: number;
                name: string;
            } | null;
        };
        /**
         * @example {
         *       "id": 6620093347718820,
         *       "url": "https://hooks.example.com/lastseen",
         *       "enabled": true,
         *       "secret_masked": "whsec_••••••••9f3A",
         *       "failing_since": null,
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "updated_at": "2026-05-04T08:00:00.000Z"
         *     }
         */
        Webhook: {
            /** Format: int64 */
            id: number;
            url: string;
            enabled: boolean;
            secret_masked: string;
            /** Format: date-time */
            failing_since: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "id": 6620093347718820,
         *       "url": "https://hooks.example.com/lastseen",
         *       "enabled": true,
         *       "secret_masked": "whsec_••••••••9f3A",
         *       "failing_since": null,
         *       "created_at": "2026-05-04T08:00:00.000Z",
         *       "updated_at": "2026-05-04T08:00:00.000Z",
         *       "secret": "whsec_…"
         *     }
         */
        NewWebhook: {
            /** Format: int64 */
            id: number;
            url: string;
            enabled: boolean;
            secret_masked: string;
            /** Format: date-time */
            failing_since: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            secret: string;
        };
        /**
         * @example {
         *       "status": 200,
         *       "error": null,
         *       "duration_ms": 41
         *     }
         */
        WebhookTest: {
            /** Format: int64 */
            status: number | null;
            error: string | null;
            /** Format: int64 */
            duration_ms: number;
        };
        /**
         * @example {
         *       "delivery_id": "0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11",
         *       "event": "asset.moved",
         *       "attempt": 1,
         *       "attempted_at": "2026-05-04T08:15:02.120Z",
         *       "status": 200,
         *       "error": null,
         *       "duration_ms": 41
         *     }
         */
        WebhookAttempt: {
            /** Format: uuid */
            delivery_id: string;
            event: string;
            /** Format: int64 */
            attempt: number;
            /** Format: date-time */
            attempted_at: string;
            /** Format: int64 */
            status: number | null;
            error: string | null;
            /** Format: int64 */
            duration_ms: number;
        };
        /**
         * @example {
         *       "assets_total": 0,
         *       "seen_total": 0,
         *       "unseen_after_hours": 24,
         *       "unseen_total": 0,
         *       "locations": []
         *     }
         */
        Overview: {
            /** Format: int64 */
            assets_total: number;
            /** Format: int64 */
            seen_total: number;
            /** Format: int64 */
            unseen_after_hours: number;
            /** Format: int64 */
            unseen_total: number;
            locations: {
                /** Format: int64 */
                location_id: number;
                /** Format: int64 */
                parent_id: number | null;
                name: string;
                external_key: string;
                /** Format: int64 */
                here: number;
                /** Format: int64 */
                here_with_subtree: number;
            }[];
        };
        /**
         * @example {
         *       "asset_id": 4503170118275611,
         *       "external_key": "ASSET-0001",
         *       "name": "Pallet jack 7",
         *       "location_id": null,
         *       "location_name": null,
         *       "last_seen_at": "2026-05-04T08:15:02.120Z"
         *     }
         */
        UnseenAsset: {
            /** Format: int64 */
            asset_id: number;
            external_key: string;
            name: string;
            /** Format: int64 */
            location_id: number | null;
            location_name: string | null;
            /** Format: date-time */
            last_seen_at: string;
        };
        /**
         * @example {
         *       "asset_id": 4503170118275611,
         *       "external_key": "ASSET-0001",
         *       "name": "Pallet jack 7",
         *       "created_at": "2026-05-04T08:15:02.120Z"
         *     }
         */
        NeverSeenAsset: {
            /** Format: int64 */
            asset_id: number;
            external_key: string;
            name: string;
            /** Format: date-time */
            created_at: string;
        };
        /**
         * @example {
         *       "id": 4503170118275611,
         *       "external_key": "ASSET-0001",
         *       "name": "Pallet jack 7",
         *       "is_active": true,
         *       "updated_at": "2026-05-04T08:15:30.250Z",
         *       "tag_count": 1
         *     }
         */
        AssetAtLocation: {
            /** Format: int64 */
            id: number;
            external_key: string;
            name: string;
            is_active: boolean;
            /** Format: date-time */
            updated_at: string;
            /** Format: int64 */
            tag_count: number;
        };
        /**
         * @example {
         *       "silent_readers": 0,
         *       "unassigned_tags": 0,
         *       "webhook_is_failing": false,
         *       "failed_imports": []
         *     }
         */
        Attention: {
            /** Format: int64 */
            silent_readers: number;
            /** Format: int64 */
            unassigned_tags: number;
            webhook_is_failing: boolean;
            failed_imports: {
                /** Format: int64 */
                id: number;
                kind: "assets" | "locations" | (string & {});
                /** Format: date-time */
                failed_at: string;
            }[];
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
         *       "at": "2026-05-04T08:15:00.000Z",
         *       "moves": 12
         *     }
         */
        MoveCount: {
            /** Format: date-time */
            at: string;
            /** Format: int64 */
            moves: number;
        };
        /**
         * @example {
         *       "location_id": 7710249930581042,
         *       "location_external_key": "DOCK-3",
         *       "location_name": "Dock 3",
         *       "began_at": "2026-05-04T08:15:02.120Z",
         *       "began_earlier": false,
         *       "ended_at": null,
         *       "last_seen_at": "2026-05-04T09:02:40.000Z",
         *       "minutes": 31,
         *       "notes": [
         *         {
         *           "noted_at": "2026-05-04T09:02:40.000Z",
         *           "noted_by": "ada@example.com",
         *           "location_id": 7710249930581042,
         *           "location_name": "Dock 3",
         *           "note": "Left wheel is broken"
         *         }
         *       ]
         *     }
         */
        Stay: {
            /** Format: int64 */
            location_id: number | null;
            location_external_key: string | null;
            location_name: string | null;
            /** Format: date-time */
            began_at: string;
            began_earlier: boolean;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: date-time */
            last_seen_at: string;
            /** Format: int64 */
            minutes: number;
            notes: {
                /** Format: date-time */
                noted_at: string;
                noted_by: string | null;
                /** Format: int64 */
                location_id: number | null;
                location_name: string | null;
                note: string;
            }[];
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
         *       "id": 7710249930581042,
         *       "external_key": "DOCK-3",
         *       "name": "Dock 3"
         *     }
         */
        SearchHit: {
            /** Format: int64 */
            id: number;
            external_key: string;
            name: string;
        };
        /**
         * @example {
         *       "id": 4503170118275611,
         *       "external_key": "ASSET-0001",
         *       "name": "Pallet jack 7",
         *       "location_id": 7710249930581042,
         *       "location_name": "Dock 3",
         *       "last_seen_at": "2026-05-04T08:00:00.000Z"
         *     }
         */
        SearchAssetHit: {
            /** Format: int64 */
            id: number;
            external_key: string;
            name: string;
            /** Format: int64 */
            location_id: number | null;
            location_name: string | null;
            /** Format: date-time */
            last_seen_at: string | null;
        };
        /**
         * @example {
         *       "id": 8120449930581042,
         *       "name": "Gate 1",
         *       "last_seen_at": null
         *     }
         */
        SearchReaderHit: {
            /** Format: int64 */
            id: number;
            name: string;
            /** Format: date-time */
            last_seen_at: string | null;
        };
        /**
         * @example {
         *       "id": 6021874402113355,
         *       "tag_type": "rfid",
         *       "value": "E28011700000020A1B2C3D4E",
         *       "asset_id": 4503170118275611,
         *       "location_id": null,
         *       "owner_key": "ASSET-0001",
         *       "owner_name": "Pallet jack 7",
         *       "last_seen_location": "Dock 3",
         *       "last_seen_at": "2026-05-04T08:00:00.000Z"
         *     }
         */
        SearchTagHit: {
            /** Format: int64 */
            id: number;
            tag_type: "rfid" | "ble" | "barcode" | (string & {});
            value: string;
            /** Format: int64 */
            asset_id: number | null;
            /** Format: int64 */
            location_id: number | null;
            owner_key: string;
            owner_name: string;
            last_seen_location: string | null;
            /** Format: date-time */
            last_seen_at: string | null;
        };
        /**
         * @example {
         *       "assets": [],
         *       "locations": [],
         *       "readers": [],
         *       "tags": []
         *     }
         */
        SearchResult: {
            assets: components["schemas"]["SearchAssetHit"][];
            locations: components["schemas"]["SearchHit"][];
            readers: components["schemas"]["SearchReaderHit"][];
            tags: components["schemas"]["SearchTagHit"][];
        };
        /**
         * @example {
         *       "code": "4006381333931",
         *       "kind": null,
         *       "id": null,
         *       "external_key": null,
         *       "name": null,
         *       "location_id": null,
         *       "location_name": null,
         *       "last_seen_at": null
         *     }
         */
        ResolvedCode: {
            code: string;
            kind: "asset" | "location" | (string & {}) | null;
            /** Format: int64 */
            id: number | null;
            external_key: string | null;
            name: string | null;
            /** Format: int64 */
            location_id: number | null;
            location_name: string | null;
            /** Format: date-time */
            last_seen_at: string | null;
        };
        /**
         * @example {
         *       "location_id": 7710249930581042,
         *       "external_key": "DOCK-3",
         *       "name": "Dock 3",
         *       "minutes": 480,
         *       "assets": 2,
         *       "visits": 3
         *     }
         */
        Dwell: {
            /** Format: int64 */
            location_id: number;
            external_key: string | null;
            name: string;
            /** Format: int64 */
            minutes: number;
            /** Format: int64 */
            assets: number;
            /** Format: int64 */
            visits: number;
        };
        /**
         * @example {
         *       "from_location_id": null,
         *       "from_name": null,
         *       "to_location_id": 7710249930581042,
         *       "to_name": "Dock 3",
         *       "moves": 12
         *     }
         */
        Flow: {
            /** Format: int64 */
            from_location_id: number | null;
            from_name: string | null;
            /** Format: int64 */
            to_location_id: number;
            to_name: string;
            /** Format: int64 */
            moves: number;
        };
        /**
         * @example {
         *       "location_id": 7710249930581042,
         *       "external_key": "DOCK-3",
         *       "name": "Dock 3",
         *       "assets": 12
         *     }
         */
        AssetsPerLocation: {
            /** Format: int64 */
            location_id: number | null;
            external_key: string | null;
            name: string | null;
            /** Format: int64 */
            assets: number;
        };
        /**
         * @example {
         *       "id": 3390415586620914
         *     }
         */
        NewImport: {
            /** Format: int64 */
            id: number;
        };
        /**
         * @example {
         *       "id": 3390415586620914,
         *       "kind": "assets",
         *       "state": "checked",
         *       "rows": 3,
         *       "creates": 1,
         *       "updates": 1,
         *       "unchanged": 0,
         *       "errors_total": 1,
         *       "errors": [
         *         {
         *           "line": 4,
         *           "field": "name",
         *           "message": "name is required"
         *         }
         *       ],
         *       "done_rows": 3
         *     }
         */
        Import: {
            /** Format: int64 */
            id: number;
            kind: "assets" | "locations" | (string & {});
            state: "open" | "waiting" | "checking" | "checked" | "running" | "done" | "failed" | (string & {});
            /** Format: int64 */
            rows: number;
            /** Format: int64 */
            creates: number;
            /** Format: int64 */
            updates: number;
            /** Format: int64 */
            unchanged: number;
            /** Format: int64 */
            errors_total: number;
            errors: {
                /** Format: int64 */
                line: number;
                field: string;
                message: string;
            }[];
            /** Format: int64 */
            done_rows: number;
        };
        /**
         * @example {
         *       "quota": "assets",
         *       "used": 1250,
         *       "limit": 2000000
         *     }
         */
        Quota: {
            quota: "assets" | "locations" | "readers" | "members" | "api_keys" | "imports" | "stored_bytes" | "live_streams" | "query_seconds" | (string & {});
            /** Format: int64 */
            used: number;
            /** Format: int64 */
            limit: number;
        };
        /**
         * @example {
         *       "id": 6120449930581042,
         *       "name": "Inactive at Dock 3",
         *       "search": "active=no&location=7710249930581042"
         *     }
         */
        SavedView: {
            /** Format: int64 */
            id: number;
            name: string;
            search: string;
        };
        Login: {
            /** Format: email */
            email: string;
            password: string;
        };
        Signup: {
            /** Format: email */
            email: string;
            password: string;
            organization_name: string;
        };
        SessionRefresh: {
            refresh_token: string;
        };
        SwitchOrg: {
            /** Format: int64 */
            org_id: number;
        };
        PasswordChange: {
            current_password: string;
            new_password: string;
        };
        PasswordReset: {
            /** Format: email */
            email: string;
        };
        PasswordResetConfirm: {
            token: string;
            new_password: string;
        };
        EmailConfirmation: {
            token: string;
        };
        MemberPatch: {
            role?: "viewer" | "operator" | "manager" | "admin" | (string & {});
        };
        InvitationCreate: {
            /** Format: email */
            email: string;
            role: "viewer" | "operator" | "manager" | "admin" | (string & {});
        };
        InvitationLookup: {
            token: string;
        };
        InvitationAccept: {
            token: string;
            password: string;
        };
        ReaderCreate: {
            name: string;
            format?: "auto" | "generic" | "csl" | "impinj" | "zebra-fixed" | "zebra-handheld" | "gl-s10" | "moko" | "minew" | "theengs" | (string & {});
            clock?: "reader" | "server" | "sent_at" | (string & {});
            smoothing?: {
                reads: number;
                seconds: number;
                margin_db?: number | null;
            } | null;
            scan_points?: {
                antenna: number;
                /** Format: int64 */
                location_id: number | null;
            }[];
            topic_key?: string;
        };
        ReaderPatch: {
            name?: string;
            format?: "auto" | "generic" | "csl" | "impinj" | "zebra-fixed" | "zebra-handheld" | "gl-s10" | "moko" | "minew" | "theengs" | (string & {});
            clock?: "reader" | "server" | "sent_at" | (string & {});
            smoothing?: {
                reads: number;
                seconds: number;
                margin_db?: number | null;
            } | null;
            scan_points?: {
                antenna: number;
                /** Format: int64 */
                location_id: number | null;
            }[];
        };
        UnknownTagAttach: {
            tag_type: "rfid" | "ble" | "barcode" | (string & {});
            value: string;
        };
        UnknownTagAsset: {
            name: string;
            tag_type: "rfid" | "ble" | "barcode" | (string & {});
            value: string;
        };
        WebhookCreate: {
            /** Format: uri */
            url: string;
            enabled?: boolean;
        };
        WebhookPatch: {
            /** Format: uri */
            url?: string;
            enabled?: boolean;
        };
        SightingsSave: {
            location_identifier: string;
            asset_identifiers: string[];
            note?: string | null;
        };
        CodesResolve: {
            codes: string[];
        };
        ImportCreate: {
            kind: "assets" | "locations" | (string & {});
        };
        ImportRows: {
            rows: {
                /** Format: int64 */
                line: number;
                error?: {
                    field: string;
                    message: string;
                };
                external_key?: string;
                name?: string;
                description?: string | null;
                metadata?: {
                    [key: string]: unknown;
                };
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
            }[];
        };
        ImportRun: {
            skip_errors: boolean;
        };
        SavedViewDraft: {
            name: string;
            search: string;
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
    "auth.login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description Signed in */
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
                    "application/json": {
                        data: components["schemas"]["Session"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["Signup"];
            };
        };
        responses: {
            /** @description Signed in */
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
                    "application/json": {
                        data: components["schemas"]["Session"];
                    };
                };
            };
            400: components["responses"]["400"];
            403: components["responses"]["403"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["SessionRefresh"];
            };
        };
        responses: {
            /** @description Signed in */
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
                    "application/json": {
                        data: components["schemas"]["Session"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user */
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
                    "application/json": {
                        data: components["schemas"]["SessionUser"];
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
    "auth.logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out */
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.logout-everywhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out */
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.switch-org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["SwitchOrg"];
            };
        };
        responses: {
            /** @description Signed in */
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
                    "application/json": {
                        data: components["schemas"]["Session"];
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
    "auth.password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description Changed */
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
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["PasswordReset"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
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
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.password-reset.confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["PasswordResetConfirm"];
            };
        };
        responses: {
            /** @description Changed */
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
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.email-confirmation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.email-confirmation.confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["EmailConfirmation"];
            };
        };
        responses: {
            /** @description Confirmed */
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
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An NDJSON file */
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
                    /** @example {"table":"memberships","row":{"org_id":5120770412839401,"role":"admin"}} */
                    "application/x-ndjson": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "members.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of members, by e-mail address */
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
                    "application/json": {
                        data: components["schemas"]["Member"][];
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
    "members.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
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
    "members.patch": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/merge-patch+json": components["schemas"]["MemberPatch"];
            };
        };
        responses: {
            /** @description The member */
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
                    "application/json": {
                        data: components["schemas"]["Member"];
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
    "invitations.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of invitations */
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
                    "application/json": {
                        data: components["schemas"]["Invitation"][];
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
    "invitations.invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["InvitationCreate"];
            };
        };
        responses: {
            /** @description The invitation */
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
                    "application/json": {
                        data: components["schemas"]["NewInvitation"];
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
    "invitations.withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invitation_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Withdrawn */
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
    "auth.invitations.lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["InvitationLookup"];
            };
        };
        responses: {
            /** @description The invitation */
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
                    "application/json": {
                        data: components["schemas"]["InvitationOffer"];
                    };
                };
            };
            400: components["responses"]["400"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "auth.invitations.accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["InvitationAccept"];
            };
        };
        responses: {
            /** @description Signed in */
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
                    "application/json": {
                        data: components["schemas"]["Session"];
                    };
                };
            };
            400: components["responses"]["400"];
            403: components["responses"]["403"];
            409: components["responses"]["409"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "api-keys.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                org_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys */
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
                    "application/json": {
                        data: components["schemas"]["APIKeyListItem"][];
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
    "api-keys.create": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                org_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "ERP sync",
                 *       "scopes": [
                 *         "assets:read"
                 *       ],
                 *       "expires_at": null
                 *     }
                 */
                "application/json": components["schemas"]["APIKeyCreate"];
            };
        };
        responses: {
            /** @description The key */
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
                    "application/json": {
                        data: components["schemas"]["APIKeyCreated"];
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
    "api-keys.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                org_id: number;
                key_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked */
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
    "readers.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Whether the reader sent no message in the last 15 minutes. */
                is_silent?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of readers */
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
                    "application/json": {
                        data: components["schemas"]["Reader"][];
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
    "readers.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReaderCreate"];
            };
        };
        responses: {
            /** @description The reader */
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
                    "application/json": {
                        data: components["schemas"]["NewReader"];
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
    "readers.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reader_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reader */
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
                    "application/json": {
                        data: components["schemas"]["Reader"];
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
    "readers.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reader_id: number;
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
    "readers.patch": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reader_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/merge-patch+json": components["schemas"]["ReaderPatch"];
            };
        };
        responses: {
            /** @description The reader */
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
                    "application/json": {
                        data: components["schemas"]["Reader"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "readers.connection": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reader_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The addresses */
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
                    "application/json": {
                        data: components["schemas"]["ReaderConnection"];
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
    "readers.rotate-token": {
        parameters: {
            query?: {
                /** @description How long the old token stays valid. A token that was replaced earlier always ends at once. */
                overlap_seconds?: number;
            };
            header?: never;
            path: {
                reader_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reader with its new token */
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
                    "application/json": {
                        data: components["schemas"]["NewReader"];
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
    "readers.inbox": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tags */
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
                    "application/json": {
                        data: components["schemas"]["UnknownTag"][];
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
    "readers.inbox.attach": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag_type": "rfid",
                 *       "value": "E28011700000020A1B2C3D4E"
                 *     }
                 */
                "application/json": components["schemas"]["UnknownTagAttach"];
            };
        };
        responses: {
            /** @description The asset and the time of that read */
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
                    "application/json": {
                        data: components["schemas"]["AttachedTag"];
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
    "readers.inbox.create": {
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
                 *       "name": "Pallet jack 7",
                 *       "tag_type": "rfid",
                 *       "value": "E28011700000020A1B2C3D4E"
                 *     }
                 */
                "application/json": components["schemas"]["UnknownTagAsset"];
            };
        };
        responses: {
            /** @description The asset and the time of that read */
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
                    "application/json": {
                        data: components["schemas"]["AttachedTag"];
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
    "readers.unknown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topics, latest first */
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
                    "application/json": {
                        data: components["schemas"]["UnknownReaders"];
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
    "readers.reads": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reader_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reads */
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
                    "application/json": {
                        data: components["schemas"]["LatestRead"][];
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
    "webhooks.list": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks */
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
                    "application/json": {
                        data: components["schemas"]["Webhook"][];
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
    "webhooks.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["WebhookCreate"];
            };
        };
        responses: {
            /** @description The webhook */
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
                    "application/json": {
                        data: components["schemas"]["NewWebhook"];
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
    "webhooks.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
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
                    "application/json": {
                        data: components["schemas"]["Webhook"];
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
    "webhooks.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: number;
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
    "webhooks.patch": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/merge-patch+json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            /** @description The webhook */
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
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response of the endpoint */
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
                    "application/json": {
                        data: components["schemas"]["WebhookTest"];
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
    "webhooks.attempts": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                webhook_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of attempts */
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
                    "application/json": {
                        data: components["schemas"]["WebhookAttempt"][];
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
    overview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts */
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
                    "application/json": {
                        data: components["schemas"]["Overview"];
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
    "assets.unseen": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                hours?: number;
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
                    "application/json": {
                        data: components["schemas"]["UnseenAsset"][];
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
    "assets.never-seen": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
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
                    "application/json": {
                        data: components["schemas"]["NeverSeenAsset"][];
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
    "assets.at-location": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
                /** @description Repeat the parameter to match any of several values. */
                location_id?: number[];
                is_active?: boolean;
                /** @description Comma-separated; prefix `-` for descending. Fields: external_key, name, created_at, updated_at. */
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
                    "application/json": {
                        data: components["schemas"]["AssetAtLocation"][];
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
    "assets.by-last-seen": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
                /** @description Repeat the parameter to match any of several values. */
                location_id?: number[];
                is_active?: boolean;
                /** @description Comma-separated; prefix `-` for descending. Fields: last_seen_at. */
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
                    "application/json": {
                        data: components["schemas"]["AssetAtLocation"][];
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
    attention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts */
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
                    "application/json": {
                        data: components["schemas"]["Attention"];
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
    "moves.list": {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The latest moves */
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
                    "application/json": {
                        data: components["schemas"]["Move"][];
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
    "moves.counts": {
        parameters: {
            query?: {
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry per quarter of an hour, in order */
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
                    "application/json": {
                        data: components["schemas"]["MoveCount"][];
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
    "assets.stays": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Default: one week before `to`. */
                from?: string;
                /** @description Default: now. A time in the future is replaced by now. */
                to?: string;
            };
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of stays */
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
                    "application/json": {
                        data: components["schemas"]["Stay"][];
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
    "sightings.save": {
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
                 *         "ASSET-0001"
                 *       ],
                 *       "note": "Left wheel is broken"
                 *     }
                 */
                "application/json": components["schemas"]["SightingsSave"];
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
    search: {
        parameters: {
            query?: {
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The best matches */
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
                    "application/json": {
                        data: components["schemas"]["SearchResult"];
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
    "codes.resolve": {
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
                 *       "codes": [
                 *         "4006381333931"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CodesResolve"];
            };
        };
        responses: {
            /** @description One entry per code, in the same order */
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
                    "application/json": {
                        data: components["schemas"]["ResolvedCode"][];
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
    "reports.dwell": {
        parameters: {
            query?: {
                /** @description Default: one week before `to`. */
                from?: string;
                /** @description Default: now. A time in the future is replaced by now. */
                to?: string;
                /** @description Roll locations up to this level of the tree: 0 for the top-level locations, 1 for those below them, and so on. */
                level?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry per location, longest first */
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
                    "application/json": {
                        data: components["schemas"]["Dwell"][];
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
    "reports.flow": {
        parameters: {
            query?: {
                /** @description Default: one week before `to`. */
                from?: string;
                /** @description Default: now. A time in the future is replaced by now. */
                to?: string;
                /** @description Roll locations up to this level of the tree: 0 for the top-level locations, 1 for those below them, and so on. */
                level?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry per pair, busiest first */
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
                    "application/json": {
                        data: components["schemas"]["Flow"][];
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
    "reports.assets-per-location": {
        parameters: {
            query?: {
                /** @description Default: now. */
                at?: string;
                /** @description Roll locations up to this level of the tree: 0 for the top-level locations, 1 for those below them, and so on. */
                level?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry per location, most assets first; the location is null for the assets at none */
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
                    "application/json": {
                        data: components["schemas"]["AssetsPerLocation"][];
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
    "exports.assets": {
        parameters: {
            query?: {
                /** @description Repeat the parameter to match any of several values. */
                asset_id?: number[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A CSV file */
            200: {
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "exports.locations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A CSV file */
            200: {
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "exports.history": {
        parameters: {
            query?: {
                /** @description Repeat the parameter to match any of several values. */
                asset_id?: number[];
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A CSV file */
            200: {
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "exports.positions": {
        parameters: {
            query?: {
                at?: string;
                /** @description Repeat the parameter to match any of several values. */
                location_id?: number[];
                /** @description With a location filter: also the locations below those locations. */
                include_descendants?: boolean;
                /** @description Case-insensitive substring; `%` and `_` are ordinary characters. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A CSV file */
            200: {
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
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "imports.open": {
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
                 *       "kind": "assets"
                 *     }
                 */
                "application/json": components["schemas"]["ImportCreate"];
            };
        };
        responses: {
            /** @description The import, without rows */
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
                    "application/json": {
                        data: components["schemas"]["NewImport"];
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
    "imports.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The import */
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
                    "application/json": {
                        data: components["schemas"]["Import"];
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
    "imports.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_id: number;
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
    "imports.rows": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rows": [
                 *         {
                 *           "line": 2,
                 *           "external_key": "PJ-7",
                 *           "name": "Pallet jack"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ImportRows"];
            };
        };
        responses: {
            /** @description Added */
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
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "imports.check": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Started */
            202: {
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
    "imports.run": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "skip_errors": false
                 *     }
                 */
                "application/json": components["schemas"]["ImportRun"];
            };
        };
        responses: {
            /** @description Started */
            202: {
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
            415: components["responses"]["415"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
        };
    };
    "quotas.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every quota */
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
                    "application/json": {
                        data: components["schemas"]["Quota"][];
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
    "views.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The views by name */
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
                    "application/json": {
                        data: components["schemas"]["SavedView"][];
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
    "views.save": {
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
                 *       "name": "Inactive at Dock 3",
                 *       "search": "active=no"
                 *     }
                 */
                "application/json": components["schemas"]["SavedViewDraft"];
            };
        };
        responses: {
            /** @description The view */
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
                    "application/json": {
                        data: components["schemas"]["SavedView"];
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
    "views.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                view_id: number;
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
}
