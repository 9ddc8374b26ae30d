#!/bin/sh
set -e

case "$1" in
configure | abort-upgrade | abort-deconfigure | abort-remove) ;;
*) exit 0 ;;
esac

# The account, also where there is no systemd.
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers /usr/lib/sysusers.d/pushbox.conf
elif ! getent passwd pushbox >/dev/null; then
	getent group pushbox >/dev/null || groupadd --system pushbox
	useradd --system --gid pushbox --home-dir /var/lib/pushbox --no-create-home \
		--shell /usr/sbin/nologin --comment "pushbox server" pushbox
fi

# What tmpfiles.d says: settings for root to write and pushbox to read, data for
# pushbox alone.
chown root:pushbox /etc/pushbox
chmod 0750 /etc/pushbox
if [ -e /etc/pushbox/config.yaml ]; then
	chown root:pushbox /etc/pushbox/config.yaml
	chmod 0640 /etc/pushbox/config.yaml
fi
if [ ! -e /var/lib/pushbox ]; then
	mkdir -m 0700 /var/lib/pushbox
	chown pushbox:pushbox /var/lib/pushbox
fi

# As debhelper does it: an administrator's `disable` and `mask` outlast an upgrade.
deb-systemd-helper unmask pushbox.service >/dev/null || true
if deb-systemd-helper --quiet was-enabled pushbox.service; then
	deb-systemd-helper enable pushbox.service >/dev/null || true
else
	deb-systemd-helper update-state pushbox.service >/dev/null || true
fi
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
	if [ -n "$2" ]; then
		deb-systemd-invoke try-restart pushbox.service >/dev/null || true
	else
		deb-systemd-invoke start pushbox.service >/dev/null || true
	fi
fi
