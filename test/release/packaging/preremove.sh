#!/bin/sh
# Stop the server when the package is removed, not when it is upgraded. The argument of an upgrade
# is "upgrade" for dpkg, and 1 for rpm.
set -e
case "$1" in
remove | 0)
	if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
		systemctl disable --now troupe.service
	fi
	;;
esac
