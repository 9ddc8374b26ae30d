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
	rm -f /etc/pushbox/config.yaml
	rmdir /var/lib/pushbox /etc/pushbox/key /etc/pushbox 2>/dev/null || true
	if [ -e /var/lib/pushbox ]; then
		cat >&2 <<'END'
pushbox: its data is still in /var/lib/pushbox, and its keys there, in /etc/pushbox or in
/etc/credstore*. To delete them for good, with the changes of the service:
  rm -rf /var/lib/pushbox /etc/pushbox /etc/credstore*/pushbox.* /etc/systemd/system/pushbox.service.d
  userdel pushbox
Backups and copies of the key in other directories are yours to delete.
END
	fi
fi
