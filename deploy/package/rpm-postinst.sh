# $1 is 1 for an installation, 2 for an upgrade.
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers /usr/lib/sysusers.d/pushbox.conf
elif ! getent passwd pushbox >/dev/null; then
	getent group pushbox >/dev/null || groupadd --system pushbox
	useradd --system --gid pushbox --home-dir /var/lib/pushbox --no-create-home \
		--shell /usr/sbin/nologin --comment "pushbox server" pushbox
fi

chown root:pushbox /etc/pushbox /etc/pushbox/config.yaml
chmod 0750 /etc/pushbox
chmod 0640 /etc/pushbox/config.yaml
if [ ! -e /var/lib/pushbox ]; then
	mkdir -m 0700 /var/lib/pushbox
	chown pushbox:pushbox /var/lib/pushbox
fi

if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || :
	if [ "$1" -ge 2 ]; then
		systemctl try-restart pushbox.service || :
	else
		systemctl --no-reload preset pushbox.service || :
	fi
fi
