#!/bin/sh
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
fi

# Data and keys are never removed by a package, and so is not the account that owns
# them: nothing brings them back.
if [ "$1" = purge ]; then
	if command -v deb-systemd-helper >/dev/null; then
		deb-systemd-helper purge pushbox.service >/dev/null || true
		deb-systemd-helper unmask pushbox.service >/dev/null || true
	fi
	rmdir /var/lib/pushbox 2>/dev/null || true
	if [ -e /var/lib/pushbox ]; then
		echo "pushbox: its data and its key are still in /var/lib/pushbox; if nobody needs them any more, run: rm -r /var/lib/pushbox && userdel pushbox" >&2
	fi
fi
