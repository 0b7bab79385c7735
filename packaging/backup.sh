#!/bin/sh
# Takes a verified backup and then deletes old ones: backup.sh FOLDER [DAYS]. DAYS is how long backups are kept, 14 by
# default. A backup that fails deletes nothing and ends with an error. PROGRAM is the command that runs Lastseen, with its
# settings in the environment (docs/operating/backup.md).
set -eu
folder=$1
days=${2:-14}
umask 077
mkdir -p "$folder"
${PROGRAM:-lastseen} backup "$folder/lastseen-$(date -u +%Y%m%dT%H%M%SZ).backup" --verify
find "$folder" -maxdepth 1 -name 'lastseen-*.backup' -mtime "+$days" -delete
