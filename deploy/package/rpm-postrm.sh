# A package never removes data and keys: nothing could bring them back.
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || :
fi
if [ "$1" -eq 0 ] && [ -e /var/lib/pushbox ]; then
	echo "pushbox: its data is still in /var/lib/pushbox, and its key there or in /etc/pushbox/key; to delete them for good, run: rm -rf /var/lib/pushbox /etc/pushbox/key && userdel pushbox" >&2
fi
