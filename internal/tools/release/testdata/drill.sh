#!/bin/sh
# A day in the life of the Debian package, under systemd as process 1, in a container
# of its own: old.deb is an older version of new.deb. The last line that it prints is
# "drill: done", or else what failed.
set -eux

api=http://127.0.0.1:5100/api/v2/pushes
config=/etc/pushbox/config.yaml
export DEBIAN_FRONTEND=noninteractive

up() {
	for _ in $(seq 100); do
		curl -sf http://127.0.0.1:5100/healthz >/dev/null && return
		sleep 0.1
	done
	journalctl -u pushbox --no-pager | tail -n 20
	false
}
push() { curl -sf -d 'push[expire_after_views]=90' --data-urlencode "push[payload]=$1" $api | sed 's/.*"url_token":"\([a-z2-7]*\)".*/\1/'; }
holds() { curl -sf "$api/$1" | grep -q "\"payload\":\"$2\""; }
pid() { systemctl show -p MainPID --value pushbox; }
never() { if "$@"; then false; fi; } # a plain ! would not end the drill
complains() { journalctl -u pushbox --no-pager | grep -i 'not permitted\|core dump\|bad system call'; }
owned() { test "$(stat -c '%U:%G %a' "$1")" = "$2"; }

: installed, it runs, as its user, and only that one gets at what is its
dpkg -i /drill/old.deb
systemctl is-enabled pushbox
up
owned /etc/pushbox 'root:pushbox 750'
owned $config 'root:pushbox 640'
owned /var/lib/pushbox 'pushbox:pushbox 700'
owned /var/lib/pushbox/pushbox.db 'pushbox:pushbox 600'
owned /etc/pushbox/key 'pushbox:pushbox 700'
owned /etc/pushbox/key/master.key 'pushbox:pushbox 600'
test ! -e /var/lib/pushbox/master.key
test "$(stat -c %U "/proc/$(pid)/environ")" = root # not even its own account may look into it
test "$(ps -o user= -p "$(pid)")" = pushbox
grep -q 'Seccomp:.2' "/proc/$(pid)/status"
grep -q 'CapBnd:.0000000000000000' "/proc/$(pid)/status"
first=$(push 'before the upgrade')

: an upgrade keeps data, what was changed in the settings, and a key in its old place
systemctl stop pushbox
mv /etc/pushbox/key/master.key /var/lib/pushbox
rmdir /etc/pushbox/key
systemctl start pushbox
up
echo 'allow_anonymous: true # by the administrator' >>$config
before=$(pid)
dpkg -i /drill/new.deb </dev/null # asks nothing
up
test "$(pid)" != "$before"
grep -q 'by the administrator' $config
owned $config 'root:pushbox 640'
holds "$first" 'before the upgrade'
owned /var/lib/pushbox/master.key 'pushbox:pushbox 600'
owned /etc/pushbox/key 'pushbox:pushbox 700'
pushbox --config $config doctor | grep 'warning  master key: '

: commands work beside the server, and without it
echo 'at least ten characters' | pushbox user add --admin ann@example.com --password-stdin
pushbox config print >/dev/null
systemctl stop pushbox
pushbox --config $config user list | grep ann@example.com
pushbox --config $config check
systemctl start pushbox
up

: killed, it comes back
kill -KILL "$(pid)"
sleep 3
up

: the key apart from the data, and replaced there
systemctl stop pushbox
mv /var/lib/pushbox/master.key* /etc/pushbox/key/
systemctl start pushbox
up
curl -s http://127.0.0.1:5100/healthz
holds "$first" 'before the upgrade'
pushbox --config $config doctor | grep 'ok       master key: '
pushbox key rotate --discard-old
owned /etc/pushbox/key/master.key 'pushbox:pushbox 600'
holds "$first" 'before the upgrade'

: the key of a systemd credential
systemctl stop pushbox
install -d -m 0700 /etc/credstore
install -m 0600 /etc/pushbox/key/master.key /etc/credstore/pushbox.master.key
rm /etc/pushbox/key/master.key
systemctl start pushbox
up
holds "$first" 'before the upgrade'
systemctl restart pushbox
up
journalctl -u pushbox --no-pager | grep listening | tail -n 1 | grep -q /run/credentials/pushbox.service/master.key
holds "$first" 'before the upgrade'

