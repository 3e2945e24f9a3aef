#!/bin/sh
# Create the system user, and restart a running server after an upgrade. systemd creates the data
# directory when the server starts. DPKG_ROOT is set for an installation into another directory.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers --root="${DPKG_ROOT:-/}" troupe.conf
fi
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart troupe.service
fi
