# $1 is 0 for a removal, 1 for an upgrade.
if [ "$1" -eq 0 ] && [ -d /run/systemd/system ]; then
	systemctl --no-reload disable --now pushbox.service || :
fi