: and encrypted
install -m 0600 /etc/credstore/pushbox.master.key /etc/pushbox/key/master.key
rm /etc/credstore/pushbox.master.key
install -d -m 0700 /etc/credstore.encrypted
systemd-creds encrypt --name=master.key /etc/pushbox/key/master.key /etc/credstore.encrypted/pushbox.master.key
mkdir -p /etc/systemd/system/pushbox.service.d
printf '[Service]\nLoadCredential=\nLoadCredentialEncrypted=master.key:pushbox.master.key\n' >/etc/systemd/system/pushbox.service.d/key.conf
systemctl daemon-reload
systemctl restart pushbox
up
curl -s http://127.0.0.1:5100/healthz
rm /etc/pushbox/key/master.key
systemctl restart pushbox
up
holds "$first" 'before the upgrade'
never pushbox key export -o /drill/paper 2>/drill/said
grep -q 'docs/install.md.*: /etc/credstore.encrypted/pushbox.master.key' /drill/said
(umask 077; systemd-creds decrypt --name=master.key /etc/credstore.encrypted/pushbox.master.key /run/pushbox.master.key)
PUSHBOX_MASTER_KEY_FILE=/run/pushbox.master.key pushbox key export -o /root/pushbox-key.txt
rm /run/pushbox.master.key

: a reload that the server refuses fails and changes nothing, and a start is not tried again
before=$(pid)
systemctl reload pushbox
cp $config /drill/config.yaml
echo 'allow_anonymuos: true' >>$config
never systemctl reload pushbox
test "$(pid)" = "$before"
never systemctl restart pushbox
sleep 5
test "$(systemctl show -p NRestarts --value pushbox)" = 0
cp /drill/config.yaml $config
systemctl start pushbox
up
test "$(journalctl -u pushbox -p err --no-pager -o cat | grep -c 'did you mean')" -ge 1

: a port below 1024
cp /usr/share/doc/pushbox/deploy/systemd/low-ports.conf /etc/systemd/system/pushbox.service.d/low-ports.conf
systemctl daemon-reload
sed -i 's/^listen:.*/listen: "127.0.0.1:80"/' $config
systemctl restart pushbox
for _ in $(seq 100); do curl -sf http://127.0.0.1/healthz && break || sleep 0.1; done
curl -sf http://127.0.0.1/healthz
sed -i 's/^listen:.*/listen: "127.0.0.1:5100"/' $config

: everything that the program can do, under the filter
systemctl restart pushbox
up
pushbox --config $config compact
curl -sf -o /dev/null http://127.0.0.1:5100/
pushbox --config $config token create ann@example.com >/drill/token
head -c 300000 /dev/urandom >/drill/file
LINK=$(pushbox push --url http://127.0.0.1:5100 --token-file /drill/token /drill/file)
mkdir /drill/got
pushbox get "$LINK" -o /drill/got
cmp /drill/file /drill/got/file
never complains
systemctl --no-pager status pushbox

: a disabled service stays disabled
systemctl disable pushbox
dpkg -i /drill/new.deb </dev/null # asks nothing
test "$(systemctl is-enabled pushbox)" = disabled

: removed, and purged: data and keys stay
dpkg -r pushbox
never systemctl is-active pushbox
test -e $config
dpkg -P pushbox 2>/drill/purged
grep -q 'rm -rf /var/lib/pushbox /etc/pushbox ' /drill/purged
test ! -e $config
test -e /var/lib/pushbox/pushbox.db
test -e /etc/credstore.encrypted/pushbox.master.key

: a new installation finds them
apt-get install -y /drill/new.deb
up
holds "$first" 'before the upgrade'

: gone for good
apt-get purge -y pushbox
rm -rf /var/lib/pushbox /etc/pushbox /etc/credstore*/pushbox.* /etc/systemd/system/pushbox.service.d
userdel pushbox
left=$(find /etc /usr /var/lib /run -name '*pushbox*' -not -path '/var/lib/dpkg/*' -not -path '/run/systemd/*')
test -z "$left"

: the same without the package, from the archive
cd /drill
tar xzf pushbox-3.0.0-linux-amd64.tar.gz
cd pushbox-3.0.0-linux-amd64
install -m 0755 pushbox /usr/bin/pushbox
install -m 0644 deploy/systemd/pushbox.service /etc/systemd/system/pushbox.service
install -D -m 0644 deploy/systemd/sysusers.conf /etc/sysusers.d/pushbox.conf
install -D -m 0644 deploy/systemd/tmpfiles.conf /etc/tmpfiles.d/pushbox.conf
install -D -m 0640 deploy/config.yaml /etc/pushbox/config.yaml
install -D -m 0644 pushbox.1 /usr/local/share/man/man1/pushbox.1
install -D -m 0644 completions/pushbox.bash /usr/share/bash-completion/completions/pushbox
systemd-sysusers
systemd-tmpfiles --create pushbox.conf
systemctl daemon-reload
systemctl enable --now pushbox
up
owned $config 'root:pushbox 640'
owned /etc/pushbox/key/master.key 'pushbox:pushbox 600'
systemctl stop pushbox
rm /var/lib/pushbox/* /etc/pushbox/key/* # as before the first start
echo 'at least ten characters' | pushbox user add ann@example.com --password-stdin --init
owned /etc/pushbox/key/master.key 'pushbox:pushbox 600'
owned /var/lib/pushbox/pushbox.db 'pushbox:pushbox 600'
systemctl start pushbox
up
test -n "$(push 'from the archive')"
echo drill: done
