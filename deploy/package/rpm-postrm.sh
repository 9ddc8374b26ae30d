# A package never removes data and keys: nothing could bring them back.
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || :
fi
if [ "$1" -eq 0 ] && [ -e /var/lib/pushbox ]; then
	cat >&2 <<'END'
pushbox: its data is still in /var/lib/pushbox, and its keys there, in /etc/pushbox or in
/etc/credstore*. To delete them for good, with the changes of the service:
  rm -rf /var/lib/pushbox /etc/pushbox /etc/credstore*/pushbox.* /etc/systemd/system/pushbox.service.d
  userdel pushbox
Backups and copies of the key in other directories are yours to delete.
END
fi
