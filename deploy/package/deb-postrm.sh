#!/bin/sh
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
fi

# A package never removes data, keys, or the account that owns them: nothing could
# bring them back.
if [ "$1" = purge ]; then
	if command -v deb-systemd-helper >/dev/null; then
		deb-systemd-helper purge pushbox.service >/dev/null || true
		deb-systemd-helper unmask pushbox.service >/dev/null || true
	fi
	rmdir /var/lib/pushbox /etc/pushbox/key /etc/pushbox 2>/dev/null || true
	if [ -e /var/lib/pushbox ]; then
		echo "pushbox: its data is still in /var/lib/pushbox, and its key there or in /etc/pushbox/key; to delete them for good, run: rm -rf /var/lib/pushbox /etc/pushbox/key && userdel pushbox" >&2
	fi
fi
