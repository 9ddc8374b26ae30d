#!/usr/bin/env bash
# Makes the fixtures of this directory again:
#
#	make.sh PASSWORD_PUSHER LOCKBOX
#
# The arguments are git directories of Password Pusher and of Lockbox. make.rb makes
# databases from Password Pusher's own schemas, with values that Lockbox itself
# encrypted, and the dump programs of each database write them out. The rows differ at
# each run (nonces, salts); tests compare them with plain.json.
#
# On Debian it needs ruby-activerecord ruby-sqlite3 ruby-pg ruby-mysql2 ruby-bcrypt,
# sqlite3, postgresql and mariadb-server; run it as root, in an empty container.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lockbox"
git --git-dir "$2" archive HEAD lib | tar -x -C "$work/lockbox"
git --git-dir "$1" show v2.11.4:db/schema.rb >"$work/v2.rb"
git --git-dir "$1" show v1.55.0:db/schema.rb >"$work/v1.rb"

bin=$(echo /usr/lib/postgresql/*/bin)
chmod 755 "$work"
mkdir "$work/pg" "$work/my"
chown postgres "$work/pg"
chown mysql "$work/my"
as() { runuser -u "$1" -- "${@:2}"; }
as postgres "$bin/initdb" -D "$work/pg/data" -A trust >"$work/log"
as postgres "$bin/pg_ctl" -D "$work/pg/data" -o "-k $work/pg -c listen_addresses=" -l "$work/pg/log" -w start >>"$work/log"
trap 'as postgres "$bin/pg_ctl" -D "$work/pg/data" -m fast stop >/dev/null; kill "$(cat "$work/my/pid")"; sleep 3; rm -rf "$work"' EXIT
mariadb-install-db --user=mysql --datadir="$work/my/data" --auth-root-authentication-method=normal >>"$work/log" 2>&1
as mysql mariadbd --datadir="$work/my/data" --socket="$work/my/socket" --skip-networking --pid-file="$work/my/pid" >>"$work/log" 2>&1 &
for _ in $(seq 50); do [ -S "$work/my/socket" ] && break || sleep 0.2; done

rm -rf storage
for version in v2 v1; do
	ruby make.rb "$work" $version
	sqlite3 "$work/$version.sqlite3" .dump >$version.sqlite.sql
	pg() { pg_dump -h "$work/pg" -U postgres $version "$@"; }
	pg $([ $version = v1 ] && echo "-T solid_queue_*") >$version.pg.sql
	if [ $version = v2 ]; then
		pg --inserts -T "solid_queue_*" >$version.pg-inserts.sql
		pg -T "solid_queue_*" --column-inserts --rows-per-insert=2 --clean --if-exists >$version.pg-columns.sql
		mariadb-dump --socket="$work/my/socket" -u root $version >$version.mysql.sql
	fi
done
