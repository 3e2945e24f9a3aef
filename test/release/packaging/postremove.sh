#!/bin/sh
# /var/lib/troupe and the user troupe stay, even when the package is purged.
set -e
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
