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
# A first start makes the key in /etc/pushbox/key. One that is in /var/lib/pushbox from an
# older version stays there and is used.
for dir in /var/lib/pushbox /etc/pushbox/key; do
	if [ ! -e $dir ]; then
		mkdir -m 0700 $dir
		chown pushbox:pushbox $dir
	fi
done

if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || :
	if [ "$1" -ge 2 ]; then
		systemctl try-restart pushbox.service || :
	else
		systemctl --no-reload preset pushbox.service || :
	fi
fi
