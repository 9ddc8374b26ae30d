# Data and keys are never removed by a package: nothing brings them back.
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || :
fi
if [ "$1" -eq 0 ] && [ -e /var/lib/pushbox ]; then
	echo "pushbox: its data and its key are still in /var/lib/pushbox; if nobody needs them any more, run: rm -r /var/lib/pushbox && userdel pushbox" >&2
fi
