#!/bin/sh
set -e

case "$1" in
configure | abort-upgrade | abort-deconfigure | abort-remove) ;;
*) exit 0 ;;
esac

# Make the account, with or without systemd.
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers /usr/lib/sysusers.d/pushbox.conf
elif ! getent passwd pushbox >/dev/null; then
	getent group pushbox >/dev/null || groupadd --system pushbox
	useradd --system --gid pushbox --home-dir /var/lib/pushbox --no-create-home \
		--shell /usr/sbin/nologin --comment "pushbox server" pushbox
fi

# The same as tmpfiles.d: settings that root writes and pushbox reads, and data for
# pushbox alone.
mkdir -p /etc/pushbox
chown root:pushbox /etc/pushbox
chmod 0750 /etc/pushbox
# The settings file is the administrator's: the first installation makes it, and no upgrade
# changes it or asks about it.
if [ ! -e /etc/pushbox/config.yaml ]; then
	install -m 0640 /usr/share/pushbox/config.yaml /etc/pushbox/config.yaml
fi
chown root:pushbox /etc/pushbox/config.yaml
chmod 0640 /etc/pushbox/config.yaml
# A first start makes the key in /etc/pushbox/key. One that is in /var/lib/pushbox from an
# older version stays there and is used.
for dir in /var/lib/pushbox /etc/pushbox/key; do
	if [ ! -e $dir ]; then
		mkdir -m 0700 $dir
		chown pushbox:pushbox $dir
	fi
done

# As debhelper does it: an administrator's `disable` and `mask` survive an upgrade.
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
